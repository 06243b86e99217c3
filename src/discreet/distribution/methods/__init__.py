"""One privatizer a file, named after it."""
