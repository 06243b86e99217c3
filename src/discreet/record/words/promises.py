"""What a promise says, in sentences: who the neighbours are, how strong and how firm it is, what it leaves open."""

from __future__ import annotations

from collections.abc import Callable

from discreet.numbers import Epsilon, decimal_above
from discreet.privacy.values import Approximate, Concentrated, Guarantee, Neighbours, Pure, Remark
from discreet.record.words.codes import wordless

SEEDED = "NOT PRIVATE: the noise came from a seed, for a test or a simulation."
SEED_WARNING = "Made from a seed, for a test or a simulation: NOT private, must not be published as if it were."

GRADES = {
    "exact": "proved in exact arithmetic",
    "enclosed": "proved with rigorous numerical bounds",
    "computational": "proved, as far as SHAKE-256, from which its random bits come, is as good as it is believed to be",
    "diagnosed": "checked by simulation, not proved",
}

COMPUTATIONAL = "The random bits come from SHAKE-256 and a key that was forgotten: the promise is as good as SHAKE-256."

CHANGES = {
    "one-person": "one person more or less in one row",
    "one-person-several": "one person more or less, who is counted up to {contributions} times",
    "one-person-columns": "one person more or less in one row of each of {columns} columns of counts",
    "one-person-columns-several": "one person more or less, who is counted up to {contributions} times in each of "
    "{columns} columns of counts",
    "free-row": "one person more or less in a row that no kept sum contains (distance 1)",
    "moved": "one person moved between two rows that every kept sum contains both or neither of (distance 2)",
    "rearranged": "one person's counts taken out of rows and put into others with all kept sums the same (distance 2 "
    "for each)",
    "swapped": "the smallest exchange that keeps every kept sum: two persons swap one of their values (distance 4)",
    "smallest": "the smallest change that keeps every kept sum: {more} more and {fewer} fewer persons in {rows} rows "
    "(distance {distance})",
    "smallest-found": "the smallest change that was found that keeps every kept sum: {more} more and {fewer} fewer "
    "persons in {rows} rows (distance {distance})",
    "unit-l1": "one unit of l1 distance, with all kept sums the same",
    "unit-l2": "one unit of l2 distance, with all kept sums the same",
    "unit-gaussian": "one unit of squared l2 distance, with all kept sums the same",
    "several": "{change}, for a person counted in up to {contributions} rows",
}

PROMISES = {
    "pure": "Any two tables that differ by {unit} lead to any published table with probabilities that differ by a "
    "factor of {factor} at most ({parameters}).",
    "approximate": "Take any two tables that differ by {unit}. For any set of published tables, one makes it at most "
    "{factor} times as likely as the other, plus {delta} ({parameters}).",
    "concentrated": "Any two tables that differ by {unit} are protected with zero-concentrated differential privacy, "
    "{parameters}.",
}

