"""Facts into sentences, for people. The one place for words about a release: no code reads them, and they may change.

Every template is filled from a remark's own numbers, or from the promise it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from discreet.errors import BadInput, short
from discreet.numbers import Epsilon, decimal_above, digits_above
from discreet.privacy.values import Approximate, Concentrated, Guarantee, Neighbours, Pure, Remark

LONG_FRACTION = re.compile(r"\d{9,}/\d{9,}")
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
    "refine": "Estimate the distribution again from the noisy counts: free, it looks at nothing secret.",
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

ADVICE = {
    "approximate": "Treat every count as approximate: differences smaller than the errors above mean nothing.",
    "measurements": "For sums over many rows use the file of measurements: its values may be negative, but their "
    "errors cancel.",
    "measurements-cut": "For sums over many rows use the file of measurements: its values may be negative, but their "
    "errors cancel. Counts were cut at the largest one before the noise, so sums over larger counts are too small.",
    "distribution": "For questions about the distribution (how many rows have no case?) use the published "
    "distribution.",
    "answers": "For sums use the file of answers: it has, beside the count of the table, the best unbiased estimate of "
    "every sum that was asked for, its standard deviation and a 95% interval.",
    "estimate": "Software can compute estimates with intervals from this folder: discreet estimate FOLDER.",
}

KEYS = {
    "formula-keys": "Some keys in these columns begin with a mark that spreadsheets take for a formula: {columns}. "
    "They are published as they are; import such columns as text.",
    "formula-keys-escaped": "Keys in these columns that spreadsheets would take for formulas were written with an "
    "apostrophe before them, which is not part of the key: {columns}.",
}

PAGE = {
    "window": "{title}: private release",
    "subtitle": "A private release of {counts}, made {created}.",
    "source": "source",
    "contact": "contact",
    "licence": "licence",
    "note": "note",
    "protected": "What was protected",
    "protected-not": "Nobody, in this release: who knows or guesses the seed can take the noise off again. With noise "
    "from the operating system it would be {unit}, with {strength}.",
    "protected-how": "The table counts people. The published numbers were changed at random, so that nobody who reads "
    "them can tell it with confidence from another table that differs by {unit}, whatever else the reader knows.",
    "guarantee": "The guarantee",
    "strength": "strength",
    "against": "protects against",
    "against-what": "learning of {unit}",
    "firmness": "how firm",
    "done": "What was done",
    "kept": "What was kept exactly",
    "kept-more": "And {kept_more:,} more, in release.json under invariants.",
    "trust": "Who must be trusted",
    "trust-whom": "The publisher, who has the true table, drew the noise as is said here. Nobody who reads the numbers "
    "needs to be trusted, whatever they know besides.",
    "reaches": "How far off sums are",
    "reaches-what": "number",
    "reaches-many": "how many",
    "reaches-far": "95% interval",
    "reaches-caption": "How far the interval of the unbiased estimate reaches to either side, the median over the "
    "numbers of a kind; explore.html has the intervals.",
    "head": "The first rows",
    "head-caption": "The interval covers the true count in some 95 of 100 rows of the table, or in more. Of the rows "
    "that have one and the same count, such as 0 or the largest, it may be fewer. explore.html has that of every row.",
    "head-caption-treated": "The interval covers the true count, treated as is said here, in some 95 of 100 rows of "
    "the table, or in more. Of the rows that have one and the same count, such as 0 or the largest, it may be fewer. "
    "explore.html has that of every row.",
    "head-caption-each": "The interval of every row covers its true count with a chance of some 95%, or more; "
    "explore.html has that of every row.",
    "head-caption-each-treated": "The interval of every row covers its true count, treated as is said here, with a "
    "chance of some 95%, or more; explore.html has that of every row.",
    "files": "Files",
    "determined": "Rows that are determined by what is kept, and so published exactly: {determined}.",
    "fixed": "Rows that follow from the kept sums because no count is negative (in a sum of zero, say) or because of "
    "the inequalities that the table meets, and so are no secret either: {fixed}.",
    "distribution": "The distribution of counts",
    "distribution-caption": "How many rows have each count, as far as nearly all of them go. This picture was itself "
    "made private and costs nothing more.",
    "distribution-caption-upto": "How many rows have at most each count, as far as nearly all of them go. This picture "
    "was itself made private and costs nothing more.",
    "error": "How far off the counts are",
    "error-distribution": "The distribution of the published counts is off by about",
    "error-distribution-unit": "in counts: so far would a count have to be shifted on average to make it the true one.",
    "error-distribution-unit-treated": "in counts: so far would a count have to be shifted on average to make it that "
    "of the true counts, treated as is said here.",
    "error-distribution-most": "The distribution of the published counts is off by no more than a count is, on "
    "average.",
    "bias-none": "Published counts are right on average, and so are their sums: errors go up as often as down.",
    "bias-none-cut": "Published counts are right on average for counts that are treated as is said here, and so are "
    "their sums: errors go up as often as down.",
    "bias-rows": "Published counts are right on average, and so are their sums.",
    "bias-rows-cut": "Published counts are right on average for counts that are treated as is said here, and so are "
    "their sums.",
    "bias-zero": "Published counts are right on average but for 0, which comes out too large: in sums of many zeros "
    "that adds up; the estimates in explore.html allow for it.",
    "bias-zero-cut": "Published counts are right on average for counts that are treated as is said here, but for 0, "
    "which comes out too large: in sums of many zeros that adds up; the estimates in explore.html allow for it.",
    "bias-own": "Published counts are not right on average for every true count. In sums of many counts such errors do "
    "not cancel out; the estimates in explore.html allow for it.",
    "bias-own-cut": "Published counts are not right on average for every true count, treated as is said here. In sums "
    "of many counts such errors do not cancel out; the estimates in explore.html allow for it.",
    "bias": "Published counts are not right on average: they were kept in a range or fitted to each other, so that "
    "small ones tend to be too large. In sums of many counts such errors do not cancel out.",
    "bias-corrected": "Published counts are not right on average: they were kept in a range or fitted to each other, "
    "so that small ones tend to be too large. In sums of many counts such errors do not cancel out; the estimates in "
    "explore.html allow for it.",
    "bias-answers": "The counts of the table are not right on average: they were fitted to the answers so that none is "
    "negative and all add up. The estimates in the file of answers are.",
    "error-typical": "On average a published count is off by about",
    "error-typical-cut": "On average a published count is off from the true one, or from the largest count where the "
    "true one is larger, by about",
    "error-typical-raised": "On average a published count is off from the true one, or from the smallest count where "
    "the true one is smaller, by about",
    "error-typical-both": "On average a published count is off from the true one, or from the smallest or the largest "
    "count where the true one is smaller or larger, by about",
    "error-most": "On average a published count is off by no more than",
    "error-caption": "Expected error of a published count, by its true value, where there are rows with such counts. "
    "It follows from what is published.",
    "answers": "How far off the answers are",
    "answers-question": "question",
    "answers-entries": "numbers",
    "answers-deviation": "standard deviation",
    "answers-caption": "Of the unbiased estimates in the file of answers; on average over the numbers of a question. "
    "The counts of the table were fitted to them; they are never negative, and add up.",
    "use": "How to use the numbers",
    "verify": "How to verify",
    "verify-how": "Anyone can re-check this folder without the original data: the command below proves the guarantee "
    "again from release.json, and replays what follows from the values that are published. It finds every "
    "inconsistent edit. If you were given the digest of release.json by another way, --digest also finds a consistent "
    "forgery. No check without the data can prove that the noise was honestly drawn.",
    "footer": "Published columns: {keys}, public and as they are, and the private count {count}. Mechanism: "
    "{mechanism}. Made with discreet.",
}

FILES = {
    "table": "the published counts",
    "measurements": "the noisy values that the counts were made from, before any mapping; they may be negative",
    "answers": "answers to the questions that were asked, with standard deviations and 95% intervals",
    "record": "all facts about the release, for software; what anybody checks it with",
    "report": "what was protected, what was done, and how far off the numbers are",
    "explore": "answers with intervals to questions of your own, in the browser",
    "manifest": "which rows are in which part, and what each hashes to",
    "metadata": "what is in the CSV files, in the vocabulary of CSV on the Web",
    "analysis": "the main intervals in R, without any package: Rscript analysis.R",
}

BRIEF = {
    "protected": "Protected: {unit}.",
    "strength": "Strength: {strength}, {grade}.",
    "strength-odds": "Strength: {strength}, {grade}: {odds}.",
}

EXPLORE = {
    "subtitle": "A private release of {counts}, made on {created}. Every answer comes with an interval that "
    "holds the true number in {percent}% of all cases.",
    "subtitle-plain": "A private release of {counts}, made on {created}.",
    "of-rows": "Of a row, the estimate is what its own noisy value and the counts of all rows together let one expect; "
    "sums of such estimates are biased: ask for totals instead. The interval of a row holds the true count in "
    "{percent}% of the rows of the table; of the rows that have one and the same count, such as 0 or the largest, it "
    "may be fewer.",
    "of-rows-unbiased": "The estimate of a row is right on average; it may be negative.",
    "missing": "This release has no intervals: {why}. The rows are shown as they are published.",
    "missing-many": "This release has no intervals on this page: {why}.",
    "many": "The table has {rows:,} rows, which is more than this page holds. It has the prepared totals alone: all "
    "rows together and, where their noises are independent and the table is in one file, by columns with up to 5,000 "
    "values and by two of these. For others use Python.",
    "some": "Some combinations of columns are not in this page, because they would be too many numbers or are not told "
    "by what was measured.",
    "interval": "An interval is about the noise that protects people. It says nothing of errors that were in the table "
    "before.",
    "exact": "What is marked exact was kept as it is, and is not protected.",
    "together": "Intervals hold one by one: of {twenty} of them, one misses on average.",
}

COUNTS = {True: "one count", False: "{rows:,} counts"}  # by whether there is one
ODDS = "the odds that a reader gives to one of two such tables against the other change by a factor of {factor} at most"
CUMULATIVE = ("noisy numbers of rows with a count of at most 0, 1, 2, ...", "How many rows have a count of at most 0, "
              "1, 2, ... was")  # fmt: skip
OTHERWISE = (
    "noisy answers of the privatizer {privatizer}.",
    "The distribution of counts (privatizer {privatizer}) was",
)


def learn(remarks: Mapping[str, str], steps: Mapping[str, str]) -> None:
    """The words of a way of one's own, by the codes of its remarks and of its steps; each has one text."""
    for ours, theirs in ((REMARKS, remarks), (STEPS, steps)):
        taken = next((code for code, text in theirs.items() if ours.get(code, text) != text), None)
        if taken is not None:
            raise BadInput(f"words for {taken!r} were to be learnt", "there are others for that code")
        ours.update(theirs)


