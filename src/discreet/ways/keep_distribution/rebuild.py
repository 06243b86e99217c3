"""That a constructed mechanism is what its constructor makes of the published distribution. It builds again."""

from __future__ import annotations

import numpy as np

from discreet.costs import cost_matrix
from discreet.mechanism import NoiseThenMap
from discreet.privacy.values import Approximate, pure_only
from discreet.record.release import Publication
from discreet.ways import NotApplicable
from discreet.ways.keep_distribution.facts import KeptDistribution
from discreet.ways.keep_distribution.replay import TOLERANCE, same_map

PROGRAMS = ("fixed-point-simplex", "fixed-point-interior")  # solved as one large linear program
LARGEST_PROGRAM, LARGEST_REBUILT = 51, 101  # counts: two seconds, where the next size takes twenty
SOLVED = ("column-generation", *PROGRAMS)  # of the optima that there may be, machines may find different ones


def rebuild(publication: Publication[KeptDistribution]) -> list[str]:
    facts = publication.record.facts
    mechanism, published = facts.mechanism, facts.distribution
    if not mechanism.constructed:
        raise NotApplicable("noise is added to every row, no mechanism is constructed")
    most, size = LARGEST_PROGRAM if mechanism.name in PROGRAMS else LARGEST_REBUILT, len(published.distribution)
    if size > most:
        raise NotApplicable(f"not constructed again, {size} counts are more than {most}")
    from discreet.build.construct import construct

    share = next(part.loss for part in mechanism.parts if part.what == "counts")
    assert not isinstance(share, Approximate), "which has been proved"
    each = pure_only(share.per_unit(publication.record.schema.contributions), mechanism.name)
    again = construct(published.distribution, each.epsilon, method=mechanism.name).mechanism.form
    if isinstance(again, NoiseThenMap) and isinstance(mechanism.form, NoiseThenMap):
        other = mechanism.form
        maps = again.map is not None and other.map is not None and same_map(other.map, again.map)
        same = maps and other.noise == again.noise and other.clamp == again.clamp
    elif mechanism.name in SOLVED:
        costs = published.distribution[:, None] * cost_matrix("absolute", size)
        same = bool((costs * (mechanism.form.matrix() - again.matrix())).sum() <= TOLERANCE)
    else:
        same = bool(np.abs(mechanism.form.matrix() - again.matrix()).max() <= TOLERANCE)
    return [] if same else ["The mechanism is not the one that is constructed for the published distribution."]
