"""The distribution of counts behind noisy ones, by evidence; and the published table that errs least.

Everything here is post-processing of noisy values: deterministic, and without any price.
"""

from discreet.distribution.evidence.posterior import Posterior, posterior, shares_behind
from discreet.distribution.evidence.thresholds import Followed, follow, unchanged

__all__ = ["Followed", "Posterior", "follow", "posterior", "shares_behind", "unchanged"]
