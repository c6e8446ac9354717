"""The health of an operator's output: the shares that are empty, copied or repeated, and lengths.

Without it, a system trained on nothing or garbage would be scored like any other. The measures are
stored with the output, and stop such a system before training.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from augury.augment.operator import VIEW, MadeOf, Operator, OperatorOutput, Rate
from augury.core.config import Section
from augury.core.errors import UserError
from augury.core.progress import say
from augury.corpora.corpus import Corpus, input_columns, sentence_columns

YIELD, COPIED = "yield", "copied"
"""Measures of which an operator can declare any value as normal (`Operator.NORMAL`)."""
EDITS = 30
"""The number of edits to be expected from which a realised rate is judged."""


class UnusableOutput(UserError):
    """The output of an operator is beyond a limit of the section `health`."""


class HealthLimits(Section):
    """Limits of operators' output, beyond which no system is trained on it; null: no limit."""

    stop: bool = True
    """Leave a system out, and say why, where the output of an operator is beyond a limit; false:
    warn."""
    min_yield: float | None = Field(0.5, ge=0, le=1)
    """The minimum share of non-empty texts among those to be made; none at all is always a fault.
    Fuzzy matches, diversified data and hypotheses labelled by a teacher may be any number above 0.
    """
    max_empty: float | None = Field(0.2, ge=0, le=1)
    """The maximum share of empty texts among them."""
    max_copied: float | None = Field(0.8, ge=0, le=1)
    """The maximum share of texts that are equal to what they are made from; noise and
    duplicates may have any."""
    max_repeated: float | None = Field(0.8, ge=0, le=1)
    """The maximum share of texts that are equal to one made from another text of the same block
    of the corpus."""
    max_length_drift: float | None = Field(3.0, ge=1)
    """The maximum factor by which texts are longer or shorter, in characters, than the training
    text lets expect."""
    min_realised: float | None = Field(0.5, ge=0, le=1)
    """The minimum realised rate of noise, as a share of the configured rate."""
    max_wer: float | None = Field(0.9, ge=0)
    """The maximum word error rate of speech transcripts; a file of other sentences has about 1."""


class Tally(NamedTuple):
    """Sums over texts and their originals; shares are of `texts`, for repeated ones of `pairs`."""

    texts: int = 0
    empty: int = 0
    copied: int = 0
    pairs: int = 0
    """Distinct pairs of a text and what it is made from."""
    repeated: int = 0
    """Of these, the pairs whose text is in an earlier one."""
    characters: int = 0
    expected: float = 0.0
    """The characters of what they are made from, times the ratio of the same columns in the
    training text."""

    def plus(self, other: Sequence[float]) -> Tally:
        """Return the sum of both."""
        return Tally._make(mine + theirs for mine, theirs in zip(self, other, strict=True))


