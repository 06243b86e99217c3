"""Three attacks made by hand, each with everything else made to agree: digests, mark, seal, certificate and report.

What refuses them is the proof of privacy itself, not a trace that a more careful forger would not leave.
"""

from __future__ import annotations

import copy
import csv
import io
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.certify.prove import proof_of
from discreet.distribution.privatizer import estimated
from discreet.io.folder import Contents, folder_of
from discreet.laws import Gaussian, Geometric, Staircase, law_json, law_parameters
from discreet.mechanism import Mechanism, NoiseThenMap
from discreet.numbers import exact, text
from discreet.privacy.values import Concentrated, Pure
from discreet.public_map import monotone_map, rank_rows, seen_of
from discreet.record.codec import encode
from discreet.verify import _check_privacy, _check_replay, verify_contents
from discreet.ways.keep_distribution.facts import AimFacts
from discreet.ways.keep_distribution.follow import Noisy, onto
from tests.tampering.edits import Edit
from tests.tampering.folders import honest, made, table
from tests.tampering.forge import sealed, with_a_report_that_states_it, with_files, with_its_report

TOP = 12
COMMON = 5  # the count that all rows are mapped onto


def document_of(contents: Contents) -> dict[str, Any]:
    return copy.deepcopy(dict(contents.document))


def with_counts(content: bytes, counts: Any) -> bytes:
    """The same file with other counts in its last column."""
    head, *rows = csv.reader(io.StringIO(content.decode()))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([head, *([*row[:-1], int(count)] for row, count in zip(rows, counts, strict=True))])
    return out.getvalue().encode()


def refused_by_the_proof(forged: Contents) -> list[str]:
    """The problems that the proof finds. There are no others: all else is consistent."""
    reported = with_its_report(forged)
    folder = folder_of(reported)
    proof = _check_privacy(folder)
    assert _check_replay(folder) == []
    assert list(verify_contents(reported).problems) == proof
    return proof


def true_counts_behind_a_constant_map(odds: Fraction) -> Contents:
    """Measurements with hardly any noise; a map, as follows from its measurements, that shows nothing of them."""
    contents = honest("not-refined").contents
    document, truth = document_of(contents), np.minimum(table("not-refined", 1).counts, TOP)
    answers = np.where(np.arange(TOP) < COMMON, 0, len(truth))
    document["mechanism"]["noise"]["odds"] = document["mechanism"]["parameters"]["odds"] = text(odds)
    shares = estimated("cumulative", answers, len(truth), TOP + 1)
    found = onto(Noisy(seen_of(truth), Geometric(odds), None), shares)
    bins, seen = found.histogram, np.bincount(truth)
    counts = rank_rows(truth, bins, document["mechanism"]["map_seed"])
    constant = monotone_map(seen.astype(float), bins.astype(float))
    assert constant.outputs.tolist() == [COMMON] and set(counts.tolist()) == {COMMON}
    document["distribution"].update(
        measurements=answers.tolist(), distribution=shares.tolist(), histogram=bins.tolist()
    )  # fmt: skip
    told = AimFacts.of(
        "distribution", found.followed.lam, found.followed.count_error, found.followed.distribution_error
    )
    errors = {"count_error": told.count_error, "distribution_error": told.distribution_error}
    document["mechanism"]["aim"].update(errors)
    document["mechanism"]["clamp"] = [0, int(truth.max())]
    document["mechanism"]["map"].update(keys=constant.keys.tolist(), outputs=constant.outputs.tolist())
    document["certificate"]["smallest_epsilon"] = "0"  # of what comes out of such a map
    new = {"table.csv": counts, "measurements.csv": truth}
    files = {name: content for name, content in contents.files.items() if name != "release.json"}
    files |= {name: with_counts(files[name], column) for name, column in new.items()}
    return with_files(sealed(contents, document), files)


def test_true_counts_behind_a_constant_map_are_refused() -> None:
    (problem,) = refused_by_the_proof(true_counts_behind_a_constant_map(Fraction(2) ** 400))
    assert "the mechanism does not meet it: it would need epsilon 277.2" in problem


