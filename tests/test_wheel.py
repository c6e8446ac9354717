"""A wheel of Augury, installed without its sources, runs from any directory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SMALL = [
    "corpus.train.builtin=60",
    "corpus.valid.builtin=4",
    "corpus.tests.test.builtin=4",
    "training.max_epochs=2",
]
SMALL += ["vocabulary.size=200", "seeds=[1]"]


def run(*command: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_wheel_runs_the_demo_from_another_directory(tmp_path: Path) -> None:
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        tmp_path,
        ROOT,
    ]
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)  # modules that have gone since
    run(*build, cwd=tmp_path)
    (wheel,) = tmp_path.glob("augury-*.whl")
    venv.create(tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "--no-deps", wheel, cwd=tmp_path)
    # The dependencies of this environment, but not its Augury, whose editable install is a hook of
    # its own.
    site = run(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path
    ).strip()
    Path(site, "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    where = run(
        python,
        "-c",
        "import augury, trainables, search_spaces; print(augury.__file__)",
        cwd=elsewhere,
    )
    assert where.startswith(str(tmp_path / "env"))
    assignments = [argument for setting in SMALL for argument in ("--set", setting)]
    table = run(tmp_path / "env" / "bin" / "augury", "demo", *assignments, cwd=elsewhere)
    assert "baseline" in table and "R-Drop" in table
    assert (
        elsewhere / "demo" / "sweeps" / "augmentations-demo" / "index.html"
    ).stat().st_size > 10_000
    augury = tmp_path / "env" / "bin" / "augury"
    assert "10 configurations" in run(augury, "sweep", "agreement", "--dry-run", cwd=elsewhere)
    assert "37.60" in run(augury, "reproduce", "cipherdaug/table2", "--dry-run", cwd=elsewhere)
