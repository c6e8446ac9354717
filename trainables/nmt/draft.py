"""The first experiment of a translation task, with settings that fit the size of its text."""

from __future__ import annotations

from pathlib import Path

from augury.core import yaml_file
from augury.core.errors import UserError
from augury.experiments.task import Draft
from augury.scoring.registry import metric_class
from trainables.drafts import filled
from trainables.nmt.config import ARCHITECTURES

TEXTS = yaml_file.read(Path(__file__).with_suffix(".yaml")).content


def draft(rows: int, model: str | None, target: str) -> Draft:
    """Return a first experiment for a training text of `rows` pairs into the language `target`:
    CipherDAug with a model from nothing, if `model` is None or the name of an architecture, or
    R-Drop with a pretrained one."""
    scoring = ""
    try:
        metric_class("bleu")("bleu", target)
    except UserError:  # its tokeniser is not installed
        scoring = TEXTS["by_characters"]
    if model and model not in ARCHITECTURES:
        return filled(TEXTS["tuning"], model=yaml_file.inline(model), scoring=scoring)
    size = next(size for size in TEXTS["sizes"] if rows <= size["rows"])
    settings = f"architecture: {model}"
    if not model or size["model"].startswith(settings):  # with changes for a text of this size
        settings = size["model"]
    return filled(
        TEXTS["from_nothing"],
        model=settings,
        training=size["training"],
        preset=size["preset"],
        scoring=scoring,
    )
