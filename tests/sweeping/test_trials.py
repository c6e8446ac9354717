"""Which trials of a command begin, what they wait for, and what becomes of them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from augury.core.store import Store
from augury.experiments.graph import Graph
from augury.experiments.run import Run
from augury.experiments.systems import canonical, expand
from augury.experiments.task import find_task
from augury.experiments.trial import run_trial
from augury.reporting.results import load_groups
from augury.sweeping.schedulers import Scheduler, Trial
from augury.sweeping.trials import Trials
from tests import tiny

BACK = {
    "operator": "back_translation",
    "monolingual": {"language": "qab", "train": {"builtin": 9, "seed": 2}},
    "decoding": {"beam": 1, "max_length": 9},
}
DROP = {"augment": [{"operator": "word_drop"}]}


def make(storage: Path, seeds: tuple[int, ...] = (1,), **options: Any) -> Trials:
    """Return the trials of a baseline and of other systems, whose texts are made."""
    systems = {"baseline": {}, **options.pop("systems", {"other": DROP})}
    metrics = {"metrics": options.pop("metrics", ["bleu"])}
    described = tiny.experiment(
        "nmt", storage, training={"max_updates": 2}, scoring=metrics, systems=systems
    )
    graph = Graph(Store(storage))
    known = expand(described)
    forms = {name: canonical(system).experiment for name, system in known.items()}
    plans = graph.add(forms, seeds)
    wanted = [Trial(plan.address, seed) for seed in seeds for plan in plans.values()]
    trials = Trials(
        graph,
        Scheduler([plan.address for plan in plans.values()], seeds),
        Store(storage).folder("sweeps", "x"),
        value=lambda trial: 1.0,
        compared=lambda trial: trial in wanted,
        **options,
    )
    trials.make_texts()
    return trials


def begin(trials: Trials) -> Trial:
    """Begin the next trial."""
    trial = trials.next()
    assert trial is not None
    return trial


def key(trials: Trials, name: str, seed: int = 1) -> Trial:
    return Trial(trials.graph.systems[name].address, seed)


def train(trials: Trials, trial: Trial) -> None:
    """Train a trial, as another process would, and record its end."""
    run = Run.read(trials.run_of(trial).folder)
    assert run_trial(run, scored=trials.is_scored(trial))
    trials.end(trial)


def test_no_more_trials_begin_than_may_run(tmp_path: Path) -> None:
    trials = make(tmp_path, (1, 2), at_once=2)
    first, second = begin(trials), begin(trials)
    assert (first, second) == (key(trials, "baseline"), key(trials, "other"))
    assert trials.next() is None and trials.running == 2
    trials.end(first, "out of memory")
    assert trials.next() == key(trials, "baseline", 2) and trials.next() is None
    assert trials.progress[first] == "failed" and trials.errors == {first: "out of memory"}


@pytest.mark.trains
@pytest.mark.parametrize("quick", [False, True])
def test_a_trial_waits_for_the_models_of_its_operators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: bool
) -> None:
    if quick:  # texts that are made while the next trial is looked for
        monkeypatch.setattr(
            "augury.sweeping.trials.ThreadPoolExecutor",
            lambda *settings: SimpleNamespace(submit=lambda make, step: make(step)),
        )
    trials = make(tmp_path, systems={"back": {"augment": [BACK]}}, at_once=3, texts_beside=True)
    baseline, translator = begin(trials), begin(trials)
    assert baseline == key(trials, "baseline")
    assert trials.next() is None
    train(trials, translator)
    back = trials.next()
    while back is None and trials.waits_for_texts:
        back = trials.next()
    assert back == key(trials, "back")
    assert not trials.run_of(translator).folder.exists("scores.json")


def test_nothing_waits_for_a_model_that_failed(tmp_path: Path) -> None:
    trials = make(tmp_path, systems={"back": {"augment": [BACK]}}, at_once=2)
    trials.next()
    translator = begin(trials)
    trials.end(translator, "diverged")
    assert trials.next() is None
    assert set(trials.errors) == {translator, key(trials, "back")}


@pytest.mark.trains
def test_what_is_trained_is_scored_first_by_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its outputs are stored; its scores by other metrics, for other experiments, stay."""
    first = make(tmp_path, at_once=2)
    begin(first)
    train(first, other := begin(first))
    trials = make(tmp_path, metrics=["chrf", "bleu"])
    assert trials.replay([key(trials, "baseline"), other]) == 0
    assert begin(trials) == other
    run = Run.read(trials.run_of(other).folder)
    monkeypatch.setattr(type(find_task("nmt")), "outputs", lambda *_: pytest.fail("decoded again"))
    train(trials, other)
    assert trials.progress[other] == "finished"
    again = make(tmp_path)
    assert again.replay([other]) == 1  # for the first experiment nothing has changed
    orders = [("bleu", "chrf"), ("bleu",), ("chrf", "bleu")]
    for metrics, asked in zip(orders, [(), *orders[1:]], strict=True):
        (system,) = load_groups([{1: run.folder}], metrics=asked)
        assert tuple(system.tests["test"]) == tuple(system.resampled["test"]) == metrics
