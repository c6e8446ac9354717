"""The page of an experiment shows every number, needs no network and runs nothing that texts
hold."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from augury.reporting import experiment, rendering
from tests.run_folders import load


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
    content = "name: ciphers\nstorage: here\nexecution: {threads: 2}\nseeds: [9]\n"
    runs[0].write("experiment.yaml", content)
    return runs


def test_the_page_holds_every_number_and_needs_no_network(folders: list[Any], read: Any) -> None:
    failure = "cipher, seed 2: no answer of https://me:topsecret@tracking.example"
    html = rendering.page(experiment.report(load(folders), "ciphers", [failure]))
    page = read(html)
    assert page.texts["h1"] == ["ciphers"] and "synthetic text" in page.texts["p"]
    cells = {text.strip() for tag in ("td", "small") for text in page.texts[tag]}
    assert {"31.8", "[30.8, 32.8]", "+1.8", "50.0", "4 min 10 s", "2.5 ×"} <= cells
    outputs = {"ein <b>Haus</b>", "a house", "a home", "too", "(empty)", "three"}
    assert outputs <= set(page.texts["dd"]) and "b" not in page.tags
    (shown,) = page.texts["pre"]
    assert "seeds:\n- 1\n" in shown and "storage" not in shown and "threads: 2" in shown
    data = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html)
    assert data is not None
    names = list(json.loads(data[1]))
    assert len(names) == 3 and [name for name in page.ids if name in names] == names
    assert all(link.startswith("data:") for link in page.links)
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert len(html) < 1_500_000 and "url(" not in style and "@import" not in style
    assert "topsecret" not in html and "tracking.example" in html


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
def test_charts_are_drawn_from_a_file_and_a_narrow_page_does_not_scroll_sideways(
    folders: list[Any], tmp_path: Path
) -> None:
    html = rendering.page(experiment.report(load(folders), "ciphers"))
    (tmp_path / "page.html").write_text(html)
    frame = '<title></title><iframe src="page.html" style="width:390px;height:900px"></iframe>'
    probe = """<script>onload = () => setTimeout(() => {
      const shown = document.querySelector("iframe").contentDocument;
      const root = shown.documentElement, charts = shown.querySelectorAll(".chart .main-svg");
      document.title = JSON.stringify([charts.length, root.scrollWidth - root.clientWidth]);
    }, 500)</script>"""
    (tmp_path / "frame.html").write_text(frame + probe)
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += ["--virtual-time-budget=5000", "--allow-file-access-from-files"]
    command += ["--window-size=800,1000", (tmp_path / "frame.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    charts, beyond = json.loads(re.findall(r"<title>(.*?)</title>", done.stdout)[0])
    assert charts >= 3 and beyond == 0
