from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.tracking import Tracking, place
from augury.sweeping.state import Sweep
from augury.tracking.backend import Status
from augury.tracking.groups import Groups, concluded
from augury.tracking.ledger import ledger, note
from augury.tracking.mirror import Mirror
from tests.tracking.reading import search, values

A, B = "aa" * 8, "bb" * 8


@pytest.fixture
def groups(database: str, store: Store) -> Groups:
    return again(database, store)


def again(database: str, store: Store) -> Groups:
    """What the next process begins with."""
    return Groups(Mirror(place(Tracking(uri=database), store), "augury"))


def bring(groups: Groups, sweep: Sweep, status: Status | None = None) -> list[str]:
    """Bring all in line; what something was sent of."""
    return [step.name for step in groups.steps(sweep, status or concluded(sweep)) if step.work()]


def done(trials: Any) -> None:
    """Both configurations with both seeds, trained and scored."""
    for address, seed, valid, test in [(A, 1, 10, 20), (A, 2, 12, 21), (B, 1, 14, 24), (B, 2, 18, 26)]:
        trials.trial(address, seed, "finished", valid, test).describe(
            name=address[:2], address=address, seed=seed, parameters={"regime.beta": 5, "model.layers": 2}
        )


def test_seeds_stand_under_configurations_under_the_sweep(groups: Groups, trials: Any, database: str) -> None:
    done(trials)
    bring(groups, trials.load(ended=True))
    found = search(database)
    assert set(found) == {"beta", "baseline", "regime.beta=5", "aa seed 1", "aa seed 2", "bb seed 1", "bb seed 2"}
    titles = {run.info.run_id: name for name, run in found.items()}
    parents = {name: titles.get(run.data.tags.get("mlflow.parentRunId")) for name, run in found.items()}
    assert parents == {
        "beta": None,
        "baseline": "beta",
        "regime.beta=5": "beta",
        "aa seed 1": "baseline",
        "aa seed 2": "baseline",
        "bb seed 1": "regime.beta=5",
        "bb seed 2": "regime.beta=5",
    }
    assert {run.info.status for run in found.values()} == {"FINISHED"}


def test_filters_find_what_compares(groups: Groups, trials: Any, database: str) -> None:
    done(trials)
    trials.configuration("cc" * 8, {"regime.beta": 9})
    trials.trial("cc" * 8, 1, "stopped", 5).describe(name="cc", address="cc" * 8, seed=1, parameters={})
    trials.stop("cc" * 8)
    bring(groups, trials.load(ended=True))
    comparing = "tags.augury.sweep = 'beta' and tags.augury.level = 'configuration'"
    assert set(search(database, comparing)) == {"baseline", "regime.beta=5", "regime.beta=9"}
    assert set(search(database, f"{comparing} and attributes.status = 'FINISHED'")) == {"baseline", "regime.beta=5"}
    assert set(search(database, f"{comparing} and tags.augury.state LIKE 'stopped%'")) == {"regime.beta=9"}
    assert set(search(database, f"{comparing} and params.`regime.beta` = '5'")) == {"regime.beta=5"}
    assert set(search(database, f"{comparing} and metrics.`test/test/bleu` > 24")) == {"regime.beta=5"}
    assert set(search(database, f"tags.augury.address = '{B}'")) == {"bb seed 1", "bb seed 2"}
    assert set(search(database, "tags.augury.level = 'sweep'")) == {"beta"}


