"""TER: everything that names a winner takes the least for the best."""

from __future__ import annotations

from typing import Any

from augury.reporting.answer import answer
from augury.reporting.comparison import Comparison, comparison
from augury.reporting.score_charts import pareto_front
from augury.reporting.score_tables import by_test, score_table
from augury.reporting.sweeps.answer import answer as sweep_answer
from augury.reporting.sweeps.summary import summarise
from tests.run_folders import load


def compared(results: Any) -> Comparison:
    """A baseline at 60 TER, a better system at 55 and a worse one at 62."""
    ter = {"base": 60.0, "better": 55.0, "worse": 62.0}
    folders = [results.run(name, name, bleu=value, metric="ter") for name, value in ter.items()]
    return comparison(load(folders), "test")


def test_the_best_system_is_the_one_with_the_least(results: Any) -> None:
    table = compared(results)
    assert [table.gain(row) for row in table.rows] == [None, 5.0, -2.0]
    assert table.rows[1].difference == -5.0 and table.to_dict()["lower_is_better"]
    expected = (
        "On test, better scores 5.0 TER less than base (55.0 against 60.0) at 1.0 × the wall time"
    )
    assert answer(table).startswith(expected)
    assert "TER: tok:13a, n = 2,000, lower is better" in score_table([table]).notes


def test_no_winner_where_all_have_more(results: Any) -> None:
    folders = [
        results.run(name, name, bleu=value, metric="ter")
        for name, value in (("base", 60.0), ("worse", 62.0))
    ]
    expected = "On test, worse does not beat base (TER 60.0): it scores 2.0 TER more"
    assert answer(comparison(load(folders), "test")).startswith(expected)


def test_less_is_coloured_as_better(results: Any) -> None:
    shades = [row.cells[1].shade for row in by_test([compared(results)]).rows]
    assert shades == [None, 1.0, -0.4]


def test_sweeps_take_the_least_for_the_best(sweeps: Any) -> None:
    """Cheaper first: 60, 58, 59 (dearer and worse than 58) and 50, of which the validation
    prefers the reference."""
    for beta, (ter, seconds) in enumerate([(60, 100), (58, 110), (59, 120), (50, 400)]):
        address = sweeps.configuration({"regime.beta": beta})
        sweeps.trial(address, 1, [30 - beta], bleu=ter, seconds=seconds, metric="ter")
    summary = summarise(sweeps.load())
    assert [row.name for row in pareto_front(summary.comparisons[0])] == [
        "beta=0",
        "beta=1",
        "beta=3",
    ]
    assert "beta=1 scores 2.0 TER less than beta=0 (58.0 against 60.0)" in sweep_answer(summary)
