"""COMET (Rei et al., 2020): a trained model that scores every translation, given its source and a reference.

Its package wants other versions of transformers and numpy than Augury, so that it runs in a process of its own, by the
Python that `AUGURY_COMET` names, or by this one where the package is installed beside Augury nevertheless.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from augury.core.errors import UserError
from augury.scoring.metric import SegmentMetric

PYTHON = "AUGURY_COMET"
"""The variable that names a Python in whose environment unbabel-comet is installed."""
MODEL = "Unbabel/wmt22-comet-da"
SCALE = 100  # of models that give 0 to 1, as papers print it
BATCH = 16


class Comet(SegmentMetric):
    """COMET times 100; `comet:MODEL` takes another model, a name on the hub or the path of a checkpoint."""

    title = "COMET"
    needs_sources = True
    options = None

    def __init__(self, name: str, language: str):
        super().__init__(name, language)
        self.model = self.option or MODEL
        version = _asked(_python(), {})["version"]
        self.signature = f"nrefs:1|model:{_named(self.model)}|scale:{SCALE}|comet:{version}"

    def score(self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str]) -> list[float]:
        segments = [
            {"src": source, "mt": hypothesis, "ref": reference}
            for source, hypothesis, reference in zip(sources, hypotheses, references, strict=True)
        ]
        response = _asked(_python(), {"model": self.model, "batch_size": BATCH, "segments": segments})
        return [SCALE * score for score in response["scores"]]


METRICS = {"comet": Comet}


def _python() -> str:
    """The Python that has COMET; UserError where there is none."""
    python = os.environ.get(PYTHON) or (sys.executable if find_spec("comet") else None)
    if python is None:
        raise UserError(
            "metric 'comet' needs the package unbabel-comet, which does not go with Augury's version of transformers: "
            f"install it elsewhere (python -m venv comet && comet/bin/pip install unbabel-comet) and export {PYTHON}="
            "comet/bin/python"
        )
    return python


def _named(model: str) -> str:
    """A model's name in signatures; of a checkpoint its file name with the beginning of its hash."""
    path = Path(model)
    if not path.is_file():
        return model
    with path.open("rb") as file:
        return f"{path.name}@{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"


def _asked(python: str, request: dict[str, Any]) -> dict[str, Any]:
    """What COMET's process answers; UserError with its last words where it fails."""
    return dict(json.loads(_answer(python, json.dumps(request))))


@lru_cache(maxsize=4)  # every metric asks for the version
def _answer(python: str, request: str) -> str:
    source = Path(__file__).with_name("comet_process.py").read_text(encoding="utf-8")
    try:  # as text: in the directory of the file, this module would be found for the package comet
        result = subprocess.run([python, "-c", source], input=request, capture_output=True, text=True, check=False)
    except OSError as error:
        raise UserError(f"{PYTHON}={python} cannot be run: {error.strerror}") from error
    if result.returncode:
        last = result.stderr.strip().splitlines()[-1:] or ["nothing is known of why"]
        raise UserError(f"COMET, run by {python}, failed: {last[0]}")
    return result.stdout.splitlines()[-1]