REMARKS = {
    "rows-are-public": "Which rows the table has is public.",
    "rows-declared-disjoint": "Some keys may read like totals; the publisher declares that no row is a total of "
    "others, and the promise rests on this word.",
    "totals-dropped": "Rows whose keys mean a total of others were left out ({rows}).",
    "suppressed-as": "Counts up to {count} had been suppressed, and were taken as {count}; the promise rests on the "
    "publisher's word that no other count was.",
    "top-coded": "Counts above {max_count} are treated as {max_count}.",
    "sized": "The size of every group is public, in the column '{column}'; counts above it are treated as it.",
    "shared-out": "What it costs is shared out among the columns of counts: {shares}.",
    "bottom-coded": "Counts below {min_count} are treated as {min_count}.",
    "zeros-stay": "A count of 0 is always published as 0, so any other number shows for certain that somebody is "
    "counted there. No epsilon covers that: where one person is, it happens with a chance of {delta}, and delta is at "
    "least that.",
    "counts-may-be-negative": "Counts may be negative: nothing was cut off, so that sums stay unbiased.",
    "counts-may-be-negative-cut": "Counts may be negative: nothing was cut off after the noise, so that sums of counts "
    "treated so stay unbiased.",
    "mapped-together": "Rows were mapped together, so they are not independent of each other.",
    "decided-together": "Noisy counts were left as they are, but for those outside the range of counts, because of "
    "what all of them together look like; so they are not quite independent of each other.",
    "whole-change-costs": "The largest change of one person that keeps every kept sum, or the smallest of several "
    "persons where none does, costs {factor} times {parameter}: {change}.",
    "a-move-costs-more": "One person moved between two rows that no kept sum contains is a larger change, and costs "
    "{double}.",
    "a-free-row-costs-less": "One person more or less in a row that no kept sum contains costs {half}.",
    "only-exchanges": "In {many} no change of one person alone survives what is kept; exchanges between several "
    "persons there cost more, the larger they are.",
    "larger-changes-cost-more": "Larger changes cost more, {growth}.",
    "larger-changes-cost-by-the-unit": "Larger changes cost at most {rate} for each unit of distance.",
    "sums-are-kept": "{many} published exactly and not protected ({names}); a sum of zero shows that every count in it "
    "is zero.",
    "determined": "{many} determined by what is kept and published exactly: row {names}.",
    "residues": "{many} determined up to a multiple by what is kept, so a remainder is published exactly: row {names}.",
    "neighbourhood-destroyed": "Neighbourhood destroyed: no table in which one person alone moved, came or went has "
    "the same kept sums, so nothing is promised about such a change; what is kept may already tell the two apart.",
    "no-negative-counts": "No count is negative: the signed table was replaced by the nearest one with the same kept "
    "sums, which costs no privacy. Small counts are biased upwards by it; the signed values are not.",
    "conditioned-doubled": "Inequalities such as counts not below zero were met by conditioning, and only tables that "
    "meet them are compared. The law then depends on the table, so the promise counts the noise twice (gamma = 1), and "
    "counts near the bounds are biased away from them.",
    "conditioned-shifted": "Bounds of single counts, such as zero, were met by conditioning, and only tables that meet "
    "them are compared. The law then depends on the table, and the promise pays for that; counts near the bounds are "
    "biased away from them.",
    "conditioned-stepwise": "Bounds of single counts, such as zero, were met by conditioning, and only tables that "
    "meet them are compared. The law then depends on the table, and the promise pays for that, person by person; "
    "counts near the bounds are biased away from them.",
    "one-table": "No count is negative, and all published sums are sums of the published counts: these were fitted to "
    "the noisy answers, which costs no privacy. They are biased by it; the estimates beside them are not.",
    "chain": "The noise came from a Markov chain; its distance from the law is diagnosed, not proved, and charged as "
    "delta = {delta}.",
}

BRIEF = {
    "protected": "Protected: {unit}.",
    "strength": "Strength: {strength}, {grade}.",
    "strength-odds": "Strength: {strength}, {grade}: {odds}.",
}

ODDS = "the odds that a reader gives to one of two such tables against the other change by a factor of {factor} at most"


def guarantee(promise: Guarantee) -> str:
    """The promise in one paragraph."""
    if not promise.private:
        return SEEDED
    bits = (COMPUTATIONAL,) if promise.grade == "computational" else ()
    return " ".join([core(promise), *(remark(one, promise) for one in promise.remarks), *bits])


def core(promise: Guarantee) -> str:
    """The promise in one sentence."""
    said, loss = unit(promise.unit), promise.loss
    delta = loss.delta_in_words if isinstance(loss, Approximate) else "0"
    factor = "" if loss.epsilon is None else decimal_above(loss.epsilon.bounds()[1], 4)
    return PROMISES[loss.kind].format(unit=said, factor=factor, delta=delta, parameters=loss)


def unit(at: Neighbours) -> str:
    """Who the neighbours are."""
    if at.change.code == "one-person":
        which = "one-person" if at.columns is None else "one-person-columns"
        which += "" if at.contributions == 1 else "-several"
        return CHANGES[which].format(contributions=at.contributions, columns=at.columns)
    words = change(at)
    if at.per_unit:
        words = CHANGES["unit-gaussian" if isinstance(at.rate, Concentrated) else f"unit-{at.norm}"]
    if at.contributions > 1:
        return CHANGES["several"].format(change=words, contributions=at.contributions)
    return words


