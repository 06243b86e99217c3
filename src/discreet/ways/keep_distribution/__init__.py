"""Keep the distribution of counts: measure it, add noise to every row, map the noisy rows onto it."""
