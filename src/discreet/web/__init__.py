"""The local page: a release from a table to its folder, in the browser of the person who holds the data."""
