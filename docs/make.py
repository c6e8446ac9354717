"""Run the demo, and put its table into the README and a picture of its page beside it: `make docs`.

The picture needs Chromium (`chromium` on the path). `docs/demo.json` keeps the addresses of the
runs that the table is of, by which a test tells that it is out of date.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

from augury.cli import main
from augury.core.store import Store
from augury.experiments import graph, systems

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "search_spaces" / "experiments" / "demo_nmt.yaml"
BEGIN, END = "<!-- the table of `make docs` -->\n```\n", "```\n<!-- its end -->\n"


def addresses(storage: str) -> dict[str, str]:
    """Return the address of the runs of every system of the demo."""
    loaded = systems.load(DEMO, [f"storage={storage}"])
    store = Store(storage)
    return {name: graph.address(system, store) for name, system in systems.expand(loaded).items()}


def table(storage: str) -> str:
    """Run the demo and return what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = main(["demo", "--storage", storage])
    if status:
        sys.exit(status)
    return printed.getvalue().replace(storage, "demo")


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
    storage = str(ROOT / "build" / "docs")
    (ROOT / "build").mkdir(exist_ok=True)
    text = table(storage)
    readme = ROOT / "README.md"
    readme.write_text(replace(readme.read_text(encoding="utf-8"), text), encoding="utf-8")
    kept = {"addresses": addresses(storage), "table": text}
    (ROOT / "docs" / "demo.json").write_text(
        json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    screenshot(Path(storage) / "reports" / "demo" / "index.html", ROOT / "docs" / "report.png")
