from __future__ import annotations

import os
from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.reporting.selection import load_systems
from tests.reporting.conftest import Results


def test_a_run_may_lie_below_a_directory_called_sweeps(tmp_path: Path) -> None:
    storage = str(tmp_path / "sweeps" / "mine")
    (tmp_path / "sweeps").mkdir()
    results = Results(Store(storage))
    folders = [results.run("base", "ab" * 8, bleu=30.0), results.run("other", "cd" * 8, bleu=31.0)]
    assert [
        system.name for system in load_systems([str(folder.uri) for folder in folders], storage)
    ] == [
        "base",
        "other",
    ]


def report(results: Results, name: str, age: int, **systems: Folder) -> None:
    """Write the summary of an experiment's report, `age` seconds ago."""
    folder = results.store.folder("reports", name)
    runs = {system: [run.name] for system, run in systems.items()}
    folder.write_record("report.json", {"title": name, "answer": "", "systems": runs})
    os.utime(folder.path("report.json"), (1_000_000 - age, 1_000_000 - age))


def names(words: list[Folder], results: Results) -> list[str]:
    return [system.name for system in load_systems([run.uri for run in words], results.store.root)]


def test_shared_runs_have_the_names_of_the_report_with_most_of_them(results: Results) -> None:
    """Not those of the part of another experiment that trained them first."""
    first, second, third = (
        results.run(name, address * 8, bleu=30.0)
        for name, address in (("translator", "aa"), ("Tune-S, first", "bb"), ("alone", "cc"))
    )
    assert names([first, second], results) == ["translator", "Tune-S, first"]
    report(results, "old", 30, base=first, tuned=second)
    report(results, "one", 5, other=first)
    assert names([first, second], results) == ["base", "tuned"]
    assert names([first, third], results) == ["other", "alone"]
    report(results, "new", 10, plain=first, ours=second)
    assert names([second, first], results) == ["ours", "plain"]


def test_a_report_names_all_its_systems(results: Results) -> None:
    runs = [results.run("first", address * 8, bleu=30.0) for address in ("aa", "bb")]
    unscored = results.run("later", "cc" * 8)
    report(results, "mine", 0, base=runs[0], ours=runs[1], later=unscored)
    systems = load_systems(["reports/mine"], results.store.root)
    assert [system.name for system in systems] == ["base", "ours"]
    assert [
        system.name for system in load_systems([f"{results.store.root}/reports/mine"], "elsewhere")
    ] == [
        "base",
        "ours",
    ]
    with pytest.raises(UserError, match="did you mean 'mine'"):
        load_systems(["reports/mime"], results.store.root)