def change(at: Neighbours) -> str:
    """The smallest change that survives what is kept."""
    code = "smallest-found" if at.change.code == "smallest" and not at.change.proved else at.change.code
    return CHANGES[code].format(**vars(at.change))


def remark(one: Remark, promise: Guarantee) -> str:
    if one.code not in REMARKS:
        raise wordless(one.code)
    numbers = dict(one.numbers)
    return REMARKS[one.code].format(**numbers, **MORE.get(one.code, _nothing)(numbers, promise))


def brief(promise: Guarantee) -> tuple[str, ...]:
    """The promise in two lines."""
    if not promise.private:
        return (SEEDED,)
    said = odds(promise)
    numbers = {"unit": unit(promise.unit), "strength": promise.loss, "grade": GRADES[promise.grade], "odds": said}
    return (
        BRIEF["protected"].format(**numbers),
        BRIEF["strength" if said is None else "strength-odds"].format(**numbers),
    )


def odds(promise: Guarantee) -> str | None:
    """What a pure epsilon means for a reader; a delta or a rho has no such bound."""
    return ODDS.format(factor=factor_of(promise.loss.epsilon)) if isinstance(promise.loss, Pure) else None


def factor_of(epsilon: Epsilon) -> str:
    """e^epsilon, rounded up."""
    above = epsilon.bounds()[1]
    return decimal_above(above, 2 if above < 100 else 0)


Numbers = dict[str, int | str]


def _nothing(numbers: Numbers, promise: Guarantee) -> Numbers:
    return {}


def _whole_change(numbers: Numbers, promise: Guarantee) -> Numbers:
    at, gaussian = promise.unit.change, numbers["law"] == "gaussian"
    size = f"the square root of {at.square}" if numbers["law"] == "l2" else str(at.square if gaussian else at.distance)
    return {"factor": size, "parameter": _rho(promise) if gaussian else "epsilon", "change": change(promise.unit)}


def _rho(promise: Guarantee) -> str:
    return "rho" if promise.loss.rho is not None else "the rho that epsilon and delta stand for"


def _half(numbers: Numbers, promise: Guarantee) -> Numbers:
    cost = {"l1": "half the epsilon", "l2": "0.71 times the epsilon", "gaussian": f"half of {_rho(promise)}"}
    return {"half": cost[str(numbers["law"])]}


def _double(numbers: Numbers, promise: Guarantee) -> Numbers:
    cost = {"l1": "twice the epsilon", "l2": "1.42 times the epsilon", "gaussian": f"twice {_rho(promise)}"}
    return {"double": cost[str(numbers["law"])]}


def _exchanges(numbers: Numbers, promise: Guarantee) -> Numbers:
    many = int(numbers["rows"])
    return {"many": "1 row" if many == 1 else f"{many:,} rows"}


def _growth(numbers: Numbers, promise: Guarantee) -> Numbers:
    squared = "in rho with the square of the distance"
    return {"growth": squared if numbers["law"] == "gaussian" else "in proportion to the distance"}


def _kept(numbers: Numbers, promise: Guarantee) -> Numbers:
    many = int(numbers["sums"])
    names = str(numbers["first"]) + (", ..." if numbers["more"] else "")
    return {"many": "1 sum is" if many == 1 else f"{many:,} sums are", "names": names}


def _determined(numbers: Numbers, promise: Guarantee) -> Numbers:
    many = int(numbers["rows"])
    names = str(numbers["first"]) + (", ..." if numbers["more"] else "")
    return {"many": "1 row is" if many == 1 else f"{many} rows are", "names": names}


def _by_the_unit(numbers: Numbers, promise: Guarantee) -> Numbers:
    return {"rate": str(promise.unit.rate)}


MORE: dict[str, Callable[[Numbers, Guarantee], Numbers]] = {
    "whole-change-costs": _whole_change,
    "a-free-row-costs-less": _half,
    "a-move-costs-more": _double,
    "only-exchanges": _exchanges,
    "larger-changes-cost-more": _growth,
    "larger-changes-cost-by-the-unit": _by_the_unit,
    "sums-are-kept": _kept,
    "determined": _determined,
    "residues": _determined,
}
