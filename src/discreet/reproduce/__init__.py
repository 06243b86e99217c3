"""The published experiments, again: what each paper printed, what we find, and what discreet does better."""
