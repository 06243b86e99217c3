"""Measure what will be asked: levels and margins, combined into one consistent table, an error bar on every number."""
