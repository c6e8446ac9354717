"""A storage with what operators, sweeps, reports and analyses add is read, kind by kind.

`tests/data/make_stored.py` has made it.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from augury.augment.translation import Translation
from augury.cli import main
from augury.core.execution import Execution
from augury.core.store import MANIFEST, SCHEMA, Folder, Store
from augury.core.verification import verify
from augury.corpora.corpus import Corpus, read_shard
from augury.corpora.references import read_references
from augury.decoding import checkpoint
from augury.decoding.settings import Decoding
from augury.experiments import redecoding
from augury.experiments.run import Run
from augury.reporting import bands, reported, run_files, run_list, run_names
from augury.reporting.decodings import named_decodings
from augury.reporting.selection import load_systems
from augury.reporting.sweeps.report import stored_summary
from augury.runs.record import RECORDS, RunRecord
from augury.sweeping import state
from augury.tracking.location import identity
from augury.tracking.runs import EXPERIMENTS, experiment_status
from augury.training import extend

DATA = Path(__file__).parents[1] / "data"
STORED = DATA / "stored_schema_1_kinds"
SOURCE = Path(__file__).parents[2] / "platform" / "augury"
SENTENCES = ["su rizo zopa kumu", "su rizo", "zopa rizo", "rizo kumu zopa"]
"""The test set."""
AUGMENTED, BASELINE, TRANSLATOR, REORDERER = (
    f"{address}/seed-1"
    for address in ("9024e7cde7537ccc", "4fc7e995ef91869e", "ff843c83c878d7f0", "56a9437233328bd5")
)
FINISHED, FAILED = "e98a1677bd03519d", "14bee3c125badd16"
"""The configurations of the sweep."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A copy, in which nothing can be changed for others."""
    return Store(shutil.copytree(STORED, tmp_path_factory.mktemp("stored") / "results"))


@pytest.fixture(scope="module")
def run(store: Store) -> Run:
    """The run of the system with all operators."""
    return Run.read(store.folder("runs", AUGMENTED))


@pytest.fixture(scope="module")
def sweep(store: Store) -> state.Sweep:
    return state.load(store, "rates")


def test_every_kind_is_kept() -> None:
    kinds = {
        kind
        for file in SOURCE.rglob("*.py")
        for kind in re.findall(r'^KIND\b.*? = "([a-z_]+)"', file.read_text(), re.MULTILINE)
    }
    folders = {
        path.name
        for stored in (DATA / "stored_schema_1", STORED)
        for path in stored.rglob("*")
        if path.is_dir()
    }
    assert {"word_orders", "sweeps", "converted"} <= kinds <= folders


def test_every_json_file_has_a_schema_or_is_in_a_folder_that_has() -> None:
    of_folders = {
        file.parent
        for file in STORED.rglob(MANIFEST)
        if json.loads(file.read_text())["schema"] == SCHEMA
    }
    without = [
        file
        for file in STORED.rglob("*.json")
        if of_folders.isdisjoint(file.parents) and "schema" not in json.loads(file.read_text())
    ]
    assert len(of_folders) > 50 and not without


def test_it_says_nothing_of_where_it_was_made() -> None:
    texts = [path for path in STORED.rglob("*") if path.suffix in (".json", ".yaml", ".jsonl")]
    absolute = re.compile(r"(?<![\w.:/])/(?:tmp|root|home|work|usr|var)/")
    assert len(texts) > 100
    assert not [path for path in texts if absolute.search(path.read_text())]


def test_nothing_is_damaged_or_without_checksum(store: Store) -> None:
    checked = list(verify(store, RECORDS))
    assert len(checked) > 200
    assert not [file.name for file in checked if file.damage or file.earlier]
    assert main(["verify", store.root]) == 0


def test_records_are_read(run: Run) -> None:
    made = {health.name: health.made for health in run.health if health.name in run.records}
    assert made == {
        "noise": 60,
        "back_translation": 6,
        "forward_translation": 6,
        "generate": 3,
        "reorder-qab": 60,
    }
    noise = run.stored_folder(run.records["noise"])
    (shard,) = noise.manifest()["shards"]
    lineage = read_shard(noise, shard).column("lineage")[0].as_py()
    assert (lineage["parents"], lineage["copy"]) == (["train-00000001"], 1)


def test_answers_of_a_language_model_are_read(store: Store) -> None:
    (address,) = store.addresses("generated")
    folder = store.folder("generated", address)
    (shard,) = folder.manifest()["shards"]
    texts = read_shard(folder, shard).column("text").to_pylist()
    assert len(texts) == 60 and texts.count("su rizo") == 7


def test_translations_are_found_and_read(store: Store, run: Run) -> None:
    """Without the model, so that they would not be made."""
    texts = Corpus(store.folder("corpora", "4413465316d2c6fc"))
    model: Any = SimpleNamespace(name=f"runs/{TRANSLATOR}", on_gpu=False)
    (outputs,) = Translation(texts, "text", model).hypotheses(store, Execution(), "translate")
    assert len(outputs) == 6 and all(outputs)


