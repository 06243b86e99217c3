"""Every kind of data that can be counted."""

from __future__ import annotations

import pytest

from tests.count.people import KINDS


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)
