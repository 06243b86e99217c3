"""The papers' own samplers of noise that keeps sums."""
