"""What bash completes with the script that `augury completion` prints."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from augury.cli import verbs
from augury.cli.completion import completion_script
from augury.core.store import Store
from augury.sweeping import declarations

SCRIPT = completion_script()
COMPLETE = """
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_augury
printf '%s\\n' "${COMPREPLY[@]}"
"""
RUNS = [
    ("results", "my", "CipherDAug"),
    ("results", "my", "baseline"),
    ("results", "my", "spelling noise"),
    ("elsewhere", "other", "baseline"),
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["augury", ""], verbs.VERBS),
        (["augury", "tra"], ["train", "track", "translate"]),
        (["augury", "train", "--se"], ["--set", "--seeds"]),
        (["augury", "export", "RUN", "--to", ""], ["hf", "ctranslate2"]),
        (["augury", "translate", "RUN", "--long", "c"], ["cut"]),
        (["augury", "sweep", ""], declarations.known()),
        (["augury", "reproduce", "noisy_nmt/"], [n for n in declarations.tables() if "noisy" in n]),
        (["augury", "list", "op"], ["operators"]),
        (["augury", "completion", "z"], ["zsh"]),
        (["augury", "translate", "my/C"], ["my/CipherDAug"]),
        (["augury", "compare", "my/baseline", "my/spelling\\ "], ["my/spelling\\ noise"]),
        (["augury", "runs", "elsewhere", "o"], ["other/baseline"]),
        (["augury", "export", "--storage", "elsewhere", "o"], ["other/baseline"]),
        (["augury", "train", "my"], [""]),  # bash goes on with files
        (["augury", "nothing", "--"], [""]),
    ],
)
def test_words_are_completed(words: Sequence[str], expected: Sequence[str], tmp_path: Path) -> None:
    for place, (storage, experiment, system) in enumerate(RUNS):
        run = Store(str(tmp_path / storage)).folder("runs", f"{place:016x}").sub("seed-1")
        run.write_record("run.json", {"schema": "", "name": system, "experiment": experiment})
    result = subprocess.run(
        ["bash", "-c", SCRIPT + COMPLETE, "bash", *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert sorted(result.stdout.splitlines()) == sorted(expected) and not result.stderr
