"""What will be done, and what was done, in sentences: the steps of a plan and of a release."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from discreet.numbers import digits_above
from discreet.privacy.values import Remark
from discreet.record.words.codes import wordless

LONG_FRACTION = re.compile(r"\d{9,}/\d{9,}")

STEPS = {
    # of a plan
    "leave-uncut": "Leave counts without an upper limit.",
    "cut-at": "Treat counts above {limit} as {limit}.",
    "cut-by-size": "Treat counts above the size of their group, in the public column '{column}', as that size.",
    "draw-by-size": "Spend {price} on the counts: mechanism {mechanism}, one for each of {sizes} size(s), row by row.",
    "draw-column": "Spend {price} on the counts '{column}': mechanism {mechanism}, row by row.",
    "draw-column-noise": "Spend {price} on the counts '{column}': mechanism {mechanism}, row by row. Its noise is "
    "{noise} on average, up or down.",
    "raise-to": "Treat counts below {min_count} as {min_count}.",
    "measure-distribution": "Spend {price} on the distribution: {asked}",
    "construct": "Construct the mechanism {mechanism} for that distribution: free, it looks at nothing secret.",
    "draw-rows": "Spend {price} on the counts: mechanism {mechanism}, row by row.",
    "draw-rows-own": "Spend {price} on the counts: a mechanism of the publisher's own, row by row.",
    "add-noise": "Spend {price} on noise for each of the {rows} counts.",
    "refine": "Estimate the distribution from the noisy counts: free, it looks at nothing secret.",
    "map-by-rank": "Map the noisy counts onto that distribution, by rank, so that both agree exactly: free, for the "
    "same reason.",
    "map-balance": "Publish the counts that make the sum of both errors least, of the counts and of their "
    "distribution, while neither is expected to exceed that of the noisy counts: free, for the same reason.",
    "map-counts": "Publish the counts that err least: free, for the same reason.",
    "map-distribution": "Publish the counts that follow the distribution: free, for the same reason.",
    "map-plain": "Publish the noisy counts as they are, but for those outside the range of counts, which are put at "
    "its ends: with so few rows, or so much noise, nothing is known to be better.",
    "map-lam": "Publish the counts that make the weighted sum of both errors least: free, for the same reason.",
    "widened": "All noise is widened for people who are counted up to {contributions} times.",
    "keep": "Keep exactly: {kept}. These sums are published and not protected.",
    "noise-at-most-l1": "With a chance of at least {chance} the noise changes a row by at most {error}, on average "
    "over all rows.",
    "noise-at-most-l2": "With a chance of at least {chance} the root of the mean squared change by the noise is at "
    "most {error}.",
    "lattice-noise": "Spend {price} on {law} noise that cannot change them.",
    "free-noise": "Spend {price} on {law} noise for every row.",
    "condition": "Draw it so that no count becomes negative, which biases small counts upwards and large ones "
    "downwards: an empty row will be published with up to about {empty} persons on average.",
    "meet-inequalities": "Draw it so that every inequality holds, which biases counts near their bounds away from "
    "them. How large errors become depends on how near the counts are to these, which is not looked at: none are "
    "simulated.",
    "project": "Replace the signed table by the nearest one without a negative count that has the same kept sums: "
    "free, it looks at nothing secret.",
    "measure-question": "Spend {price} on {question}: {entries} noisy count(s). With all the rest, each will be known "
    "up to a standard deviation of {deviation}.",
    "combine": "Combine all of them into the best unbiased estimate of every sum, with its exact standard deviation: "
    "free, it looks at nothing secret.",
    "make-one-table": "Make one table of whole numbers, none negative, whose sums are near to the estimates at every "
    "level: free, for the same reason.",
    "make-cells-alike": "The {cells} cells are not told by these: within the sums that are told, they will be as alike "
    "as can be. Measure cells to have them, too.",
    "cells-alone-are-better": "To measure the cells alone would make the sum of all squared errors smaller by "
    "{percent}%: margins pay where many cells add up to one number.",
    # of a release
    "measured-distribution": "{asked_before} measured with random noise.",
    "constructed": "The mechanism '{mechanism}' was built to keep that distribution, for each row.",
    "noise-added": "Random noise was added to the count of every row (the file of measurements).",
    "noise-added-alone": "Random noise was added to the count of every row.",
    "noise-added-unpublished": "Random noise was added to the count of every row; the noisy values are not published.",
    "refined": "The distribution of counts was estimated from what had been measured; this costs no privacy.",
    "mapped-by-rank": "The noisy counts were mapped by their ranks onto that distribution; this costs no privacy "
    "either.",
    "mapped-balance": "The noisy counts were replaced, in their order, by those that make the sum of both expected "
    "errors least, of the counts and of their distribution, neither of them above that of the noisy counts by more "
    "than a hundredth; this costs no privacy either.",
    "mapped-counts": "The noisy counts were replaced, in their order, by those that err least; this costs no privacy "
    "either.",
    "mapped-distribution": "The noisy counts were mapped, in their order, onto that distribution; this costs no "
    "privacy either.",
    "mapped-lam": "The noisy counts were replaced, in their order, by those that make a weighted sum of both errors "
    "least, of the counts and of their distribution; this costs no privacy either.",
    "mapped-plain": "The noisy counts were left as they are, but for those outside the range of counts, which are at "
    "its ends: that others would be better was not sure.",
    "left-signed": "The noisy values were left as they are, negative ones too.",
    "rows-drawn-own": "Every count was replaced by a random one, drawn by a mechanism of the publisher's own.",
    "rows-drawn": "Every count was replaced by a random one, drawn by the mechanism '{mechanism}'.",
    "drawn-by-share": "Every count was replaced by a random one, drawn by the mechanism '{mechanism}' for the share of "
    "its column: {columns} columns, row by row.",
    "drawn-by-size": "Every count was replaced by a random one, drawn by the mechanism '{mechanism}' for the size of "
    "its group: one for each of {sizes} size(s), in the public column '{column}'. None is above the size of its group.",
    "near-zero-clamped": "The noise changes no count by more than {support}. What it leads below zero is published as "
    "zero, so that counts below {support} come out too large on average; all others are right on average.",
    "near-zero-never": "The noise changes no count by more than {support}, and every count is right on average.",
    "near-ends-clamped": "The noise changes no count by more than {support}. What it leads below zero is published as "
    "zero, what it leads above {top} as {top}, so that counts below {support} come out too large on average, and those "
    "above {high} too small.",
    "near-top-clamped": "The noise changes no count by more than {support}. What it leads above {top} is published as "
    "{top}, so that counts above {high} come out too small on average; all others are right on average.",
    "near-zero-unbiased": "The noise changes no count by more than {support}, and every count but 0 is right on "
    "average; how often a count below {support} is published as it is depends on the count.",
    "near-zero-both": "The noise changes no count by more than {support}, every count but 0 is right on average, and "
    "all are published as they are equally often.",
    "turned-into-a-lattice": "What is kept was turned into a lattice: all changes of the table that leave every kept "
    "sum as it is.",
    "lattice-noise-added": "Random noise was drawn on that lattice (sampler: {sampler}) and added.",
    "free-noise-added": "Random noise was drawn for every row (sampler: {sampler}) and added.",
    "inequalities-met": "The noise was drawn so that every inequality holds, which biases counts near their bounds "
    "away from them.",
    "nothing-repaired": "Nothing was repaired.",
    "projected": "The signed values (the file of measurements) were replaced by the nearest counts that are not "
    "negative and have the same kept sums; this costs no privacy. Empty rows come out too large by it, and large ones "
    "too small.",
    "projected-unpublished": "The signed values, which are not published, were replaced by the nearest counts that are "
    "not negative and have the same kept sums; this costs no privacy. Empty rows come out too large by it, and large "
    "ones too small.",
    "projected-nearly": "The kept sums overlap, so that the nearest counts are hard to find: the squared distance of "
    "these exceeds the least by {gap} at most.",
    "measured-question": "{question} was measured with random noise, for {percent}% of the budget; with all the rest "
    "its counts are known up to a standard deviation of {deviation}.",
    "combined": "All measurements were combined into the best unbiased estimate of every sum (the file of answers); "
    "this costs no privacy.",
    "one-table-made": "One table of whole numbers, none negative, was fitted to these estimates level by level, from "
    "the total down; this costs no privacy either.",
    "one-table-made-and-mapped": "One table of whole numbers, none negative, was fitted to these estimates level by "
    "level, from the total down; at the finest level the noisy counts were first mapped, in their order, so that the "
    "distribution of counts is kept as well as the sums allow: in order of size, the table's counts differ by {apart} "
    "on average from the distribution that was estimated. This costs no privacy either.",
    "distribution-apart": "In order of size, the table's counts differ by {apart} on average from the distribution of "
    "counts that the noisy cells by themselves suggest: all sums are kept, and the distribution as far as they allow.",
    "cells-made-alike": "What was measured does not tell single cells: within the sums that it tells, the table has "
    "them as alike as can be. Use it for these sums alone.",
    "noise-conditioned": "It was drawn so that no count became negative, which biases small counts upwards and large "
    "ones downwards: an empty row is published with up to about {empty} persons on average.",
}

CUMULATIVE = ("noisy numbers of rows with a count of at most 0, 1, 2, ...", "How many rows have a count of at most 0, "
              "1, 2, ... was")  # fmt: skip
OTHERWISE = (
    "noisy answers of the privatizer {privatizer}.",
    "The distribution of counts (privatizer {privatizer}) was",
)


def sentences(all_of_them: Iterable[Remark]) -> list[str]:
    return [sentence(one) for one in all_of_them]


def sentence(one: Remark) -> str:
    """A step of a plan or of a release."""
    if one.code not in STEPS:
        raise wordless(one.code)
    numbers = dict(one.numbers)
    if "price" in numbers:  # a share of a loss that has no short exact form
        numbers["price"] = LONG_FRACTION.sub(lambda found: digits_above(Fraction(found[0]), 6), str(numbers["price"]))
    if one.code == "cut-at":
        numbers["limit"] = numbers["max_count"]
    if "privatizer" in numbers:
        asked = CUMULATIVE if numbers["privatizer"] == "cumulative" else OTHERWISE
        numbers["asked"], numbers["asked_before"] = (words.format(**numbers) for words in asked)
    return STEPS[one.code].format(**numbers)
