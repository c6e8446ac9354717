"""Systems at equal times of training."""

from __future__ import annotations

from typing import Any

from augury.reporting.comparison import comparison
from augury.reporting.curves import equal_time
from augury.reporting.pareto import score_against_cost
from tests.run_folders import load


def curve(*points: tuple[float, float]) -> list[tuple[int, dict[str, float]]]:
    """A history with a validation at each time."""
    return [
        (update, {"valid/bleu": bleu, "train/seconds": seconds})
        for update, (seconds, bleu) in enumerate(points, start=1)
    ]


def test_the_best_so_far_of_all_seeds(results: Any) -> None:
    """Baselines end at 20 s and 40 s and keep their best.

    The cipher goes on to 80 s, and begins later.
    """
    runs = [
        results.run("base", "aa" * 8, 1, bleu=1, history=curve((10, 5.0), (20, 4.0))),
        results.run("base", "aa" * 8, 2, bleu=1, history=curve((5, 3.0), (40, 7.0))),
        results.run("cipher", "bb" * 8, 1, bleu=1, history=curve((30, 6.0), (80, 9.0))),
    ]
    table = equal_time(load(runs), "bleu")
    assert table is not None and table.columns[2:] == (
        "10 s",
        "20 s",
        "40 s",
        "1 min 00 s",
        "1 min 20 s",
    )
    base, cipher = ([cell.text for cell in row.cells[2:]] for row in table.rows)
    assert base == ["4.0 ± 1.4", "4.0 ± 1.4", "6.0 ± 1.4", "6.0 ± 1.4", "6.0 ± 1.4"]
    assert cipher == ["–", "–", "6.0", "6.0", "9.0"]


def test_one_system_is_not_compared(results: Any) -> None:
    run = results.run("base", "aa" * 8, bleu=1, history=curve((10, 5.0)))
    assert equal_time(load([run]), "bleu") is None


def test_times_of_different_devices_are_not_compared(results: Any) -> None:
    history = [(100, {"valid/bleu": 20.0, "train/seconds": 10.0})]
    runs = [
        results.run(name, address * 8, bleu=30.0, history=history, device=device)
        for name, address, device in (("base", "aa", "cpu"), ("cipher", "bb", "NVIDIA H100"))
    ]
    systems = load(runs)
    assert equal_time(systems, "bleu") is None
    assert score_against_cost(comparison(systems, "test")) == []
