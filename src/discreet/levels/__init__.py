"""Levels and margins: questions about one table, each with its own noise, combined into one answer to everything."""
