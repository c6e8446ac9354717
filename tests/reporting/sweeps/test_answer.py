from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from augury.reporting.answer import answer as compare_in_words
from augury.reporting.sweeps.answer import answer, unconfirmed
from augury.reporting.sweeps.summary import summarise
from augury.sweeping.state import Sweep


def compare_with(sweep: Sweep, rival: str) -> str:
    """What the comparison of the reference with one other says where it is not confirmed."""
    summary = summarise(sweep)
    (table,) = summary.comparisons
    assert summary.leader is not None
    rows = tuple(row for row in table.rows if row.name in ("baseline", rival))
    return compare_in_words(replace(table, rows=rows), unconfirmed(summary, summary.leader))


@pytest.fixture
def addresses(sweeps: Any) -> list[str]:
    """A baseline and two values of beta."""
    return [
        sweeps.configuration({}, "baseline"),
        *(sweeps.configuration({"regime.beta": beta}) for beta in (1, 2)),
    ]


def test_nothing_yet(sweeps: Any, addresses: list[str]) -> None:
    assert (
        answer(summarise(sweeps.load(ended=False))) == "No answer yet, with 0 of 9 trials finished."
    )


def test_validations_alone_are_no_answer(sweeps: Any, addresses: list[str]) -> None:
    sweeps.trial(addresses[1], 1, [20, 31.2], "running")
    assert answer(summarise(sweeps.load(ended=False))) == (
        "No answer yet: with 0 of 9 trials finished, beta=1 leads with validation BLEU 31.2 (not "
        "trained to the end), and there are no test scores to compare."
    )


def test_without_test_sets_validation_decides(sweeps: Any, addresses: list[str]) -> None:
    for address, values in zip(addresses, ((30, 31, 29), (33, 34, 35), (30, 30, 30)), strict=True):
        for seed, value in enumerate(values, start=1):
            sweeps.trial(address, seed, [value])
    sweep = sweeps.load(tests=())
    # The pooled deviation is sqrt((2 + 2 + 0) / 6) = 0.816 with 6 degrees of freedom, t = 2.447: 4
    # ± 1.63.
    sentence = answer(summarise(sweep))
    assert sentence.startswith(
        "Without test sets, beta=1 leads with validation BLEU 34.0 [32.8, 35.2] (3 seeds), 4.0 more"
    )
    assert (
        "than baseline with 30.0 [28.8, 31.2] (3 seeds) (95 % interval of the difference 2.4 to "
        "5.6)" in sentence
    )
    assert "less is to be expected on unseen text" in sentence
    assert answer(summarise(sweeps.load(tests=(), ended=False))).startswith(
        "So far, with 9 of 9 trials finished: without test sets"
    )


def test_without_test_sets_a_small_lead_may_be_chance(sweeps: Any, addresses: list[str]) -> None:
    for address, values in zip(addresses, ((30, 31), (30, 32), (29, 30)), strict=True):
        for seed, value in enumerate(values, start=1):
            sweeps.trial(address, seed, [value])
    assert "it may be chance" in answer(summarise(sweeps.load(tests=())))


def test_without_test_sets_the_reference_is_held_against_the_next_best(
    sweeps: Any, addresses: list[str]
) -> None:
    for address, value in zip(addresses, (33, 31, 32), strict=True):
        sweeps.trial(address, 1, [value])
    sentence = answer(summarise(sweeps.load(tests=())))
    assert (
        sentence.startswith("Without test sets, baseline leads")
        and "1.0 more than beta=2" in sentence
    )
    assert "single seeds do not decide" in sentence


def test_the_answer_of_a_running_sweep(sweeps: Any, addresses: list[str]) -> None:
    for address, value in zip(addresses, (30, 31, 32), strict=True):
        sweeps.trial(address, 1, [value])
    sweep = sweeps.load(ended=False)
    sentence = compare_with(sweep, "beta=2")
    assert sentence.startswith("On test, beta=2 scores 2.0 BLEU more than baseline")
    assert answer(summarise(sweep)) == f"So far, with 3 of 9 trials finished: o{sentence[1:]}"


def test_what_leads_in_validation_is_judged_on_the_test_set(
    sweeps: Any, addresses: list[str]
) -> None:
    for address, value, bleu in zip(addresses, (30, 31, 32), (29, 35, 28), strict=True):
        sweeps.trial(address, 1, [value], bleu=bleu)
    sweep = sweeps.load()
    assert answer(summarise(sweep)) == compare_with(sweep, "beta=2")
    assert "beta=2 does not beat baseline" in answer(summarise(sweep))


def test_failed_trials_and_stopped_configurations_are_counted(
    sweeps: Any, addresses: list[str]
) -> None:
    sweeps.trial(addresses[0], 1, [30])
    sweeps.trial(addresses[1], 1, [31])
    sweeps.trial(addresses[1], 2, [31], "failed", error="Diverged")
    sweeps.trial(addresses[2], 1, [25], "stopped")
    sweep = sweeps.load(scheduler="race")
    losses = "; 1 of 4 trials failed; 1 of 3 configurations was stopped early."
    assert answer(summarise(sweep)) == compare_with(sweep, "beta=1").removesuffix(".") + losses


def test_a_sweep_that_failed_has_no_answer(sweeps: Any, addresses: list[str]) -> None:
    for address in addresses:
        sweeps.trial(address, 1, [], "failed", error="Diverged")
    assert answer(summarise(sweeps.load([1]))) == (
        "No answer: no configuration came to a validation, with 0 of 3 trials finished; 3 of 3 "
        "trials failed."
    )
