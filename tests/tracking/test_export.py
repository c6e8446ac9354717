"""What MLflow has of a storage after it was exported."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from augury.cli import main
from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.recording import Tracking
from augury.tracking.export import Exporter
from augury.training.trained import FAILURE
from tests.run_folders import ADDRESS, Run
from tests.tracking.conftest import B
from tests.tracking.reading import artifacts, curve, logged_runs, parents, states

NAME = "cipherdaug seed 3"


def export(store: Store, uri: str) -> int:
    return Exporter(Tracking(uri=uri), store).storage()


def test_a_run_stands_below_its_experiment(run: Any, database: str, store: Store) -> None:
    store.folder("corpora", "a" * 16).finish({"note": "synthetic text"})
    parameters = {"regime.name": "coregularised", "regime.beta": 5, "decoding.beam": 5}
    run.describe(parameters=parameters, differing=["regime.beta"])
    for at in (1, 2):
        validation = {"valid/bleu": 10.0 * at, "train/seconds": 59.0 * at}
        line = {"update": 50 * at, "epochs": 0.0, "time": 1.7e9 + 60 * at}
        run.record({**line, "metrics": validation})
    run.scores()
    run.folder.finish({})
    report = {"title": "ciphers", "answer": "It helps.", "systems": {}, "scores": {}}
    store.folder("reports", "ciphers").write_record("report.json", report)
    store.folder("reports", "ciphers").write("index.html", "<p>It helps.</p>")
    assert export(store, database) == 2
    assert parents(database) == {"ciphers": None, NAME: "ciphers"}
    runs = logged_runs(database)
    for known in runs.values():  # from the first update to the last, not from now to now
        period = (known.info.start_time, known.info.end_time)
        assert (known.info.status, *period) == ("FINISHED", 1_700_000_001_000, 1_700_000_120_000)
    settings = {"system": "cipherdaug", "regime.name": "coregularised", "regime.beta": "5"}
    assert runs[NAME].data.params == settings
    cost = {
        "cost/train_seconds": 20.0,
        "cost/cpu_seconds": 19.0,
        "cost/device_hours": 20 / 3600,
        "cost/parameters": 1200.0,
        "cost/data_factor": 3.0,
        "cost/updates": 200.0,
    }
    score = {"test/test/bleu": 31.5, "test/test/bleu/low": 29.0, "test/test/bleu/high": 34.0}
    trained = {"best/valid/bleu": 20.0, "valid/bleu": 20.0, "train/seconds": 118.0}
    assert runs[NAME].data.metrics == {**cost, **score, **trained}
    assert curve(database, runs[NAME], "test/test/bleu") == [(0, 31.5)]
    tags = runs[NAME].data.tags
    assert (tags["augury.address"], tags["signature/bleu"]) == (ADDRESS, "tok:13a")
    assert tags["mlflow.note.content"] == "synthetic text"
    assert runs["ciphers"].data.tags["mlflow.note.content"] == "It helps."
    assert tags["augury.key"] == run.folder.name
    files = {"experiment.yaml", "run.json", "scores.json", "hypotheses"}
    assert artifacts(database, runs[NAME]) == files
    assert artifacts(database, runs["ciphers"]) == {"index.html"}


def test_every_point_of_a_growing_curve_is_sent_once(run: Any, database: str, store: Store) -> None:
    run.history(50, 100)
    export(store, database)
    run.history(50, 250)  # rewritten by a restart
    run.history(300, 350)
    export(store, database)
    run.history(300, 450, delay=60.0)  # a restart trains these again
    export(store, database)
    points = curve(database, logged_runs(database)[NAME])
    assert sorted({*points}) == [(step, 1000 / step) for step in range(50, 451, 50)]
    assert len(points) <= 10  # the last one sent may stand twice
    line = {"update": 450, "epochs": 0.0, "time": 1.8e9}
    run.record({**line, "metrics": {"valid/bleu": 9.0}})
    export(store, database)
    assert curve(database, logged_runs(database)[NAME], "valid/bleu") == [(450, 9.0)]


def test_new_scores_are_sent(run: Any, database: str, store: Store) -> None:
    run.folder.write_record(FAILURE, {"error": "loss is NaN"})
    export(store, database)
    assert states(database)[NAME] == ("FAILED", "failed: loss is NaN")
    run.folder.remove(FAILURE)
    run.folder.finish({})
    for value in (31.5, 32.5):
        run.scores(value)
        export(store, database)
    known = logged_runs(database)
    assert states(database)[NAME] == ("FINISHED", "finished")
    assert curve(database, known[NAME], "test/test/bleu") == [(0, 31.5), (0, 32.5)]


def test_a_moved_store_is_refused_and_made_anew(tmp_path: Path, empty_database: Path) -> None:
    """MLflow keeps the absolute path of its files, and would write to where they were."""
    store = Store(tmp_path / "results")
    Run(store.folder("runs", f"{ADDRESS}/seed-3")).scores()
    shutil.copyfile(empty_database, f"{store.root}/mlflow.db")
    assert Exporter(Tracking(), store).storage() == 2
    moved = Store(shutil.copytree(store.root, tmp_path / "moved"))
    copy = Store(shutil.copytree(store.root, tmp_path / "copy"))
    shutil.rmtree(store.root)
    with pytest.raises(UserError, match=r"mlflow\.db was moved or copied"):
        Exporter(Tracking(), copy).storage()
    assert not Path(store.root).exists()
    shutil.copyfile(empty_database, f"{moved.root}/mlflow.db")
    assert Exporter(Tracking(), moved).storage() == 2


def test_a_damaged_run_of_a_sweep_is_one_row_that_says_so(
    run: Any, trials: Any, database: str, store: Store
) -> None:
    name = "scores.json"
    run.history(50, 100)
    trials.finish()
    export(store, database)
    folder = store.folder("runs", f"{B}/seed-2")
    folder.write(name, folder.read(name, verified=False)[:-5])
    export(store, database)
    known = states(database)
    status, state = known.pop(f"{folder.name} (damaged)")
    assert status == "FAILED" and state.startswith("damaged: ") and name in state
    assert len(known) == 6
    assert {status for row, (status, _) in known.items() if "seed" in row} == {"FINISHED"}


def test_what_is_sent_later_goes_where_the_experiment_file_said(
    run: Any, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run.describe(parameters={"tracking.uri": database, "tracking.experiment": "mine"})
    run.history(50, 100)
    assert main(["track", run.folder.root]) == 0
    assert f"MLflow experiment 'mine' at {database}" in capsys.readouterr().out
