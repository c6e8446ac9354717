"""The validations at which the workers of a trial return for the scheduler's decision."""

from __future__ import annotations

import time
from dataclasses import replace

from augury.sweeping.state import Point
from augury.sweeping.trial import TrialSettings, _until

RACE = TrialSettings("results", "quick", "valid/loss", (4, 12, None), "ray", "cpu", 1)
ALL = replace(RACE, rungs=(None,))


def after(validations: int) -> list[Point]:
    """A curve of `validations` points, ten seconds each."""
    return [Point(number, 8 * number, 10.0 * number, 1.0) for number in range(1, validations + 1)]


def test_without_limits_workers_return_only_at_rungs():
    assert [_until(RACE, after(done)) for done in (0, 3, 4, 11, 12, 20)] == [
        4,
        4,
        12,
        12,
        None,
        None,
    ]
    assert _until(ALL, after(3)) is None


def test_with_fail_fast_they_return_at_every_validation():
    assert [_until(replace(RACE, fail_fast=True), after(done)) for done in (0, 3, 4, 12)] == [
        1,
        4,
        5,
        13,
    ]


def test_with_a_deadline_they_return_at_the_first_validation_after_it():
    soon = replace(ALL, deadline=time.time() + 55)
    assert _until(soon, after(0)) == 1  # the time of a validation is not known yet
    assert _until(soon, after(2)) == 2 + 6
    assert _until(replace(soon, rungs=(4, None)), after(2)) == 4
    assert _until(replace(soon, fail_fast=True), after(2)) == 3
    assert _until(replace(soon, deadline=time.time() - 5), after(2)) == 3
