"""Analyses of two tiny runs of one corpus, the second with a cipher: from folders to pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augury.analysis import outputs
from augury.analysis.analysis import ANALYSES, analyse, find, folder_of
from augury.analysis.system import open_systems
from augury.cli import main
from augury.core.errors import UserError
from augury.core.store import Folder
from augury.reporting import rendering
from augury.scoring.metric import Lines, SegmentMetric
from augury.sweeping.driver import run_experiment
from tests import tiny

pytestmark = pytest.mark.trains

Output = pytest.CaptureFixture[str]
NAMES = ["buckets", "correlation", "hallucinations", "outputs", "rare_subwords"]
SETTINGS: Mapping[str, Any] = {
    "hallucinations": {"subwords": 3},
    "rare_subwords": {"texts": ["ga tara"]},
}
LENGTHS = Path(__file__).parents[2] / "docs" / "examples" / "lengths.py"
HOSTILE = "</script><img src=http://evil.example/x onerror=alert(1)>"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Folder]:
    experiment = tiny.experiment(
        "nmt",
        tmp_path_factory.mktemp("analyses"),
        corpus={**tiny.PARALLEL, "tests": {"test": {"builtin": 40}}},
        systems={
            "plain": {},
            "cipher": {"augment": [{"operator": "cipher", "keys": [1]}], "regime": "multi_source"},
        },
    )
    runs, failures, *_ = run_experiment(experiment)
    assert not failures
    return [folder for seeds in runs.values() for folder in seeds.values()]


@pytest.mark.parametrize("name", NAMES)
def test_every_analysis_is_a_page_and_json_in_the_folder_of_every_run(
    name: str, folders: list[Folder]
) -> None:
    assert ANALYSES.names() == NAMES
    systems = open_systems(folders)
    systems[1] = replace(systems[1], name=HOSTILE)
    report = analyse(find(name, SETTINGS.get(name, {})), systems)
    assert rendering.text(report).endswith("\n".join([report.answer, *report.notes]) + "\n")
    for system in systems:
        folder = folder_of(systems, system)
        content = folder.read_record(f"{name}.json")
        assert [run["address"] for run in content["runs"]] == [
            system.run.address for system in systems
        ]
        assert content["answer"] == report.answer and content["results"]
        assert "<img" not in folder.read(f"{name}.html").decode()


class Length(SegmentMetric):
    """Words of the source."""

    title, needs_sources, signature = "length", True, "length"

    def score(self, hypotheses: Lines, references: Lines, sources: Lines) -> list[float]:
        return [len(line.split()) for line in sources]


def test_outputs_are_scored_by_a_metric_that_reads_sources(
    folders: list[Folder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "metric", Length)
    (system,) = open_systems(folders[:1])
    (value,) = outputs.OutputAnalysis().compute([system])["value"]
    assert value == pytest.approx(np.mean([len(line.split()) for line in system.sources]))


def test_the_same_sentences_are_drawn_for_all(folders: list[Folder]) -> None:
    first, second = open_systems(folders, sentences=7)
    assert first.rows == second.rows and len(first.sources) == 7
    assert first.references == second.references and second.views == ("plain", "rot-1")
    with pytest.raises(UserError, match="tset"):
        open_systems(folders, test="tset")


def test_a_failing_analysis_is_reported_and_does_not_stop_the_others(
    folders: list[Folder], capsys: Output
) -> None:
    run, words = folders[1].uri, ["--set", "hallucinations.subwords=2"]
    assert main(["analyze", run, "--sentences", "9", "--json", *words]) == 0
    output = capsys.readouterr()
    printed = json.loads(output.out)
    assert "correlation is skipped: 9 sentences" in output.err
    assert [*printed] == [name for name in NAMES if name != "correlation"]
    results = printed["outputs"]["results"]
    assert [result["view"] for result in results] == ["plain", "rot-1"]
    assert main(["analyze", run, run]) == 2
    assert main(["analyze", run, "--which", "correlation", "--sentences", "9"]) == 2


def test_an_analysis_from_outside_has_its_settings(folders: list[Folder], capsys: Output) -> None:
    words = ["analyze", folders[1].uri, "--which", str(LENGTHS)]
    assert main([*words, "--set", "lengths.view=rot-1", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["lengths"]
    assert result["settings"]["view"] == "rot-1" and result["results"][0]["references"] > 0
    assert main([*words, "--set", "lengths.veiw=plain"]) == 2
    assert "did you mean" in capsys.readouterr().err
