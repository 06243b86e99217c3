"""Several columns of counts of the same people, released together, each with its own share of the budget."""
