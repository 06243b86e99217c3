"""What stands on the pages of a release beside its numbers: headings, captions, advice, and what each file is."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.privacy.values import Remark

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
    "bias-leaning": "Published counts are not right on average: they lean towards counts that many rows have. Where "
    "most are zero, the others tend to be too small. In sums of many counts such errors do not cancel out; the "
    "estimates in explore.html allow for it.",
    "bias-leaning-cut": "Published counts are not right on average, treated as is said here: they lean towards counts "
    "that many rows have. Where most are zero, the others tend to be too small. In sums of many counts such errors do "
    "not cancel out; the estimates in explore.html allow for it.",
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

COUNTS = {True: "one count", False: "{rows:,} counts"}  # by whether there is one


def said_on_every_page(numbers: Mapping[str, object]) -> dict[str, str]:
    """The words of a report that stand on every one, with the numbers of this one."""
    counts = COUNTS[numbers["rows"] == 1].format(rows=numbers["rows"])
    return {name: text.format(counts=counts, **numbers) for name, text in PAGE.items()}


def about_keys(one: Remark) -> str:
    """How the keys of a table are written."""
    return KEYS[one.code].format(**dict(one.numbers))
