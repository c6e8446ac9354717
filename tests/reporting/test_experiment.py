"""The page of an experiment shows every number, needs no network and runs nothing that texts
hold."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.reporting import experiment, rendering
from augury.reporting.comparison import comparison
from augury.reporting.results import SystemResult
from tests.run_folders import load

MOST_BYTES = 1_500_000


def render(results: Sequence[SystemResult], title: str) -> str:
    return rendering.page(experiment.report(results, title))


@pytest.fixture
def folders(results: Any) -> list[Any]:
    results.corpus(
        [("ein <b>Haus</b>", "a house"), ("zwei", "two"), ("drei", "three")], note="synthetic text"
    )
    history = [
        (10, {"train/loss": 4.0}),
        (20, {"train/loss": 3.0, "valid/bleu": 12.5, "train/seconds": 5.0}),
    ]
    runs = [
        results.run(
            "baseline", "aa" * 8, bleu=30.0, hypotheses=["a home", "too", ""], history=history
        ),
        results.run(
            "cipher & co",
            "bb" * 8,
            bleu=31.8,
            hypotheses=["a house", "two", "three"],
            history=history,
            parameters={"regime.beta": 5, "augment.0.keys": [1, 2]},
            seconds=250,
        ),
    ]
    runs[0].write(
        "experiment.yaml",
        "name: ciphers\nstorage: here\nexecution: {address: x, at_once: 2}\nseeds: [9]\n",
    )
    return runs


def test_the_page_shows_scores_costs_examples_and_how_to_repeat_it(
    folders: list[Any], read: Any
) -> None:
    html = render(load(folders), "ciphers")
    page = read(html)
    assert page.texts["h1"] == ["ciphers"] and "synthetic text" in page.texts["p"]
    cells = {text.strip() for tag in ("td", "small") for text in page.texts[tag]}
    assert {
        "31.8",
        "[30.8, 32.8]",
        "+1.8",
        "50.0",
        "4 min 10 s",
        "2.5 ×",
    } <= cells
    assert {"ein <b>Haus</b>", "a house", "a home", "too", "(empty)", "three"} <= set(
        page.texts["dd"]
    )
    assert {"regime.beta", "5", "augment.0.keys", "[1, 2]"} <= set(page.texts["code"])
    assert any("7e57" * 4 in cell and "3 rows" in cell for cell in page.texts["td"])
    (experiment,) = page.texts["pre"]
    assert (
        "seeds:\n- 1\n" in experiment and "storage" not in experiment and "at_once: 2" in experiment
    )


def test_its_charts_have_a_place_each_and_it_needs_no_network(
    folders: list[Any], read: Any
) -> None:
    html = render(load(folders), "ciphers")
    page = read(html)
    data = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html)
    assert data is not None
    names = list(json.loads(data[1]))
    assert names == [
        "valid-bleu-updates",
        "valid-bleu-time",
        "train-loss-updates",
        "train-loss-time",
        "cost",
    ]
    assert [name for name in page.ids if name in names] == names
    assert all(link.startswith("data:") for link in page.links)
    assert len(html) < MOST_BYTES and "plotly.js" in html
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert "url(" not in style and "@import" not in style


def test_it_holds_its_numbers_as_csv_and_latex(folders: list[Any], read: Any) -> None:
    links = read(render(load(folders), "ciphers")).links
    files = {
        link.partition(";")[0]: base64.b64decode(link.partition("base64,")[2]).decode()
        for link in links[1:]
    }
    rows = list(csv.DictReader(io.StringIO(files["data:text/csv"])))
    assert [(row["system"], row["metric"], row["value"]) for row in rows[:3:2]] == [
        ("baseline", "bleu", "30.0"),
        ("cipher & co", "bleu", "31.8"),
    ]
    assert "{}cipher \\& co &" in files["data:text/x-tex"]


def test_differences_have_interval_and_mark(results: Any, read: Any) -> None:
    labels = {"base": [1, 0, 0, 0] * 50, "cipher": [1, 1, 1, 0] * 50}
    systems = load(
        [
            results.classified(name, name[0] * 16, seed, correct=correct[seed:] + correct[:seed])
            for name, correct in labels.items()
            for seed in (1, 2)
        ]
    )
    page = read(render(systems, "labels"))
    row = comparison(systems, "test").rows[1]
    assert row.mark == "*"
    difference, _, interval = row.difference_text.partition(" ")
    assert (
        difference in {cell.strip() for cell in page.texts["td"]}
        and interval in page.texts["small"]
    )


def test_text_is_shown_and_never_run(results: Any, read: Any, hostile: str) -> None:
    results.corpus([(hostile, hostile)], note=hostile)
    history = [(1, {"train/loss": 1.0, "valid/bleu": 1.0})]
    folders = [
        results.run(
            name,
            address * 8,
            bleu=30.0,
            hypotheses=[hostile],
            history=history,
            signature=hostile,
            device=hostile,
            parameters={hostile: name, "note": hostile + name},
        )
        for name, address in ((hostile, "aa"), (f"other {hostile}", "bb"))
    ]
    page = read(render(load(folders), "ciphers"))
    assert "img" not in page.tags and all(link.startswith("data:") for link in page.links)
    assert page.texts["dd"] == [hostile] * 4


def test_no_section_that_does_not_apply(results: Any, read: Any) -> None:
    page = read(render(load([results.run("baseline", "aa" * 8, bleu=30.0)]), "ciphers"))
    assert len(page.texts["h2"]) == 2 and "plotly.js" not in "".join(page.texts["script"])


def test_no_page_before_there_are_scores(results: Any) -> None:
    with pytest.raises(UserError):
        render(load([results.run("baseline", "aa" * 8)]), "ciphers")


def test_several_test_sets_begin_with_their_mean(results: Any, read: Any) -> None:
    systems = []
    for system in load(
        [
            results.classified(name, name[0] * 16, seed, correct=correct)
            for seed in (1, 2)
            for name, correct in {"base": [1, 0, 0, 0] * 50, "cipher": [1, 1, 1, 0] * 50}.items()
        ]
    ):
        tests, drawn = system.tests["test"], system.resampled["test"]
        systems.append(
            replace(system, tests={"en": tests, "sw": tests}, resampled={"en": drawn, "sw": drawn})
        )
    page = read(render(systems, "labels"))
    assert [text for text in page.texts["th"] if text in ("mean", "en", "sw")] == [
        "mean",
        "en",
        "sw",
    ]
    shown = experiment.report(systems, "labels")
    experiment.write(shown, results.store.folder("reports", "labels"), systems)
    summary = results.store.folder("reports", "labels").read_record(experiment.SUMMARY)
    assert "50.0 accuracy more" in summary["answer"] and list(summary["systems"]) == [
        "base",
        "cipher",
    ]


def title_in_chromium(page: Path, *options: str) -> str:
    """Return the title of a page after its scripts have run."""
    always = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"]
    command = ["chromium", *always, *options, "--dump-dom", page.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    title, *_ = re.findall(r"<title>(.*?)</title>", dom)
    return str(title)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
def test_charts_are_drawn_from_a_file_and_no_column_is_cut_off(
    folders: list[Any], tmp_path: Path
) -> None:
    probe = (
        "<script>addEventListener('load', () => setTimeout(() => { document.title = JSON.stringify("
    )
    probe += "[document.querySelectorAll('.chart .main-svg').length, "
    probe += "[...document.querySelectorAll('.scroll')]"
    probe += ".filter((e) => e.scrollWidth > e.clientWidth + 1).length]) }, 500))"
    page = tmp_path / "page.html"
    page.write_text(render(load(folders), "ciphers") + probe + "</script>")
    charts, cut = json.loads(title_in_chromium(page, "--window-size=1280,900"))
    assert charts >= 5 and cut == 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
def test_a_narrow_page_does_not_scroll_sideways(folders: list[Any], tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(render(load(folders), "ciphers"))
    frame = '<title></title><iframe src="page.html" style="width:390px;height:900px"></iframe>'
    probe = """<script>onload = () => setTimeout(() => {
      const root = document.querySelector("iframe").contentDocument.documentElement;
      document.title = JSON.stringify([root.scrollWidth - root.clientWidth]);
    }, 500)</script>"""
    (tmp_path / "frame.html").write_text(frame + probe)
    options = ("--window-size=800,1000", "--allow-file-access-from-files")
    assert json.loads(title_in_chromium(tmp_path / "frame.html", *options)) == [0]
