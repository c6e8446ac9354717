"""What a budget ends with."""

from __future__ import annotations

import time

from augury.sweeping.closing import Closing
from augury.sweeping.state import Point, TrialKey

BASELINE, A, B, C = (TrialKey(name, 1) for name in ("baseline", "a", "b", "c"))


def curve(*values: float, each: float = 10.0) -> tuple[Point, ...]:
    return tuple(
        Point(place, 8 * place, each * place, value) for place, value in enumerate(values, start=1)
    )


# The reference took 40 s. A has 2 of 4 validations and takes twice as long, B is the best after
# one validation, C is the worst.
CURVES = {
    BASELINE: curve(10, 20, 25, 27),
    A: curve(12, 22, each=20.0),
    B: curve(15, 20),
    C: curve(2, 3),
}


def closing(seconds: float, mode="max") -> Closing:
    factors = {"a": 2.0, "b": 1.0, "c": 1.0}
    return Closing("baseline", time.monotonic() + seconds, factors.__getitem__, mode)


def test_the_best_are_finished_once_the_time_is_just_enough_for_them() -> None:
    # By the values of both validations, A is the best; its other half takes 40 s.
    assert closing(100).trials(CURVES, [BASELINE], at_once=2) == []
    assert closing(45).trials(CURVES, [BASELINE], at_once=2) == [A, B]
    assert closing(45).trials(CURVES, [BASELINE], at_once=1) == [A]
    assert closing(1, "min").trials(CURVES, [BASELINE], at_once=1) == [C]


def test_it_goes_on_with_what_it_has_chosen() -> None:
    last = closing(45)
    assert last.trials(CURVES, [BASELINE], at_once=1) == [A]
    near = {**CURVES, A: curve(12, 22, 28, 29, each=19.0)}
    assert last.trials(near, [BASELINE], at_once=1) == [A]


def test_nothing_is_known_before_the_reference_has_finished() -> None:
    running = {BASELINE: curve(10), A: curve(12)}
    assert closing(1).trials(running, [], at_once=1) == []
    assert closing(45).trials({BASELINE: CURVES[BASELINE]}, [BASELINE], at_once=1) == []
