"""The experiment file of NLI."""

from __future__ import annotations

from typing import ClassVar, Literal

from augury.corpora.spec import NliSpec
from augury.tasks.classification.settings import ClassifierConfig


class Config(ClassifierConfig):
    """An NLI experiment."""

    task: Literal["nli"] = "nli"
    corpus: NliSpec

    READS_SEVERAL_TEXTS: ClassVar[bool] = True
