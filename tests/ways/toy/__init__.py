"""A way of somebody else: geometric noise, published in multiples of a step. One package, one registration."""
