"""Analyses of runs, from folders to pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from augury.analysis.system import open_systems
from augury.cli import main
from augury.core.errors import UserError
from augury.core.store import Folder
from augury.reporting import rendering
from augury.reporting.analyses.analysis import ANALYSES, analyse, find, folder_of

pytestmark = pytest.mark.trains

NAMES = ("buckets", "correlation", "hallucinations", "outputs", "rare_subwords")
SETTINGS: Mapping[str, Any] = {"hallucinations": {"subwords": 3}}
LENGTHS = Path(__file__).parents[3] / "docs" / "examples" / "lengths.py"


def test_all_analyses_are_found() -> None:
    assert ANALYSES.names() == [*NAMES] and ANALYSES.group == "augury.analyses"


@pytest.mark.parametrize("name", NAMES)
def test_every_analysis_is_a_page_and_json_in_the_folder_of_every_run(
    name: str, folders: list[Folder], read: Callable[[str], Any], hostile: str
) -> None:
    systems = open_systems(folders)
    systems[1] = replace(systems[1], name=hostile)
    report = analyse(find(name, SETTINGS.get(name, {})), systems)
    assert rendering.text(report).endswith(
        f"{report.answer}\n" + "".join(f"{line}\n" for line in report.notes)
    )
    for system in systems:
        folder = folder_of(systems, system)
        assert folder.name.startswith(f"{system.run.folder.name}/analyses/test-with-")
        content = folder.read_record(f"{name}.json")
        assert [run["address"] for run in content["runs"]] == [
            system.run.address for system in systems
        ]
        assert content["answer"] == report.answer and content["results"]
        page = read(folder.read(f"{name}.html").decode())
        assert "img" not in page.tags
        assert {figure.name for figure in report.figures} <= set(page.ids)


def test_the_same_sentences_are_drawn_for_all(folders: list[Folder]) -> None:
    first, second = open_systems(folders, sentences=7)
    assert first.rows == second.rows and len(first.sources) == 7
    assert first.references == second.references
    assert second.views == ("plain", "rot-1")
    assert open_systems(folders, test="valid")[0].test == "valid"


def test_runs_that_cannot_be_analysed_are_refused(folders: list[Folder]) -> None:
    with pytest.raises(UserError, match="tset"):
        open_systems(folders, test="tset")


def test_the_command_prints_json_of_what_it_did(
    folders: list[Folder], capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["analyze", folders[1].uri, "--which", "outputs", "--sentences", "9", "--json"]) == 0
    )
    printed = json.loads(capsys.readouterr().out)
    (result,) = printed["outputs"]["results"]
    assert [view["view"] for view in result["views"]] == ["plain", "rot-1"]
    assert len(printed["outputs"]["lines"]) == 9
    assert main(["analyze", folders[1].uri, folders[1].uri]) == 2
    assert main(["analyze", folders[1].uri, "--which", "correlation", "--sentences", "9"]) == 2


def test_a_failing_analysis_is_reported_and_does_not_stop_the_others(
    folders: list[Folder], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", folders[0].uri, "--sentences", "9", "--subwords", "2"]) == 0
    output = capsys.readouterr()
    assert "correlation is skipped: 9 sentences" in output.err
    assert output.out.count("page ") == len(NAMES) - 1


def test_an_analysis_from_outside_has_its_settings_as_flags(
    folders: list[Folder], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--which", str(LENGTHS), "--view", "rot-1", "--json"]
    assert main(["analyze", folders[1].uri, *words]) == 0
    result = json.loads(capsys.readouterr().out)["lengths"]
    assert result["settings"]["view"] == "rot-1"
    assert result["results"][0]["references"] > 0


def test_an_unknown_analysis_names_the_nearest(
    folders: list[Folder], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", folders[0].uri, "--which", "bucket"]) == 2
    assert "buckets" in capsys.readouterr().err