def _said_of(code: str, among: Mapping[str, str]) -> str:
    if code not in among:
        do = "A way with codes of its own gives their words to discreet.record.words.learn"
        raise BadInput(f"words for {short(code)} were asked for", "there are none", do)
    return among[code]


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
    numbers = dict(one.numbers)
    return _said_of(one.code, REMARKS).format(**numbers, **MORE.get(one.code, _nothing)(numbers, promise))


def step(one: Remark) -> str:
    """A step of a plan or of a release."""
    numbers = dict(one.numbers)
    if "price" in numbers:  # a share of a loss that has no short exact form
        numbers["price"] = LONG_FRACTION.sub(lambda found: digits_above(Fraction(found[0]), 6), str(numbers["price"]))
    if one.code == "cut-at":
        numbers["limit"] = numbers["max_count"]
    if "privatizer" in numbers:
        asked = CUMULATIVE if numbers["privatizer"] == "cumulative" else OTHERWISE
        numbers["asked"], numbers["asked_before"] = (words.format(**numbers) for words in asked)
    return _said_of(one.code, STEPS).format(**numbers)


def about_keys(one: Remark) -> str:
    """How the keys of a table are written."""
    return KEYS[one.code].format(**dict(one.numbers))


def steps(all_of_them: Iterable[Remark]) -> list[str]:
    return [step(one) for one in all_of_them]


def page(numbers: Mapping[str, object]) -> dict[str, str]:
    """The words of a report that stand on every one, with the numbers of this one."""
    counts = COUNTS[numbers["rows"] == 1].format(rows=numbers["rows"])
    return {name: text.format(counts=counts, **numbers) for name, text in PAGE.items()}


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
