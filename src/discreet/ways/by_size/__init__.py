"""Every group its own size: a public column says how large the count of a row can be."""
