"""The page of an experiment shows every number, needs no network and runs nothing that texts
hold."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.reporting import experiment, rendering
from augury.reporting.comparison import comparison
from augury.reporting.report import Report
from augury.reporting.results import SystemResult
from augury.reporting.score_tables import by_test
from augury.reporting.tables import plain_text
from augury.scoring.scores import score
from tests.run_folders import load

MOST_BYTES = 1_500_000


def render(results: Sequence[SystemResult], title: str) -> str:
    return rendering.page(experiment.report(results, title))


@pytest.fixture
def folders(results: Any) -> list[Any]:
    texts = [("ein <b>Haus</b>", "a house"), ("zwei", "two"), ("drei", "three")]
    results.corpus(texts, note="synthetic text")
    measured = {"train/loss": 3.0, "valid/bleu": 12.5, "train/seconds": 5.0}
    history = [(10, {"train/loss": 4.0}), (20, measured)]
    base = {"bleu": 30.0, "hypotheses": ["a home", "too", ""], "history": history}
    ours = {"bleu": 31.8, "hypotheses": ["a house", "two", "three"], "history": history}
    runs = [
        results.run("baseline", "aa" * 8, **base),
        results.run("cipher & co", "bb" * 8, **ours, seconds=250),
    ]
    content = "name: ciphers\nstorage: here\nexecution: {address: x, at_once: 2}\nseeds: [9]\n"
    runs[0].write("experiment.yaml", content)
    return runs


def test_the_page_holds_every_number_and_needs_no_network(folders: list[Any], read: Any) -> None:
    html = render(load(folders), "ciphers")
    page = read(html)
    assert page.texts["h1"] == ["ciphers"] and "synthetic text" in page.texts["p"]
    cells = {text.strip() for tag in ("td", "small") for text in page.texts[tag]}
    assert {"31.8", "[30.8, 32.8]", "+1.8", "50.0", "4 min 10 s", "2.5 ×"} <= cells
    outputs = {"ein <b>Haus</b>", "a house", "a home", "too", "(empty)", "three"}
    assert outputs <= set(page.texts["dd"])
    (shown,) = page.texts["pre"]
    assert "seeds:\n- 1\n" in shown and "storage" not in shown and "at_once: 2" in shown
    data = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html)
    assert data is not None
    names = list(json.loads(data[1]))
    assert len(names) == 3 and [name for name in page.ids if name in names] == names
    assert all(link.startswith("data:") for link in page.links)
    assert len(html) < MOST_BYTES and "plotly.js" in html
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert "url(" not in style and "@import" not in style


def test_text_is_shown_and_never_run(results: Any, read: Any, hostile: str) -> None:
    results.corpus([(hostile, hostile)], note=hostile)
    history = [(1, {"train/loss": 1.0, "valid/bleu": 1.0})]
    named = {"hypotheses": [hostile], "signature": hostile, "device": hostile, "history": history}
    folders = [
        results.run(name, address * 8, bleu=30.0, **named)
        for name, address in ((hostile, "aa"), (f"other {hostile}", "bb"))
    ]
    failure = "other, seed 2: no answer of https://me:topsecret@tracking.example"
    html = rendering.page(experiment.report(load(folders), "ciphers", [failure]))
    page = read(html)
    assert "img" not in page.tags and all(link.startswith("data:") for link in page.links)
    assert page.texts["dd"] == [hostile] * 4
    assert "topsecret" not in html and "tracking.example" in html


def test_no_section_that_does_not_apply_and_no_page_before_scores(results: Any, read: Any) -> None:
    with pytest.raises(UserError):
        render(load([results.run("baseline", "bb" * 8)]), "ciphers")
    page = read(render(load([results.run("baseline", "aa" * 8, bleu=30.0)]), "ciphers"))
    assert page.texts["h2"] == ["Scores and cost"] and "plotly.js" not in "".join(
        page.texts["script"]
    )


def test_several_test_sets_begin_with_their_mean(results: Any, read: Any) -> None:
    systems = []
    for name, right in {"base": 50, "cipher": 150}.items():
        labels = ["1"] * right + ["0"] * (200 - right)
        scores = score(labels, ["1"] * 200, metrics=["accuracy"])
        tests = {"en": scores, "sw": scores}
        systems += [results.run(name, name[0] * 16, seed, tests=tests) for seed in (1, 2)]
    loaded = load(systems)
    shown = experiment.report(loaded, "labels")
    page = read(rendering.page(shown))
    assert [text for text in page.texts["th"] if text in ("mean", "en", "sw")] == [
        "mean",
        "en",
        "sw",
    ]
    assert comparison(loaded, "en").rows[1].difference_text.partition(" ")[2] in page.texts["small"]
    folder = results.store.folder("reports", "labels")
    experiment.write(shown, folder, loaded)
    summary = folder.read_record(experiment.SUMMARY)
    assert "50.0 accuracy more" in summary["answer"]
    assert list(summary["systems"]) == ["base", "cipher"]


def test_of_many_sets_the_scores_alone_are_shown(results: Any) -> None:
    runs = [results.run(name, name * 8, bleu=bleu) for name, bleu in (("a", 30.0), ("b", 31.0))]
    for run in runs:
        content = run.read_record("scores.json")
        sets = {f"set{index}": content["tests"]["test"] for index in range(5)}
        run.write_record("scores.json", content | {"tests": sets})
    systems = load(runs)
    table = by_test([comparison(systems, f"set{index}") for index in range(5)])
    cells = [[cell.text for cell in row.cells] for row in table.rows]
    assert cells == [["a", *["30.0"] * 5], ["b", *["31.0"] * 5]]
    shown = rendering.text(experiment.report(systems, "sets"), width=200)
    assert shown.count("[95 % interval]") == 1


def test_without_test_sets_the_validations_are_listed(results: Any) -> None:
    run = results.run("a", "aa" * 8, history=[(1, {"valid/bleu": 12.0}), (2, {"valid/bleu": 11.0})])
    shown = plain_text([experiment.validations(load([run]))])
    assert "12.00" in shown and run.uri in shown


@pytest.mark.parametrize(
    ("answer", "headline"),
    [
        ("A beats B; the difference is real.", ("A beats B", "the difference is real.")),
        ("A beats B, but by chance; C is out.", ("A beats B", "but by chance; C is out.")),
        ("A, the first, beats B.", ("A, the first, beats B.", "")),
    ],
)
def test_the_headline_is_the_first_clause(answer: str, headline: tuple[str, str]) -> None:
    assert Report(title="title", answer=answer).headline == headline


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
    probe = """<script>addEventListener('load', () => setTimeout(() => {
      const cut = (e) => e.scrollWidth > e.clientWidth + 1;
      document.title = JSON.stringify([document.querySelectorAll('.chart .main-svg').length,
        [...document.querySelectorAll('.scroll')].filter(cut).length]) }, 500))"""
    page = tmp_path / "page.html"
    page.write_text(render(load(folders), "ciphers") + probe + "</script>")
    charts, cut = json.loads(title_in_chromium(page, "--window-size=1280,900"))
    assert charts >= 3 and cut == 0


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