def test_a_converted_checkpoint_translates(store: Store) -> None:
    (address,) = store.addresses(checkpoint.KIND)
    folder = store.folder(checkpoint.KIND, address)
    search = checkpoint._decoding(folder, 32, None, 1)
    (ids,) = search([[6, 1]], Decoding(beam=1))
    assert list(ids[:4]) == [3, 4, 5, 6]  # the words of its sentence


def test_references_and_a_noisy_test_set_are_read(run: Run) -> None:
    assert read_references(run.stored_folder(run.references["test"])) == [SENTENCES]
    noisy = run.corpus("noisy")
    assert noisy.manifest["noise"]["spelling"] == 0.2 and noisy.column("target") == SENTENCES
    assert noisy.column("source") != SENTENCES


def test_word_orders_are_read(store: Store) -> None:
    (system,) = load_systems([store.folder("runs", BASELINE).uri], store.root)
    orders = bands.distances_to("test", system, ["test", "noisy"])
    assert orders == {"noisy": bands.WordOrder(7, 0)}
    assert len(store.addresses(bands.KIND)) == 1


def test_kept_decodings_are_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(redecoding, "find_task")  # nothing is decoded
    decodings = named_decodings(run, ["rot-1"], [], {})
    results = [redecoding.decode_test_set(run, "test", how) for how in decodings.values()]
    assert [result.outputs[2].split()[:2] for result in results] == [["n", "rizofi"], ["n", "nfi"]]


def test_analyses_are_read(store: Store, run: Run) -> None:
    ((name, folder),) = run_files.analyses(run.folder).items()
    content = folder.read_json("outputs.json")
    assert (name, content["test"], content["lines"]) == ("analyses/test", "test", [1, 2, 3, 4])
    (address,) = store.addresses(run_files.ANALYSES)
    keys = store.folder(run_files.ANALYSES, address).read_json("keys.json")
    assert keys["settings"]["keys"] == [1, 2]


def test_a_report_is_found(store: Store) -> None:
    assert reported.latest(store, "kinds").name == "reports/kinds"
    assert reported.systems(store, "kinds") == {
        "baseline": [f"runs/{BASELINE}"],
        "augmented": [f"runs/{AUGMENTED}"],
    }


def test_names_tags_and_failures_are_read(store: Store) -> None:
    runs = {stored.folder.name.split("/")[1]: stored for stored in run_list.stored(store)}
    label = runs[AUGMENTED.split("/")[0]].label
    assert label == run_names.Label("kept", ("checked",))
    assert runs[FAILED].state == "failed" and runs[FINISHED].state == "scored"


def test_beginnings_that_others_may_continue_are_found(run: Run) -> None:
    assert run.prefix is not None
    entries = extend._entries(run.folder, run.prefix, run.seed)
    assert entries.read(run.address).decode() == run.folder.name


def test_records_of_tracking_are_read(store: Store) -> None:
    status, _ = experiment_status(store.folder(EXPERIMENTS, "kinds"))
    assert status == "FINISHED"
    before = Folder(store.root, "").read("storage.json")
    assert identity(store).startswith("results-")
    assert Folder(store.root, "").read("storage.json") == before


def test_a_sweep_is_read(sweep: state.Sweep) -> None:
    assert (sweep.ended, sweep.count("finished"), sweep.count("failed")) == (True, 1, 1)
    (trial,) = sweep.by_address[FAILED].trials
    assert (trial.error or "").startswith("Diverged: update 2: loss nan")
    assert sweep.by_address[FINISHED].trials[0].curve[-1].value == pytest.approx(5.031, abs=1e-3)


def test_the_summary_of_a_sweep_is_read(sweep: state.Sweep) -> None:
    summary = stored_summary(sweep)
    assert (summary["schema"], summary["recommended"]) == (SCHEMA, FINISHED)
    assert summary["failed"] == 1


def test_costs_count_the_models_of_operators(run: Run) -> None:
    cost = RunRecord.read(run.folder).cost
    assert cost is not None and cost.trainings == 3 and len(cost.uncounted) == 2


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["runs", "{storage}"], "kept #checked"),
        (["compare", "kinds/baseline", "kinds/augmented", "--storage", "{storage}"], "kept"),
        (["watch", "{storage}", "--once"], "index.html"),
        (["watch", "rates", "--storage", "{storage}", "--once"], "sweeps/rates/index.html"),
    ],
    ids=["runs", "compare", "storage", "sweep"],
)
def test_commands_work_on_it(
    store: Store, capsys: pytest.CaptureFixture[str], arguments: list[str], shown: str
) -> None:
    assert main([word.format(storage=store.root) for word in arguments]) == 0
    output = capsys.readouterr()
    assert shown in output.out + output.err