def test_a_configuration_has_the_numbers_of_its_seeds(groups: Groups, trials: Any, database: str) -> None:
    done(trials)
    bring(groups, trials.load(ended=True))
    metrics = search(database)["regime.beta=5"].data.metrics
    pooled = (1**2 * 2 + 2**2 * 2) ** 0.5 / 2**0.5  # over both configurations, two degrees of freedom: t = 4.3027
    half = 4.302653 * pooled / 2**0.5
    assert {name: metrics[name] for name in metrics if name.startswith("best")} == {
        "best/valid/bleu": 16.0,
        "best/valid/bleu/seeds": 2.0,
        "best/valid/bleu/sd": pytest.approx(8**0.5),
        "best/valid/bleu/low": pytest.approx(16 - half),
        "best/valid/bleu/high": pytest.approx(16 + half),
    }
    assert (metrics["test/test/bleu"], metrics["test/test/bleu/seeds"]) == (25.0, 2.0)
    assert metrics["test/test/bleu/sd"] == pytest.approx(2**0.5)
    assert metrics["test/test/bleu/low"] < 24.0 < 26.0 < metrics["test/test/bleu/high"]
    cost = {"parameters": 1200.0, "data_factor": 3.0, "train_seconds": 20.0, "device_hours": 0.0056}
    assert {name: metrics[name] for name in metrics if name.startswith("cost")} == {
        f"cost/{name}": value for name, value in cost.items()
    }
    assert search(database)["bb seed 2"].data.metrics["best/valid/bleu"] == 18.0


def test_the_sweep_has_its_answer_counts_and_files(groups: Groups, trials: Any, database: str) -> None:
    done(trials)
    trials.folder.write("index.html", "<p>31")
    note(trials.folder, status="FINISHED", finished=1.7e9 + 2000, answer="Beta 5 helps by 4.5 BLEU.")
    bring(groups, trials.load(ended=True))
    found = search(database)["beta"]
    assert (found.info.status, found.info.start_time, found.info.end_time) == (
        "FINISHED",
        1_700_000_000_000,
        1_700_002_000_000,
    )
    tags = found.data.tags
    assert (tags["augury.answer"], tags["augury.best"], tags["augury.best_configuration"], tags["augury.trials"]) == (
        "Beta 5 helps by 4.5 BLEU.",
        "regime.beta=5",
        B,
        "4 finished",
    )
    assert "**Beta 5 helps by 4.5 BLEU.**" in tags["mlflow.note.content"]
    assert {name: found.data.metrics[name] for name in ("trials/finished", "trials/failed", "trials/stopped")} == {
        "trials/finished": 4.0,
        "trials/failed": 0.0,
        "trials/stopped": 0.0,
    }
    assert found.data.metrics["cost/training_hours"] == pytest.approx(4 * 36 / 3600)
    assert found.data.metrics["best/valid/bleu"] == 16.0
    trials.folder.write("index.html", "<p>32")
    note(trials.folder, finished=1.7e9 + 3000)
    bring(groups, trials.load(ended=True))
    client = MlflowClient(database)
    assert [entry.path for entry in client.list_artifacts(found.info.run_id)] == ["index.html", "sweep.json"]
    assert Path(client.download_artifacts(found.info.run_id, "index.html")).read_text() == "<p>32"


def test_hypotheses_are_kept_of_the_best_configuration(groups: Groups, trials: Any, database: str) -> None:
    done(trials)
    bring(groups, trials.load(ended=True))
    client, found = MlflowClient(database), search(database)
    kept = {
        name: [entry.path for entry in client.list_artifacts(found[name].info.run_id)]
        for name in ("aa seed 1", "bb seed 1", "bb seed 2")
    }
    files = ["experiment.yaml", "hypotheses", "run.json", "scores.json"]
    assert kept == {"aa seed 1": [], "bb seed 1": files, "bb seed 2": files}


def test_what_is_in_line_is_left_alone(groups: Groups, trials: Any, database: str, store: Store) -> None:
    done(trials)
    sweep = trials.load(ended=True)
    sent = bring(groups, sweep)
    assert (len(sent), len(set(sent))) == (8, 7)  # seven runs; that of the sweep is made first and concluded last
    before = {name: (run.info.end_time, run.data) for name, run in search(database).items()}
    assert bring(groups, sweep) == []
    assert bring(again(database, store), sweep) == []
    after = {name: (run.info.end_time, run.data) for name, run in search(database).items()}
    assert {name: (end, data.metrics, data.params, data.tags) for name, (end, data) in after.items()} == {
        name: (end, data.metrics, data.params, data.tags) for name, (end, data) in before.items()
    }
    assert values(database, search(database)["regime.beta=5"], "test/test/bleu") == [25.0]


