"""The laws of noise that keeps sums, by name. Compiled code knows them by their place."""

LAWS = ("l1", "l2", "gaussian")  # proportional to e^-|x|_1, e^-|x|_2, e^-|x|_2^2, each with its scale
