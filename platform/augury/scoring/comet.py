"""COMET (Rei et al., 2020): a model that scores translations, given sources and references.

The package needs other versions of transformers and numpy than Augury. It therefore runs in a
subprocess, with the Python interpreter named by `AUGURY_COMET`, or with this one if the package is
installed here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from augury.core.errors import UserError
from augury.scoring.metric import SegmentMetric

PYTHON = "AUGURY_COMET"
"""Environment variable with the path of a Python interpreter that has unbabel-comet."""
MODEL = "Unbabel/wmt22-comet-da"
SCALE = 100  # models score from 0 to 1, papers report percentages
BATCH = 16


class Comet(SegmentMetric):
    """COMET times 100; `comet:MODEL` selects a model by hub name or checkpoint path."""

    title = "COMET"
    needs_sources = True
    options = None

    def __init__(self, name: str, language: str):
        super().__init__(name, language)
        self.model = self.option or MODEL
        version = _request({})["version"]
        self.signature = f"nrefs:1|model:{self.model}|scale:{SCALE}|comet:{version}"

    @classmethod
    def require(cls) -> None:
        _request({})

    def score(
        self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str]
    ) -> list[float]:
        segments = [
            {"src": source, "mt": hypothesis, "ref": reference}
            for source, hypothesis, reference in zip(sources, hypotheses, references, strict=True)
        ]
        response = _request({"model": self.model, "batch_size": BATCH, "segments": segments})
        return [SCALE * score for score in response["scores"]]


METRICS = {"comet": Comet}


def _request(request: dict[str, Any]) -> dict[str, Any]:
    """Return the response of COMET's subprocess; UserError where there is none, with the last line
    of its output if it fails."""
    python = os.environ.get(PYTHON) or (sys.executable if find_spec("comet") else None)
    if python is None:
        raise UserError(
            "metric 'comet' needs the package unbabel-comet, which is incompatible with Augury's "
            "version of transformers: install it in another environment (python -m venv comet && "
            "comet/bin/pip install unbabel-comet 'setuptools<81' sentencepiece==0.2.0) and export "
            f"{PYTHON}=comet/bin/python"
        )
    source = Path(__file__).with_name("comet_process.py").read_text(encoding="utf-8")
    words = [python, "-c", source]  # run as a file, it would import this module for the package
    try:
        result = subprocess.run(words, input=json.dumps(request), capture_output=True, text=True)
    except OSError as error:
        raise UserError(f"{PYTHON}={python} cannot be run: {error.strerror}") from error
    if result.returncode:
        last = result.stderr.strip().splitlines()[-1:] or [f"exit status {result.returncode}"]
        raise UserError(f"COMET, run by {python}, failed: {last[0]}")
    return dict(json.loads(result.stdout.splitlines()[-1]))
