"""The page of a reproduction holds everything it shows."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

from augury.reporting import rendering
from augury.reporting.papers.report import report
from augury.reporting.papers.reproduction import Reproduction


def render(reproduction: Reproduction) -> str:
    return rendering.page(report(reproduction))


def figures(html: str) -> dict[str, Any]:
    data = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html)
    assert data is not None
    return dict(json.loads(data[1]))


def test_published_measured_heat_map_cost_and_deviations(table7: Any, read: Any) -> None:
    html = render(table7())
    page = read(html)
    assert page.texts["h1"][0].endswith("table7.py at scale toy")
    assert page.texts["p"][:2] == ["Does it help?", page.texts["p"][1]]
    assert page.texts["p"][1].startswith(
        "On the mean of the test sets, +A scores 14.0 accuracy more than plain"
    )
    assert page.texts["p"][2].startswith("power: 2 seeds and 200 examples")
    assert page.texts["p"][3].startswith("scale toy is not the paper's")
    assert len(page.texts["h2"]) == 6
    assert {
        "two toy languages",
        "+B: seed 1 failed: Diverged: loss <nan>; seed 2 failed: Diverged: loss <nan>",
    } <= set(page.texts["li"])
    assert page.texts["td"][:3] == ["2", "69.1", "66.0 ± 1.4"]
    assert list(figures(html)) == ["cost"] and "cost" in page.ids
    assert not [link for link in page.links if link and link.startswith("http")]


def test_before_anything_is_measured(paper: Any, read: Any) -> None:
    paper.sweeps.configuration({}, "plain")
    html = render(paper.reproduction(ended=False))
    assert len(read(html).texts["h2"]) == 5
    assert figures(html) == {}


def test_the_command_repeats_the_rows_that_were_asked_for(paper: Any, read: Any) -> None:
    for row in ("plain", "+A", "+B"):
        paper.measure(row, {"qaa": [70, 72]})
    (command,) = [
        text for text in read(render(paper.reproduction())).texts["pre"] if "reproduce" in text
    ]
    assert shlex.split(command)[shlex.split(command).index("--rows") + 1 :][:3] == [
        "+A",
        "+B",
        "--name",
    ]


def test_text_is_shown_and_never_run(paper: Any, read: Any, hostile: str) -> None:
    paper.path.write_text(
        paper.path.read_text()
        .replace("two toy languages", hostile)
        .replace("Does it help?", hostile)
    )
    paper.measure("plain", {hostile.replace("/", ""): [70, 72], "qab": [60, 62]})
    page = read(render(paper.reproduction()))
    assert "img" not in page.tags and hostile in page.texts["li"] and hostile in page.texts["p"]
