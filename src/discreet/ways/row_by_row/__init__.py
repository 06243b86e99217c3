"""Every row by itself, through one mechanism."""
