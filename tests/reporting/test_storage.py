"""Everything in a storage: the page over sweeps, reports and runs, and the frames."""

from __future__ import annotations

import json
from typing import Any

import pytest

from augury.cli import main
from augury.core.errors import UserError
from augury.reporting import experiment, storage
from augury.reporting.frames import compare
from augury.reporting.frames import results as results_frame
from tests.run_folders import load


@pytest.fixture
def folders(results: Any) -> list[Any]:
    correct = {"base": [1, 0, 0, 0] * 50, "cipher": [1, 1, 1, 0] * 50}
    return [
        results.classified(name, name[0] * 16, seed, correct=labels[seed:] + labels[:seed])
        for name, labels in correct.items()
        for seed in (1, 2)
    ]


def test_runs_by_tests_by_metrics(results: Any, folders: list[Any]) -> None:
    results.run("later", "dd" * 8)
    frame = results_frame(results.store.root)
    assert list(zip(frame["system"], frame["seed"], strict=True)) == [
        ("base", 1),
        ("base", 2),
        ("cipher", 1),
        ("cipher", 2),
    ]
    first = frame.iloc[0]
    assert (first["test"], first["metric"], first["value"], first["n"]) == (
        "test",
        "accuracy",
        25.0,
        200,
    )
    assert (
        first["low"] < 25 < first["high"]
        and first["train_seconds"] == 100.0
        and first["run"] == folders[0].uri
    )


def test_a_comparison_as_a_frame(results: Any, folders: list[Any]) -> None:
    root = results.store.root
    baseline, system = compare(f"{root}/runs/{'b' * 16}", f"{root}/runs/{'c' * 16}").to_dict(
        "records"
    )
    assert (baseline["seeds"], system["seeds"], system["difference"]) == ("1 2", "1 2", 50.0)
    assert (
        system["difference_low"] <= 50 <= system["difference_high"]
        and system["p_corrected"] == 0.01
    )
    with pytest.raises(UserError):
        compare(f"{root}/runs/{'b' * 16}", f"{root}/runs/none")


def test_an_empty_storage_has_a_frame_and_a_page(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(results_frame(tmp_path)) == 0 and "value" in results_frame(tmp_path).columns
    assert main(["watch", str(tmp_path), "--once"]) == 0
    assert (tmp_path / "index.html").exists()


def test_the_page_links_to_sweeps_and_reports(
    sweeps: Any, folders: list[Any], read: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    store = sweeps.results.store
    sweeps.trial(sweeps.configuration({"regime.beta": 1}), 1, [30])
    sweeps.load(question="<Which>?")
    systems = load(folders)
    shown = experiment.report(systems, "labels")
    experiment.write(shown, store.folder("reports", "labels"), systems)
    assert main(["watch", store.root, "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["sweeps"] == ["beta"]
    with open(written["page"], encoding="utf-8") as file:
        page = read(file.read())
    assert [link for link in page.links if not link.startswith("data:")] == [
        "sweeps/beta/index.html",
        "reports/labels/index.html",
    ]
    assert store.folder("sweeps", "beta").exists("index.html"), "a sweep without a page has got one"
    assert "<Which>?" in page.texts["p"] and any(
        "50.0 accuracy more" in text for text in page.texts["p"]
    )
    assert {"labels/base/1", "labels/cipher/2"} <= set(page.texts["th"])
    assert len(page.texts["script"]) == 2, "and no Plotly"


def test_reports_have_date_state_scores_and_the_analyses_of_their_runs(
    results: Any, folders: list[Any], read: Any
) -> None:
    store, systems = results.store, load(folders)
    lone = results.run("later", "dd" * 8)
    experiment.write(
        experiment.report(systems, "labels"), store.folder("reports", "labels"), systems
    )
    for run in folders:
        run.finish({})
    for run in (folders[0], folders[2]):
        run.sub("analyses/test-with-ab").write("outputs.html", "")
    lone.sub("analyses/valid").write("buckets.html", "")
    page = read(storage.render(store))
    labels = "outputs of base seed 1 and cipher seed 1 on test", "buckets of later seed 1 on valid"
    assert page.texts["a"][1:3] == [*labels], "of the report, then of other runs"
    assert page.links[2:4] == [
        f"{folders[0].name}/analyses/test-with-ab/outputs.html",
        f"{lone.name}/analyses/valid/buckets.html",
    ]
    assert "test: accuracy 25.0 base, 75.0 cipher" in page.texts["li"]
    assert any("4 of 4 runs scored" in text for text in page.texts["small"])
    assert {"scored", "unfinished"} <= {text.strip() for text in page.texts["td"]}
