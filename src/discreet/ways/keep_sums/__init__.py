"""Keep sums exactly: integer noise on the lattice that they leave free."""