def test_a_clamped_staircase_whose_measurements_cost_more_is_refused() -> None:
    """Clamped to 0 and 1 it costs less than 1; what is published before it is clamped costs 2.3."""
    contents = made("staircase", epsilon=1, max_count=1, mechanism="staircase").contents
    noise = Staircase(Fraction(10), Fraction(1, 1000))
    clamped = proof_of(Mechanism("staircase", NoiseThenMap(noise, (0, 1))), Pure(1))
    document = document_of(contents)
    document["mechanism"]["noise"] = {"law": "staircase", "odds": "10", "gamma": "0.001"}
    document["mechanism"]["parameters"] = {"odds": "10", "gamma": "0.001"}
    document["certificate"] = encode(clamped)
    (problem,) = refused_by_the_proof(sealed(contents, document))
    assert "it would need epsilon 2.302585" in problem


def negative(rho: Fraction) -> dict[str, Any]:
    return {"what": "distribution", "epsilon": None, "alpha": None, "delta": "0", "rho": text(-rho)}


def paid_with_a_negative_part(rho: Fraction) -> Contents:
    """The rows have noise for `rho` more than there is, and a part that is listed first gives it back."""
    contents = made("negative", rho=4, max_count=TOP).contents
    document = document_of(contents)
    mechanism = document["mechanism"]
    (counts,) = mechanism["parts"]
    counts["rho"] = text(Fraction(counts["rho"]) + rho)
    noise = Gaussian.calibrated(Concentrated(counts["rho"]))
    mechanism.update(parts=[negative(rho), counts], noise=law_json(noise), parameters=law_parameters(noise))
    return sealed(contents, document)


def test_a_part_with_a_negative_rho_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no loss that could be read; and if a reader took it for one, the proof would not."""
    forged = paid_with_a_negative_part(Fraction(3))
    (unread,) = verify_contents(forged).problems
    assert "rho = -3 was asked for: it must be greater than zero" in unread
    monkeypatch.setattr("discreet.privacy.values.positive", exact)
    proof = _check_privacy(folder_of(with_its_report(forged)))
    assert proof == ["A share of the budget does not fit what was measured."]


def test_a_part_of_no_known_name_is_refused() -> None:
    contents = made("negative", rho=4, max_count=TOP, refine=False).contents
    document = document_of(contents)
    document["mechanism"]["parts"].insert(0, {**negative(Fraction(3)), "what": "rebate", "rho": "3"})
    assert any("rebate" in problem for problem in verify_contents(sealed(contents, document)).problems)


@pytest.mark.parametrize("kind", ["measure-levels", "margins-in-parquet"])
def test_a_delta_that_is_not_the_one_that_noise_was_made_for_is_refused(kind: str) -> None:
    """A larger one is a true promise; but more noise was drawn than it needs, and nothing says why."""
    folder = honest(kind)
    document: dict[str, Any] = dict(folder.contents.document)
    for value in ("0.002", "1/6"):
        forged = sealed(folder.contents, Edit(("guarantee", "delta"), value).of(document))
        assert any("larger than what is claimed needs" in one for one in verify_contents(forged).problems)


@pytest.mark.parametrize("mechanism", ["rank", "transport"])
@pytest.mark.parametrize("top_code", [False, True])
def test_what_was_refined_does_not_pass_for_the_first_measurement(mechanism: str, top_code: bool) -> None:
    """Also where the noisy rows are not published; and what was not refined passes."""
    options: dict[str, Any] = {"max_count": 12, "mechanism": mechanism, "split": "1/2", "measurements": False}
    plain = made("plain", epsilon=1, refine=False, top_code=top_code, **options)
    assert verify_contents(plain.contents).valid
    refined = made("refined", epsilon=1, top_code=top_code, **options).contents
    forged = sealed(refined, Edit(("mechanism", "refined"), False).of(dict(refined.document)))
    assert not verify_contents(with_a_report_that_states_it(forged)).valid
