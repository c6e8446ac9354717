"""Hundreds of bad inputs are refused in words, or taken; none raises something else or hangs."""

from __future__ import annotations

import pytest

from tests.cli import bad_inputs

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.mark.parametrize("group", bad_inputs.GROUPS)
def test_no_bad_input_raises_or_hangs(group: str) -> None:
    tried = list(bad_inputs.outcomes(group))
    assert tried
    assert not [(end, attempt) for attempt, end in tried if end.kind in ("raw", "hang")]
