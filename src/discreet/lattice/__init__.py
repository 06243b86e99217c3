"""Invariants kept exactly: what is kept, in names -> integer matrix -> the lattice left free -> noise on it."""
