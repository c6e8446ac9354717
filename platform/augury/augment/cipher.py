"""ROT-k encipherment of the source (CipherDAug, Algorithm 1): one view per key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field, model_validator

from augury.augment.operator import BlockFunction, Operator, OperatorOutput, new_view
from augury.core.errors import UserError
from augury.core.store import Store
from augury.text.cipher import Mode, Rot, build_alphabet, count_letters, explicit_alphabet


class Cipher(Operator):
    """Replace each letter by the one `key` positions further in the training alphabet (Kambhatla et
    al. 2022)."""

    operator: Literal["cipher"] = "cipher"
    keys: tuple[int, ...] = Field((1, 2), min_length=1)
    """Shifts; each makes a view rot-<key>. A key that maps every letter to itself is refused."""
    mode: Mode = "alpha"
    """alpha: all letters in one cycle (released code); cased: lower and upper case apart."""
    alphabet: str | None = None
    """An explicit alphabet, in order, instead of the training source's letters."""

    READS: ClassVar[tuple[str, ...]] = ("id", "source")
    PER_SECOND: ClassVar[float] = 400_000

    @model_validator(mode="after")
    def _distinct(self) -> Cipher:
        if len({*self.keys}) < len(self.keys):
            raise UserError(f"keys {', '.join(map(str, self.keys))} repeat one: give each once")
        return self

    def check_fitted(self, fitted: Mapping[str, Any]) -> None:
        ciphers = [Rot(tuple(fitted["cycles"]), key) for key in self.keys]
        if len({rot.key % rot.period for rot in ciphers}) < len(ciphers):
            raise UserError(
                f"two of the keys {', '.join(map(str, self.keys))} make the same view: they repeat "
                f"after {ciphers[0].period:,}"
            )

    def inactive(self) -> dict[str, str]:
        return {} if self.alphabet is None else {"mode": "the alphabet is given"}

    def parts(self) -> Sequence[Cipher]:
        return [self.model_copy(update={"keys": (key,)}) for key in self.keys]

    def name(self) -> str:
        return f"rot-{self.keys[0]}"

    def fit_parameters(self) -> dict[str, Any]:
        return {"mode": self.mode} if self.alphabet is None else {"alphabet": self.alphabet}

    def fit_block(self, block: pa.Table) -> dict[str, int]:
        return {} if self.alphabet else count_letters(block.column("source").to_pylist())

    def fit(self, results: Sequence[dict[str, int]]) -> dict[str, Any]:
        if self.alphabet is not None:
            return {"cycles": [*explicit_alphabet(self.alphabet)]}
        counts = Counter[str]()
        for of_block in results:
            counts.update(of_block)
        return {"cycles": [*build_alphabet(counts, self.mode)]}

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        rot = Rot(tuple(fitted["cycles"]), self.keys[0])

        def encipher(block: pa.Table) -> OperatorOutput:
            return new_view(block, {"source": rot.texts(block.column("source").to_pylist())})

        return encipher


OPERATOR = Cipher