def test_the_next_process_continues_every_run(groups: Groups, trials: Any, database: str, store: Store) -> None:
    trials.trial(A, 1, "running", 10).describe(name="aa", address=A, seed=1)
    bring(groups, trials.load())
    before = search(database)
    assert {name: run.info.status for name, run in before.items()} == {
        "beta": "RUNNING",
        "baseline": "RUNNING",
        "aa seed 1": "RUNNING",
    }
    assert before["aa seed 1"].data.tags["augury.state"] == "running"
    assert "best/valid/bleu" not in before["aa seed 1"].data.metrics
    done(trials)
    later = again(database, store)
    bring(later, trials.load(ended=True))
    after = search(database)
    assert {name: after[name].info.run_id for name in before} == {name: run.info.run_id for name, run in before.items()}
    assert {run.info.status for run in after.values()} == {"FINISHED"}
    assert values(database, after["aa seed 1"], "valid/bleu") == [5.0, 10.0]
    assert len(after) == 7


def test_lost_ledgers_find_their_runs_again(groups: Groups, trials: Any, database: str, store: Store) -> None:
    done(trials)
    bring(groups, trials.load(ended=True))
    before = search(database)
    for folder in (trials.folder, store.folder("runs", f"{A}/seed-1")):
        folder.remove("tracking.json")
    bring(again(database, store), trials.load(ended=True))
    after = search(database)
    assert {name: run.info.run_id for name, run in after.items()} == {
        name: run.info.run_id for name, run in before.items()
    }
    assert values(database, after["aa seed 1"], "valid/bleu") == [5.0, 10.0]


def test_another_store_gets_everything(
    groups: Groups, trials: Any, database: str, store: Store, tmp_path: Path, empty_database: Path
) -> None:
    done(trials)
    bring(groups, trials.load(ended=True))
    (tmp_path / "other.db").write_bytes(empty_database.read_bytes())
    other = f"sqlite:///{tmp_path}/other.db"
    bring(again(other, store), trials.load())
    first, second = search(database), search(other)
    assert {name: run.data.metrics for name, run in second.items()} == {
        name: run.data.metrics for name, run in first.items()
    }
    client = MlflowClient(other)
    assert len(client.list_artifacts(second["beta"].info.run_id)) == 1
    assert len(client.list_artifacts(second["bb seed 1"].info.run_id)) == 4


def test_a_seed_more_changes_the_mean(groups: Groups, trials: Any, database: str, store: Store) -> None:
    done(trials)
    bring(groups, trials.load(ended=True))
    trials.asked["seeds"] = [1, 2, 3]
    trials.trial(B, 3, "running")
    later = again(database, store)
    bring(later, trials.load(ended=False), "RUNNING")
    during = search(database)["regime.beta=5"]
    assert (during.info.status, during.data.metrics["test/test/bleu/seeds"]) == ("RUNNING", 2.0)
    trials.trial(B, 3, "finished", 16, 31)
    bring(later, trials.load(ended=True), "FINISHED")
    after = search(database)["regime.beta=5"]
    assert (after.info.run_id, after.info.status) == (during.info.run_id, "FINISHED")
    assert after.data.metrics["test/test/bleu"] == 27.0
    assert after.data.metrics["test/test/bleu/seeds"] == 3.0
    assert values(database, after, "test/test/bleu") == [25.0, 27.0]
    assert set(json.loads(after.data.tags["augury.seeds"])) == {"1", "2", "3"}


def test_a_narrower_sweep_shows_fewer_seeds(groups: Groups, trials: Any, database: str, store: Store) -> None:
    done(trials)
    bring(groups, trials.load(ended=True))
    trials.asked["seeds"] = [1]
    bring(again(database, store), trials.load(ended=True))
    found = search(database)["regime.beta=5"].data
    assert (found.metrics["test/test/bleu"], found.metrics["test/test/bleu/seeds"]) == (24.0, 1.0)
    assert math.isnan(found.metrics["test/test/bleu/sd"])
    assert list(json.loads(found.tags["augury.seeds"])) == ["1"]


