from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

from augury.core.store import Store
from augury.experiments.tracking import Tracking, place
from augury.tracking.backend import Backend, Content, File, Value


@pytest.fixture
def backend(database: str, store: Store) -> Backend:
    return Backend(place(Tracking(uri=database), store), "augury")


def history(backend: Backend, run_id: str, metric: str) -> list[tuple[int, float]]:
    return [(point.step, point.value) for point in backend.open().get_metric_history(run_id, metric)]


def test_a_run_is_filled_and_ended_in_three_calls(backend: Backend) -> None:
    record = backend.create("first", {"augury.run": "runs/a"}, 1.7e9)
    content = Content(
        tags={"augury.run": "runs/a", "augury.state": "finished"},
        parameters={"beta": 5, "keys": [1, 2]},
        points=[Value("loss", 4.0, 1.7e9 + 1, 10), Value("loss", 3.0, 1.7e9 + 2, 20)],
        values=[Value("bleu", 30.0, 1.7e9 + 3, 20)],
    )
    backend.bring(record, content, "FINISHED", 1.7e9 + 4)
    assert backend.sent == 3
    found = backend.get(record.run_id)
    assert found is not None
    assert (found.status, found.finished, found.parameters) == (
        "FINISHED",
        1_700_000_004_000,
        {"beta": "5", "keys": "[1, 2]"},
    )
    assert found.metrics == {"loss": 3.0, "bleu": 30.0}
    assert {key: found.tags[key] for key in content.tags} == content.tags
    assert history(backend, record.run_id, "loss") == [(10, 4.0), (20, 3.0)]


def test_what_is_there_costs_no_call(backend: Backend) -> None:
    record = backend.create("first", {}, 1.7e9)
    inputs = [{"name": "train", "address": "a" * 16, "rows": 9}]
    values = [Value("bleu", 30.0, 1.7e9, 0), Value("loss", None, 1.7e9, 0)]
    content = Content({"a": "b"}, {"beta": 5}, [], values, inputs)
    backend.bring(record, content, "FINISHED", 1.7e9)
    before = backend.sent
    backend.bring(record, content, "FINISHED", 1.7e9)
    found = backend.get(record.run_id)
    assert found is not None
    backend.bring(found, content, "FINISHED", 1.7e9)
    assert backend.sent == before
    assert math.isnan(found.metrics["loss"])
    later = Content(values=[Value("bleu", 31.0, 1.7e9 + 1, 0), Value("loss", None, 1.7e9 + 1, 0)])
    backend.bring(found, later, "FINISHED", 1.7e9 + 1)
    assert history(backend, record.run_id, "bleu") == [(0, 30.0), (0, 31.0)]
    assert len(history(backend, record.run_id, "loss")) == 1


def test_the_last_of_several_values_counts_even_if_it_is_smaller(backend: Backend) -> None:
    record = backend.create("first", {}, 1.7e9)
    for at, value in enumerate((31.0, 30.0)):
        backend.bring(record, Content(values=[Value("bleu", value, 1.7e9 + at, 0)]), "RUNNING")
    found = backend.get(record.run_id)
    assert found is not None
    assert found.metrics == {"bleu": 30.0}


def test_a_run_is_opened_and_ended_again(backend: Backend) -> None:
    record = backend.create("first", {}, 1.7e9)
    seen = []
    for status, finished in [("FAILED", 1.7e9 + 1), ("RUNNING", None), ("KILLED", 1.7e9 + 2), ("FINISHED", 1.7e9 + 3)]:
        backend.bring(record, Content(), status, finished)  # type: ignore[arg-type]
        found = backend.get(record.run_id)
        assert found is not None
        seen.append((found.status, found.finished))
    assert [status for status, _ in seen] == ["FAILED", "RUNNING", "KILLED", "FINISHED"]
    assert seen[3][1] == 1_700_000_003_000


def test_runs_are_found_by_tag_and_storage_page_by_page(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("augury.tracking.backend.RUNS_PER_SEARCH", 2)
    monkeypatch.setattr("augury.tracking.backend.IDS_PER_SEARCH", 3)
    made = [
        backend.create(f"{index}", {"augury.sweep": "beta", "augury.storage": storage}, 1.7e9).run_id
        for index, storage in enumerate(["/a", "/a", "/b", "/a", "/a", "/a"])
    ]
    backend.create("other", {"augury.sweep": "wide", "augury.storage": "/a"}, 1.7e9)
    ours = {made[index] for index in (0, 1, 3, 4, 5)}
    assert {record.run_id for record in backend.search("sweep", "beta", "/a")} == ours
    assert {record.run_id for record in backend.several([*made, "0" * 32])} == set(made)
    assert backend.several([]) == []


def test_a_deleted_run_is_not_there(backend: Backend) -> None:
    record = backend.create("first", {"augury.sweep": "beta", "augury.storage": "/a"}, 1.7e9)
    backend.open().delete_run(record.run_id)
    assert backend.get(record.run_id) is None
    assert backend.get("0" * 32) is None
    assert backend.search("sweep", "beta", "/a") == []


def test_a_file_takes_the_place_of_its_predecessor(backend: Backend, store: Store) -> None:
    record = backend.create("first", {}, 1.7e9)
    folder = store.folder("sweeps", "beta")
    for text in ("one", "two"):
        folder.write("index.html", text)
        backend.keep(record.run_id, [File(folder, "index.html", "page")])
    client = backend.open()
    assert [entry.path for entry in client.list_artifacts(record.run_id, "page")] == ["page/index.html"]
    assert Path(client.download_artifacts(record.run_id, "page/index.html")).read_text() == "two"


@pytest.mark.slow
def test_two_processes_may_make_one_store(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from augury.tracking.backend import Backend; "
        "from augury.experiments.tracking import Place; path = Path(sys.argv[1]); "
        "print(len(Backend(Place(f'sqlite:///{path}', '/nowhere', path), 'augury').open().search_experiments()))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "runs.db")]
    makers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [maker.communicate(timeout=120)[0] for maker in makers] == ["2\n", "2\n"]
