"""Many test sets are shown in few lines, few of them whole."""

from __future__ import annotations

from augury.reporting.overview import by_test, text
from augury.reporting.results import Estimate
from augury.reporting.table import Row, Table


def table(test: str, plain: float, attacked: float | None) -> Table:
    def row(name: str, value: float | None, p: float | None) -> Row:
        scores = {} if value is None else {"accuracy": Estimate(value, value - 1, value + 1, "exact", 100, 1)}
        return Row(name, name, (1,), scores, None, None, p, None, None)

    return Table(test, ("accuracy",), (row("plain", plain, None), row("PGD", attacked, 0.02)), 1, (f"note on {test}",))


MEAN, ENGLISH, SWAHILI, URDU = (
    table("mean", 70, 71),
    table("en", 80, 82),
    table("sw", 60, 60),
    table("ur", 50, None),
)


def test_scores_by_test_set() -> None:
    assert by_test([MEAN, ENGLISH, URDU]) == [
        "system    mean      en     ur",
        "─" * 29,
        "plain     70.0    80.0   50.0",
        "PGD      71.0*   82.0*      –",
    ]


def test_few_are_shown_whole_and_of_many_the_mean() -> None:
    few, many = text([MEAN, ENGLISH, SWAHILI]), text([MEAN, ENGLISH, SWAHILI, URDU])
    assert few.count("[95 % interval]") == 3 and "by test set" not in few
    assert few.startswith("the mean of the test sets\n")
    assert many.count("[95 % interval]") == 1 and "note on mean" in many and "note on sw" not in many
    assert by_test([MEAN, ENGLISH, SWAHILI, URDU])[-1] in many