def test_two_sweeps_share_a_run(groups: Groups, trials: Any, database: str, store: Store) -> None:
    done(trials)
    bring(groups, trials.load(ended=True))
    other = type(trials)(store, "wide")
    other.configuration(B, {"regime.beta": 5})
    other.asked["started"] += 5000
    bring(again(database, store), other.load(ended=True))
    found = search(database, "tags.augury.sweep = 'beta'")
    ours = search(database, "tags.augury.sweep = 'wide'")
    assert set(found) == {"beta", "baseline", "regime.beta=5", "aa seed 1", "aa seed 2", "bb seed 1", "bb seed 2"}
    assert set(ours) == {"wide", "regime.beta=5"}
    seeds = {"1": found["bb seed 1"].info.run_id, "2": found["bb seed 2"].info.run_id}
    assert json.loads(ours["regime.beta=5"].data.tags["augury.seeds"]) == seeds
    assert ours["regime.beta=5"].data.metrics["test/test/bleu"] == 25.0
    assert f"runs/{seeds['2']}) finished" in ours["regime.beta=5"].data.tags["mlflow.note.content"]
    parent = found["bb seed 1"].data.tags["mlflow.parentRunId"]
    assert parent == found["regime.beta=5"].info.run_id


def test_a_run_of_train_stays_where_it_is(groups: Groups, trials: Any, database: str, store: Store) -> None:
    run = trials.trial(A, 1, "finished", 10, 20)
    run.describe(name="plain", address=A, seed=1)
    groups.mirror.deliver(run.folder)
    before = search(database)["plain seed 1"]
    bring(again(database, store), trials.load(ended=True))
    found = search(database)
    assert set(found) == {"plain seed 1", "beta", "baseline"}
    after = found["plain seed 1"]
    assert (after.data.tags, after.data.params) == (before.data.tags, before.data.params)
    assert json.loads(found["baseline"].data.tags["augury.seeds"]) == {"1": before.info.run_id}
    assert found["baseline"].data.metrics["test/test/bleu"] == 20.0


def test_a_later_sweep_takes_a_stopped_run_further(groups: Groups, trials: Any, database: str, store: Store) -> None:
    trials.trial(B, 1, "stopped", 5).describe(name="bb", address=B, seed=1)
    trials.stop(B)
    early = trials.load(ended=True)
    bring(groups, early)
    assert search(database)["bb seed 1"].data.tags["augury.state"] == "stopped at rung 1"
    other = type(trials)(store, "wide")
    other.configuration(B, {"regime.beta": 5})
    other.say(B, 1, "running")
    other.stands["time"] += 500
    later = again(database, store)
    bring(later, other.load())
    seed = f"tags.augury.run = 'runs/{B}/seed-1'"
    during = search(database, seed)["bb seed 1"]
    assert (during.info.status, during.data.tags["augury.state"]) == ("RUNNING", "running")
    bring(again(database, store), early)  # an old word does not count
    assert ledger(store.folder("runs", f"{B}/seed-1"))["status"] == "RUNNING"
    trials.trial(B, 1, "finished", 14, 24).describe(name="bb", address=B, seed=1)
    bring(later, other.load(ended=True))
    after = search(database, seed)["bb seed 1"]
    assert (after.info.run_id, after.info.status) == (during.info.run_id, "FINISHED")


def test_states_are_told_as_they_are(groups: Groups, trials: Any, database: str, store: Store) -> None:
    for index, progress in enumerate(("stopped", "failed", "paused", "running")):
        trials.configuration(f"{index}" * 16, {"regime.beta": index})
        trials.trial(f"{index}" * 16, 1, progress, 5).describe(name=progress, address=f"{index}" * 16, seed=1)
    trials.stop("0" * 16, rung=2)
    trials.say("1" * 16, 1, "failed", "loss is NaN")

    def states() -> dict[str, tuple[str, str]]:
        return {name: (run.info.status, run.data.tags.get("augury.state")) for name, run in search(database).items()}

    bring(groups, trials.load(), "RUNNING")
    stopped, failed, runs = ("KILLED", "stopped at rung 2"), ("FAILED", "failed: loss is NaN"), ("RUNNING", "running")
    assert states() == {
        "beta": ("RUNNING", None),
        "stopped seed 1": stopped,
        "failed seed 1": failed,
        "paused seed 1": runs,
        "running seed 1": runs,
        "regime.beta=0": stopped,
        "regime.beta=1": runs,
        "regime.beta=2": runs,
        "regime.beta=3": runs,
    }
    note(trials.folder, status="KILLED", finished=1.7e9 + 2000)
    bring(groups, trials.load(), "KILLED")
    left = ("KILLED", "interrupted")
    assert states() == {
        "beta": ("KILLED", None),
        "stopped seed 1": stopped,
        "failed seed 1": failed,
        "paused seed 1": left,
        "running seed 1": left,
        "regime.beta=0": stopped,
        "regime.beta=1": left,
        "regime.beta=2": left,
        "regime.beta=3": left,
    }
    assert "failed, loss is NaN" in search(database)["regime.beta=1"].data.tags["mlflow.note.content"]
    trials.say("1" * 16, 1, "running")
    trials.say("2" * 16, 1, "waiting")
    bring(again(database, store), trials.load(), "RUNNING")
    assert states()["failed seed 1"] == runs
    assert states()["paused seed 1"] == left
    assert states()["running seed 1"] == runs
    assert states()["beta"] == ("RUNNING", None)


