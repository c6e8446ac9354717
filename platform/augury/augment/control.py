"""Control views of the source, which answer whether a cipher does more than any second text."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from augury.augment.health import COPIED
from augury.augment.operator import BlockFunction, Operator, OperatorOutput, new_view
from augury.core.rng import generator
from augury.core.store import Store
from augury.core.words import clusters

Kind = Literal["duplicate", "reverse", "shuffle", "blank", "random"]
LETTERS = {"blank": ["_"], "random": [*string.ascii_lowercase]}
"""What stands for a letter."""


class Control(Operator):
    """The source again, or with the letters of every word reversed, shuffled, blank or random."""

    operator: Literal["control"] = "control"
    kind: Kind = "duplicate"
    """duplicate: as it is; reverse, shuffle: the letters of every word, with their marks, in
    another order; blank, random: every letter an underscore, or one drawn from a to z."""
    seed: int = 1
    """Seed of the random choices."""

    READS: ClassVar[tuple[str, ...]] = ("id", "source")
    PER_SECOND: ClassVar[float] = 20_000
    NORMAL: ClassVar[frozenset[str]] = frozenset({COPIED, "repeated"})

    def name(self) -> str:
        return self.kind

    def inactive(self) -> dict[str, str]:
        draws = self.kind in ("shuffle", "random")
        return {} if draws else {"seed": f"kind {self.kind} draws nothing"}

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        def apply(block: pa.Table) -> OperatorOutput:
            ids, sources = (block.column(name).to_pylist() for name in ("id", "source"))
            texts = [
                rendered(text, self.kind, generator(self.seed, self.operator, self.kind, record))
                for record, text in zip(ids, sources, strict=True)
            ]
            return new_view(block, {"source": texts})

        return apply


def rendered(text: str, kind: Kind, random: np.random.Generator) -> str:
    """Return a text as a control view has it."""
    if kind == "reverse":
        return " ".join("".join(clusters(word)[::-1]) for word in text.split(" "))
    if kind == "shuffle":
        return " ".join("".join(random.permutation(clusters(word))) for word in text.split(" "))
    if kind in LETTERS:
        letters = clusters(text)
        drawn = random.choice(LETTERS[kind], len(letters))
        pairs = zip(letters, drawn, strict=True)
        return "".join(new if old[0].isalpha() else old for old, new in pairs)
    return text


OPERATOR = Control
