"""The record of a release: typed values, the only JSON code, and the words for people."""
