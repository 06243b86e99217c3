"""Experiments, found by file: every module lists its own in `EXPERIMENTS`."""
