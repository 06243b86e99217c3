"""Margins at several levels, measured and combined: against measuring cells alone, and against what others do."""
