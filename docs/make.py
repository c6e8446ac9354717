"""Run the demo, and put its table into the README and a picture of its page here: `make docs`.

The README has the main columns of the table and the answer. The picture needs Chromium (`chromium`
on the path). `docs/demo.json` keeps the addresses of the configurations that the table is of, by
which a test tells that it is out of date. Run again, it trains nothing anew: `build/docs` keeps the
runs.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

from augury.cli import demo, main, sweep, verbs
from augury.sweeping.budget import make_plan

ROOT = Path(__file__).parents[1]
PAGE = Path("sweeps", "augmentations-demo", "index.html")
BEGIN, END = "<!-- the table of `make docs` -->\n```\n", "```\n<!-- its end -->\n"
COLUMNS = ("configuration", "BLEU test", "difference [95 %]", "p", "CPU × reference")


def addresses(storage: str) -> dict[str, str]:
    """Return the address of every configuration of the demo."""
    words = demo.sweep_of("nmt", storage)
    arguments = verbs.parser("sweep", words).parse_args(words)
    plan = make_plan(*sweep.prepare(arguments))
    return {planned.name: address for address, planned in plan.configurations.items()}


def printed(storage: str) -> str:
    """Run the demo and return what it prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        status = main(["demo", "--storage", storage])
    if status:
        sys.exit(status)
    return text.getvalue()


def shortened(text: str) -> str:
    """Return the main columns of the table that the demo prints, and its answer, as wide."""
    table, answer, *_ = text[text.index("configuration") :].split("\n\n")
    header, _, *rows = (re.split(" {2,}", line.strip()) for line in table.splitlines())
    kept = [[row[header.index(name)] for name in COLUMNS] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*kept, strict=True)]
    lines = []
    for first, *others in kept:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("   ".join([first.ljust(widths[0]), *cells]))
    lines.insert(1, "─" * len(lines[0]))
    said = textwrap.fill(answer.splitlines()[0], len(lines[0]))
    return "\n".join([*lines, "", said]) + "\n"


def replace(readme: str, text: str) -> str:
    """Return the README with `text` between the markers."""
    before, rest = readme.split(BEGIN)
    return before + BEGIN + text + END + rest.split(END)[1]


def screenshot(page: Path, picture: Path) -> None:
    """Save a picture of a page as it looks on a desktop."""
    browser = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if browser is None:
        sys.exit("the picture of the page needs Chromium: install it, and repeat")
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,1500"]
    subprocess.run(
        [browser, *options, f"--screenshot={picture}", page.resolve().as_uri()], check=True
    )


if __name__ == "__main__":
    storage = ROOT / "build" / "docs"
    storage.parent.mkdir(exist_ok=True)
    text = shortened(printed(str(storage)))
    readme = ROOT / "README.md"
    readme.write_text(replace(readme.read_text(encoding="utf-8"), text), encoding="utf-8")
    kept = {"addresses": addresses(str(storage)), "table": text}
    (ROOT / "docs" / "demo.json").write_text(
        json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    screenshot(storage / PAGE, ROOT / "docs" / "report.png")
