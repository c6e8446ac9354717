"""Hundreds of bad inputs are refused in words, or taken; none raises something else or hangs."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.cli import bad_inputs

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(900)]


@pytest.fixture(autouse=True)
def environment() -> Iterator[None]:
    """Put back the variables that commands set for their process, such as a cluster's address."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.parametrize("group", bad_inputs.GROUPS)
def test_no_bad_input_raises_or_hangs(group: str) -> None:
    tried = list(bad_inputs.outcomes(group))
    assert tried
    assert not [(end, attempt) for attempt, end in tried if end.kind in ("raw", "hang")]
