"""Exact sampling. `bits` is the only source of randomness; everything else compares its words with enclosures."""
