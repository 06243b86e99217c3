"""Both errors of a release against those of others: many shapes of tables, many budgets, paired, with intervals."""
