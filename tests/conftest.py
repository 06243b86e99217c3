from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("fixed", derandomize=True, max_examples=40, deadline=None, suppress_health_check=QUIET)
settings.register_profile("search", max_examples=400, deadline=None, suppress_health_check=QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


@pytest.fixture(autouse=True, scope="session")
def own_state(tmp_path_factory: pytest.TempPathFactory) -> Generator[None, None, None]:
    """Nothing is remembered from one run of the tests to the next, nor in the home of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spark starts slowly: its tests stand first, in one row, so that one worker gets them all and starts it once; and
    before the page about it, whose Spark keeps no logs and tries a task once."""
    items.sort(key=lambda item: ("spark" not in item.path.parts, "[spark]" not in item.name))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where CI is set, a skipped test fails: nobody there reads the list of what was left out."""
    report = yield
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"{item.nodeid} was skipped: {report.longrepr}"
    return report
