"""What a sweep chose is tested with seeds that had no part in the choice."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import yaml

from augury.experiments.spec import parse
from augury.experiments.systems import expand
from augury.reporting import experiment as report
from augury.reporting import frames, rendering
from augury.reporting.answer import recommendation, sweep_answer
from augury.reporting.comparison import compare_all
from augury.reporting.find import choices_of, load_systems
from augury.reporting.results import SystemResult, load_groups
from augury.reporting.run_files import EXPERIMENT
from augury.reporting.sweeps.recommended import RECOMMENDED, recommend
from augury.reporting.sweeps.report import data
from augury.reporting.sweeps.report import report as sweep_report
from augury.reporting.sweeps.summary import (
    Summary,
    confirmation_runs,
    price_of_confirming,
    recommended,
    summarise,
)
from augury.scoring.significance import compare

REAL, FRESH = "is real", (4, 5, 6)
Shares = dict[str, float]
CHOICE: Shares = {"baseline": 0.6, "ours": 0.7, "theirs": 0.65}


def classify(sweeps: Any, address: str, name: str, seed: int, share: float) -> None:
    """Train a classifier that is right on so many of the examples, drawn anew for each seed."""
    drawn = random.Random(f"{name} {seed}")
    correct = [int(drawn.random() < share) for _ in range(1000)]
    sweeps.trial(address, seed, [100 * share], seconds=60.0)
    sweeps.results.run(name, address, seed, correct=correct, seconds=60.0)


@pytest.fixture
def addresses(sweeps: Any) -> dict[str, str]:
    """Everything trained with three seeds; the addresses by name."""
    addresses = {name: sweeps.configuration({}, name) for name in CHOICE}
    for name, share in CHOICE.items():
        for seed in (1, 2, 3):
            classify(sweeps, addresses[name], name, seed, share)
    return addresses


def confirm(
    sweeps: Any, addresses: dict[str, str], ours: float, seeds: Sequence[int] = FRESH, **load: Any
) -> Summary:
    """Train the reference and `ours` with fresh seeds."""
    for name, share in (("baseline", 0.6), ("ours", ours)):
        for seed in seeds:
            classify(sweeps, addresses[name], f"fresh {name}", seed, share)
    known = {"reference": addresses["baseline"], "winner": addresses["ours"]}
    sweeps.confirmation = {**known, "seeds": list(FRESH)}
    return summarise(sweeps.load(**load))


@pytest.mark.parametrize("scheduler", ["all", "race"])
def test_nothing_is_real_before_it_is_confirmed(
    sweeps: Any, addresses: dict[str, str], scheduler: str
) -> None:
    summary = summarise(sweeps.load(scheduler=scheduler))
    assert summary.leader is not None and summary.leader.name == "ours"
    assert not summary.confirmed and REAL not in sweep_answer(summary)
    assert "6 trainings" in sweep_answer(summary)
    assert (
        price_of_confirming(summary, summary.leader) == "6 trainings, about 6 min 00 s of training"
    )
    assert "not confirmed: ours" in recommendation(summary)


def test_a_confirmed_system_is_tested_by_fresh_seeds_alone(
    sweeps: Any, addresses: dict[str, str]
) -> None:
    summary = confirm(sweeps, addresses, 0.7)
    assert summary.sweep.confirmation is not None
    (table,) = summary.confirmed
    assert [(row.name, row.seeds) for row in table.rows] == [("baseline", FRESH), ("ours", FRESH)]
    assert table.comparisons == 1 and table.rows[1].mark and REAL in sweep_answer(summary)
    (stored,) = data(summary)["confirmed"]
    assert stored["rows"][1]["difference"] == pytest.approx(table.rows[1].difference)
    assert list(stored["rows"][1]["seeds"]) == [*FRESH]
    others = {row.name: row.seeds for row in summary.comparisons[0].rows}
    assert others == dict.fromkeys(CHOICE, (1, 2, 3))
    runs = confirmation_runs(summary.sweep, summary.sweep.confirmation)
    drawn = [system.samples("test", "accuracy") for system in load_groups([*runs.values()])]
    assert drawn[0] is not None and drawn[1] is not None
    assert table.rows[1].tested == compare(drawn[0], drawn[1])


def test_what_is_not_confirmed_is_not_recommended(sweeps: Any, addresses: dict[str, str]) -> None:
    """A system that was lucky, one that is worse on the test set, and one that learnt nothing."""
    summary = confirm(sweeps, addresses, 0.595)
    assert REAL not in sweep_answer(summary) and "ours" in sweep_answer(summary)
    assert recommended(summary) is summary.reference
    (table,) = summary.confirmed
    assert "does not beat baseline" in sweep_answer(summary)
    rows = tuple(replace(row, meaningless=True) for row in table.rows)
    summary = replace(summary, confirmed=(replace(table, rows=rows),))
    assert "not shown to have learnt" in sweep_answer(summary)
    assert "scores" not in sweep_answer(summary)
    assert recommended(summary) is None and recommendation(summary) == ""


@pytest.mark.parametrize(("share", "sure"), [(0.7, True), (0.65, False)])
def test_answer_and_recommendation_are_of_one_comparison(
    sweeps: Any, addresses: dict[str, str], share: float, sure: bool
) -> None:
    """Fresh seeds decide on the test set, whatever they do in validation."""
    summary = confirm(sweeps, addresses, share)
    assert summary.leader is recommended(summary) and summary.decided
    assert summary.decided.sure == sure == (REAL in sweep_answer(summary))
    assert ("may be chance" in sweep_answer(summary)) == (not sure)
    assert ("may be chance" in recommendation(summary)) == (not sure)


def test_comparing_a_sweep_leaves_out_what_has_chosen(
    sweeps: Any, addresses: dict[str, str]
) -> None:
    sweeps.chosen = addresses["ours"]
    sweeps.load()
    root = sweeps.results.store.root
    assert "of ours chose it" in choices_of(load_systems(["sweeps/beta"], root))
    summary = confirm(sweeps, addresses, 0.7)
    systems = {system.name: [*system.runs] for system in load_systems(["sweeps/beta"], root)}
    assert systems == {"baseline": [*FRESH], "ours": [*FRESH], "theirs": [1, 2, 3]}
    tested = load_systems(["sweeps/beta"], root)
    assert REAL in compared(tested) and REAL in sweep_answer(summary)
    said = frames.said(compare_all(tested, ["test"]), tested)
    assert said["answer"] == compared(tested)
    both = load_systems(["beta/baseline", "beta/ours"], root)
    assert [[*system.runs] for system in both] == [[1, 2, 3, *FRESH]] * 2
    assert "seed 1, 2, 3 of ours chose it" in compared(both)


def compared(systems: Sequence[SystemResult]) -> str:
    """The answer of `augury compare`."""
    return report.compared(compare_all(systems, ["test"]), systems).answer


def test_a_confirmation_needs_two_seeds_at_the_end_and_all_before(
    sweeps: Any, addresses: dict[str, str]
) -> None:
    one = confirm(sweeps, addresses, 0.7, (4,))
    assert not one.confirmed and REAL not in sweep_answer(one)
    summary = confirm(sweeps, addresses, 0.7, (4, 5), ended=False)
    assert not summary.confirmed and summary.leader is not None
    assert price_of_confirming(summary, summary.leader).startswith("2 trainings")
    sweeps.chosen = addresses["theirs"]
    other = summarise(sweeps.load())
    assert other.leader is not None and not other.confirmed
    price = price_of_confirming(other, other.leader)
    assert price.startswith("4 trainings")  # two of the reference are there
    sweeps.chosen = None
    ended = summarise(sweeps.load())
    assert ended.confirmed[0].rows[1].seeds == (4, 5)
    assert "fresh seeds (4, 5)," in sweep_answer(ended)


def test_one_fresh_seed_that_was_asked_for_confirms_and_does_not_decide(
    sweeps: Any, addresses: dict[str, str]
) -> None:
    confirm(sweeps, addresses, 0.7, (4,))
    sweeps.confirmation["seeds"] = [4]
    summary = summarise(sweeps.load())
    assert summary.confirmed and REAL not in sweep_answer(summary)
    assert "one seed does not decide" in sweep_answer(summary)
    assert "(with the fresh seeds)" not in rendering.text(sweep_report(summary))


def test_the_experiment_file_trains_both_as_the_sweep_did_with_fresh_seeds(
    sweeps: Any, addresses: dict[str, str]
) -> None:
    corpus = {"builtin": 300}
    texts = {"train": corpus, "valid": corpus, "source_language": "de", "target_language": "en"}
    base = {"name": "my", "task": "nmt", "corpus": texts, "seeds": [1, 2, 3]}
    drop = {"augment": [{"operator": "word_drop", "tau": 0.5}], "training": {"max_epochs": 3}}
    stored = {}
    for name, changes in {"baseline": {}, "ours": drop}.items():
        stored[name] = parse(base | changes).to_dict()
        folder = sweeps.results.store.folder("runs", f"{addresses[name]}/seed-1")
        folder.write(EXPERIMENT, yaml.safe_dump(stored[name]))
    for summary in (summarise(sweeps.load()), confirm(sweeps, addresses, 0.7)):
        assert recommend(summary)
        content = yaml.safe_load(summary.sweep.folder.read(RECOMMENDED))
        assert content["seeds"] == [*FRESH]
        assert data(summary)["recommended"] == addresses["ours"]
        systems = expand(parse(content))
        assert list(systems) == ["baseline", "ours"]
        for name, experiment in systems.items():
            for key in stored[name].keys() - {"baseline", "systems", "seeds", "name"}:
                assert experiment.to_dict()[key] == stored[name][key]


def test_the_experiment_file_can_be_read_whatever_the_names(sweeps: Any) -> None:
    """Names with a path, alike but for that; tracking stays off."""
    texts = {"train": {"builtin": 300}, "source_language": "de", "target_language": "en"}
    base = {"name": "my", "task": "nmt", "corpus": texts, "tracking": {"enabled": False}}
    for name, bleu, dropout in (("file=/a", 30, 0.1), ("file=-a", 31, 0.2)):
        run = sweeps.trial(sweeps.configuration({}, name), 1, [bleu])
        experiment = parse(base | {"model": {"dropout": dropout}})
        run.write(EXPERIMENT, yaml.safe_dump(experiment.to_dict()))
    summary = summarise(sweeps.load([1]))
    assert recommend(summary)
    written = parse(yaml.safe_load(summary.sweep.folder.read(RECOMMENDED)))
    assert list(expand(written)) == ["file=-a", "file=-a 2"] and not written.tracking.enabled
    page = "\n".join(re.findall("<pre.*?</pre>", rendering.page(sweep_report(summary))))
    assert f"recommended.yaml --storage {sweeps.results.store.root}" in page