@dataclass(frozen=True)
class Health:
    """The measures of one view, or of one set of records."""

    name: str
    operator: str
    made: int
    """Texts or records that were made."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """Texts that became none, by reason."""
    empty: float | None = None
    """Share of empty texts among those that were to be made; None, as below, where nothing can
    be compared."""
    copied: float | None = None
    """Share of texts that are equal to what they are made from."""
    repeated: float | None = None
    """Share of texts that are equal to one made from another text."""
    length: float | None = None
    """Characters per character to be expected."""
    rates: Mapping[str, Rate] = field(default_factory=dict)
    """Rates of noise by kind."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Metrics of the operator's own, in per cent, such as the word error rate (`WER`)."""
    normal: tuple[str, ...] = ()
    """The measures that may have any value."""

    @property
    def requested(self) -> int:
        """The number of texts that were to be made."""
        return self.made + sum(self.lost.values())

    @classmethod
    def of(
        cls, name: str, made: int, lost: Mapping[str, int], tally: Tally, **others: Any
    ) -> Health:
        """Return the measures of `made` texts, given the sums over them."""
        requested, texts = made + sum(lost.values()), tally.texts
        return cls(
            name,
            made=made,
            lost={reason: count for reason, count in lost.items() if count},
            empty=(tally.empty + lost.get("empty", 0)) / requested
            if texts or "empty" in lost and requested
            else None,
            copied=tally.copied / texts if texts else None,
            repeated=tally.repeated / tally.pairs if tally.pairs else None,
            length=tally.characters / tally.expected if tally.expected else None,
            **others,
        )

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Health:
        """Return the measures that `to_dict` has written."""
        rates = {kind: Rate(**rate) for kind, rate in content["rates"].items()}
        return cls(**{**content, "rates": rates, "normal": tuple(content["normal"])})

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as JSON-like values."""
        return {
            **asdict(self),
            "rates": {kind: rate._asdict() for kind, rate in self.rates.items()},
        }

    @property
    def text(self) -> str:
        """The measures in a line, such as `95 of 100 made (5 empty), copied 1.1 %`."""
        made = f"{self.made:,} made"
        if self.lost:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.lost.items())
            made = f"{self.made:,} of {self.requested:,} made ({reasons})"
        told = [made]
        for name in ("empty", COPIED, "repeated"):
            share = getattr(self, name)
            told += [] if share is None else [f"{name} {100 * share:.1f} %"]
        told += [] if self.length is None else [f"length × {self.length:.2f}"]
        for kind, rate in self.rates.items():
            told.append(f"{kind} {rate.realised:.3f} of {rate.asked:g}")
        told += [f"{name} {value:.1f} %" for name, value in self.measures.items()]
        return ", ".join(told)

    def faults(self, limits: HealthLimits) -> list[str]:
        """Return what is beyond a limit: the measure, the limit and its setting."""
        lost = "".join(f", {count:,} {reason}" for reason, count in self.lost.items())
        share = 1.0 if YIELD in self.normal else self.made / max(1, self.requested)
        made = f"it made {self.made:,} of {self.requested:,} texts{lost}"
        measured = [("min_yield", share if self.made else -1.0, made)]  # none is always a fault
        for name in ("empty", COPIED, "repeated"):
            if (share := getattr(self, name)) is not None and name not in self.normal:
                text = f"{100 * share:.1f} % of its texts are {name}"
                measured.append((f"max_{name}", share, text))
        if self.length is not None:
            factor = max(self.length, 1 / self.length) if self.length else math.inf
            text = f"its texts have {self.length:.2f} times the length to be expected"
            measured.append(("max_length_drift", factor, text))
        for kind, rate in self.rates.items():
            if rate.asked * rate.places >= EDITS:
                text = f"its rate of {kind} is {rate.realised:.4f} and not {rate.asked:g}"
                measured.append(("min_realised", rate.realised / rate.asked, text))
        wer = self.measures.get("WER", 0.0)
        measured.append(("max_wer", wer / 100, f"its word error rate is {wer:.1f} %"))
        faults = []
        for setting, value, text in measured:
            limit = getattr(limits, setting)
            if limit is None:
                continue
            if value < limit if setting.startswith("min") else value > limit:
                faults.append(f"{text}; health.{setting} is {limit:g}")
        return faults


def require(outputs: Sequence[Health], limits: HealthLimits) -> None:
    """Raise UnusableOutput where an output is beyond a limit, or warn, as `limits` say.

    Of an operator with several outputs, one that is empty is no fault where another is not.
    """
    productive = {output.operator for output in outputs if output.made}
    for output in outputs:
        faults = output.faults(limits) if output.made or output.operator not in productive else []
        if not faults:
            continue
        described = f"operator {output.operator} ({output.name}): {'; '.join(faults)}"
        if limits.stop:
            raise UnusableOutput(
                f"{described}. Correct the operator, its text or its model, set the limit to "
                "another value or null, or health.stop to false"
            )
        say(f"warning: {described}")


Column: TypeAlias = "pa.Array | pa.ChunkedArray"


def tally(new: Sequence[Column], old: Sequence[Column], ratios: Sequence[float]) -> Tally:
    """Return the sums over texts and their originals: columns of equal length, (rows,) each.

    A text of several columns is copied where all of them are, and empty where one is that was not.
    `ratios` are the characters of a column to be expected for one of what it is made from.
    """
    rows = len(new[0]) if new else 0
    if not rows:
        return Tally()
    empty, copied = np.zeros(rows, bool), np.ones(rows, bool)
    for text, source in zip(new, old, strict=True):
        empty |= _blank(text) & ~_blank(source)
        copied &= np.asarray(pc.equal(text, source.cast(text.type)))
    pairs = _distinct([*new, *old])
    return Tally(
        rows,
        int(empty.sum()),
        int((copied & ~empty).sum()),
        pairs,
        pairs - _distinct(new),
        sum(map(_characters, new)),
        sum(ratio * _characters(source) for ratio, source in zip(ratios, old, strict=True)),
    )


def _blank(texts: Column) -> np.ndarray:
    return np.asarray(pc.equal(pc.binary_length(pc.utf8_trim_whitespace(texts)), 0))


def _characters(texts: Column) -> int:
    return int(pc.sum(pc.utf8_length(texts)).as_py() or 0)


def _distinct(columns: Sequence[Column]) -> int:
    """Return the number of distinct rows."""
    names = [str(place) for place in range(len(columns))]
    return int(pa.table([*columns], names).group_by(names).aggregate([]).num_rows)


LOOKED_AT = 1_000  # records of a corpus that an operator looks at before it works


@lru_cache
def length_ratio(corpus: Corpus, new: str, old: str) -> float:
    """Return the characters of a column for each of another one, in the first records of a corpus;
    1 without text."""
    first = corpus.shard(corpus.shards[0], [new, old]).slice(0, LOOKED_AT)
    counts = [_characters(first.column(name)) for name in (new, old)]
    return counts[0] / counts[1] if all(counts) else 1.0


def tally_columns(table: pa.Table, made_of: Mapping[str, MadeOf], corpus: Corpus) -> Tally:
    """Return the sums over the columns of an output that were made from others."""
    return tally(
        [table.column(name) for name in made_of],
        [source.texts for source in made_of.values()],
        [
            1.0 if name == source.column else length_ratio(corpus, name, source.column)
            for name, source in made_of.items()
        ],
    )


def tally_block(block: pa.Table, operator: Operator, output: OperatorOutput) -> Tally:
    """Return the sums over an operator's output for a block, a view or records."""
    table, inputs = output.table, input_columns(block.column_names)
    if operator.makes() == VIEW:
        names = ("text",) if len(inputs) == 1 else inputs
        pairs = [
            (table.column(new), block.column(old))
            for new, old in zip(names, inputs, strict=True)
            if new in table.column_names
        ]
    else:
        parents = [
            lineage["parents"][0] if lineage and lineage["parents"] else None
            for lineage in table.column("lineage").to_pylist()
        ]
        ids = block.column("id").combine_chunks()
        places = pc.index_in(pa.array(parents, pa.string()), value_set=ids)
        records, sources = table.filter(pc.is_valid(places)), block.take(pc.drop_null(places))
        pairs = [
            (records.column(name), sources.column(name))
            for name in sentence_columns(block.column_names)
        ]
        # A column that the operator leaves alone, such as the target, is no copy to warn of.
        pairs = [pair for pair in pairs if not pair[0].equals(pair[1])] or pairs[: len(inputs)]
    return tally([new for new, _ in pairs], [old for _, old in pairs], [1.0] * len(pairs))