def test_a_killed_driver_leaves_no_seed_running(groups: Groups, trials: Any, database: str, store: Store) -> None:
    trials.trial(A, 1, "running", 10).describe(name="aa", address=A, seed=1)
    bring(groups, trials.load(), "RUNNING")
    trials.trial(A, 2, "finished", 10, 20).describe(name="aa", address=A, seed=2)
    trials.say(A, 1, "waiting")  # the next driver has not come back to it when it ends
    bring(again(database, store), trials.load(ended=True))
    found = search(database)
    assert found["aa seed 1"].info.status == "KILLED"
    assert found["beta"].info.status == "FINISHED"


def test_scores_made_anew_are_sent(groups: Groups, trials: Any, database: str, store: Store) -> None:
    done(trials)
    bring(groups, trials.load(ended=True))
    trials.trial(B, 1, "finished", test=28).describe(name="bb", address=B, seed=1)
    bring(again(database, store), trials.load(ended=True))
    found = search(database)
    assert found["bb seed 1"].data.metrics["test/test/bleu"] == 28.0
    assert found["regime.beta=5"].data.metrics["test/test/bleu"] == 27.0


def test_a_damaged_run_does_not_hold_up_the_others(groups: Groups, trials: Any, database: str, store: Store) -> None:
    done(trials)
    sweep = trials.load(ended=True)
    history = store.folder("runs", f"{A}/seed-1").sub("history")
    content = history.read("00000050.jsonl")
    history.write("00000050.jsonl", '{"update": 3}')
    refused = []
    for step in groups.steps(sweep, concluded(sweep)):
        try:
            step.work()
        except UserError as error:
            refused.append((step.name, str(error)))
    ((name, said),) = refused
    assert name == f"runs/{A}/seed-1"
    assert "00000050.jsonl is damaged" in said
    assert search(database)["baseline"].data.metrics["test/test/bleu"] == 21.0
    assert not ledger(trials.folder)["closed"]
    history.write("00000050.jsonl", content)
    bring(groups, sweep)
    assert search(database)["baseline"].data.metrics["test/test/bleu"] == 20.5
    assert ledger(trials.folder)["closed"] == sweep.updated


def test_a_seed_costs_three_calls(groups: Groups, trials: Any) -> None:
    done(trials)
    sweep = trials.load(ended=True)
    calls = {}
    for step in groups.steps(sweep, concluded(sweep)):
        before = groups.mirror.backend.sent
        step.work()
        calls[step.name] = groups.mirror.backend.sent - before
    assert calls[f"runs/{B}/seed-2"] == 3  # made, filled, ended
    assert calls[f"runs/{B}/seed-1"] == 4  # and the run of its configuration made
    assert calls[f"sweeps/beta/{B}"] == 4  # filled, one file, inputs, ended


def test_the_texts_caution_stands_at_every_level(groups: Groups, trials: Any, database: str, store: Store) -> None:
    store.folder("corpora", "a" * 16).finish({"note": "synthetic text"})
    done(trials)
    bring(groups, trials.load(ended=True))
    assert all("synthetic text" in run.data.tags["mlflow.note.content"] for run in search(database).values())
