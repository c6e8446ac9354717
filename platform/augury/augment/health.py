"""The health of an operator's output: the shares that are empty, copied or repeated, and lengths.

Without it, a system trained on nothing or garbage would be scored like any other. The measures are
stored with the output, and stop such a system before training.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

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
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.lost.items())
        yielded = f"{self.made:,} of {self.requested:,} made" if reasons else f"{self.made:,} made"
        shares = {"empty": self.empty, "copied": self.copied, "repeated": self.repeated}
        return ", ".join(
            [
                f"{yielded} ({reasons})" if reasons else yielded,
                *(
                    f"{name} {100 * share:.1f} %"
                    for name, share in shares.items()
                    if share is not None
                ),
                *([] if self.length is None else [f"length × {self.length:.2f}"]),
                *(
                    f"{kind} {rate.realised:.3f} of {rate.asked:g}"
                    for kind, rate in self.rates.items()
                ),
                *(f"{name} {value:.1f} %" for name, value in self.measures.items()),
            ]
        )

    def faults(self, limits: HealthLimits) -> list[str]:
        """Return what is beyond a limit: the measure, the limit and its setting."""
        return [
            f"{measured}; {setting} is {limit:g}"
            for measured, setting, limit in self._exceeded(limits)
        ]

    def _exceeded(self, limits: HealthLimits) -> Iterator[tuple[str, str, float]]:
        lost = "".join(f", {count:,} {reason}" for reason, count in self.lost.items())
        least = limits.min_yield
        if least is not None and (
            self.made == 0 or (YIELD not in self.normal and self.made < least * self.requested)
        ):
            reason = f"it made {self.made:,} of {self.requested:,} texts{lost}"
            yield reason, "health.min_yield", least
        for name, share, most in (
            ("empty", self.empty, limits.max_empty),
            (COPIED, self.copied, limits.max_copied),
            ("repeated", self.repeated, limits.max_repeated),
        ):
            if share is not None and most is not None and name not in self.normal and share > most:
                yield f"{100 * share:.1f} % of its texts are {name}", f"health.max_{name}", most
        drift = limits.max_length_drift
        if self.length is not None and drift is not None and not 1 / drift <= self.length <= drift:
            yield (
                f"its texts have {self.length:.2f} times the length to be expected",
                "health.max_length_drift",
                drift,
            )
        for kind, rate in self.rates.items():
            share = limits.min_realised
            if (
                share is not None
                and rate.asked * rate.places >= EDITS
                and rate.realised < share * rate.asked
            ):
                yield (
                    f"its rate of {kind} is {rate.realised:.4f} and not {rate.asked:g}",
                    "health.min_realised",
                    share,
                )
        if limits.max_wer is not None and self.measures.get("WER", 0.0) > 100 * limits.max_wer:
            yield (
                f"its word error rate is {self.measures['WER']:.1f} %",
                "health.max_wer",
                limits.max_wer,
            )


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


def tally(new: Sequence[pa.Array], old: Sequence[pa.Array], ratios: Sequence[float]) -> Tally:
    """Return the sums over texts and their originals: columns of equal length, (rows,) each.

    A text of several columns is copied where all of them are, and empty where one is that was not.
    `ratios` are the characters of a column to be expected for one of what it is made from.
    """
    rows = len(new[0])
    if not rows:
        return Tally()
    empty, copied = np.zeros(rows, bool), np.ones(rows, bool)
    for text, source in zip(new, old, strict=True):
        empty |= _blank(text) & ~_blank(source)
        copied &= pc.equal(text, source.cast(text.type)).to_numpy(zero_copy_only=False)
    codes, sources = _codes(new), _codes(old)
    pairs = np.unique(codes * (sources.max() + 1) + sources)
    return Tally(
        rows,
        int(empty.sum()),
        int((copied & ~empty).sum()),
        len(pairs),
        len(pairs) - int(codes.max()) - 1,
        sum(map(_characters, new)),
        sum(ratio * _characters(source) for ratio, source in zip(ratios, old, strict=True)),
    )


def length_ratio(texts: pa.Table, column: str, like: str) -> float:
    """Return the characters of a column for each of another column; 1 without text."""
    counts = [_characters(texts.column(name)) for name in (column, like)]
    return counts[0] / counts[1] if all(counts) else 1.0


def _blank(texts: pa.Array) -> np.ndarray:
    return np.asarray(
        pc.equal(pc.binary_length(pc.utf8_trim_whitespace(texts)), 0).to_numpy(zero_copy_only=False)
    )


def _characters(texts: pa.Array | pa.ChunkedArray) -> int:
    return int(pc.sum(pc.utf8_length(texts)).as_py() or 0)


def _codes(columns: Sequence[pa.Array]) -> np.ndarray:
    """Return a number from 0 for every row, equal where all columns are, (rows,)."""
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        numbers = column.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
        codes = np.unique(codes * (numbers.max() + 1) + numbers, return_inverse=True)[1]
    return codes


LOOKED_AT = 1_000  # records of a corpus that an operator looks at before it works


class Ratios(dict[tuple[str, str], float]):
    """The ratios of characters of two columns, from the first records of a corpus."""

    def __init__(self, corpus: Corpus):
        super().__init__()
        self.corpus = corpus

    def __missing__(self, columns: tuple[str, str]) -> float:
        first = self.corpus.shard(self.corpus.shards[0], columns).slice(0, LOOKED_AT)
        self[columns] = length_ratio(first, *columns)
        return self[columns]


def tally_columns(
    table: pa.Table, made_of: Mapping[str, MadeOf], ratios: Mapping[tuple[str, str], float]
) -> Tally:
    """Return the sums over the columns of an output that were made from others."""
    if not made_of:
        return Tally()
    return tally(
        [_column(table, name) for name in made_of],
        [_combined(source.texts) for source in made_of.values()],
        [
            1.0 if name == source.column else ratios[name, source.column]
            for name, source in made_of.items()
        ],
    )


def tally_block(block: pa.Table, operator: Operator, output: OperatorOutput) -> Tally:
    """Return the sums over an operator's output for a block, a view or records."""
    inputs = input_columns(block.column_names)
    if operator.makes() == VIEW:
        columns = ("text",) if len(inputs) == 1 else inputs
        pairs = [
            (_column(output.table, new), _column(block, old))
            for new, old in zip(columns, inputs, strict=True)
            if new in output.table.column_names
        ]
    else:
        lineages = output.table.column("lineage").to_pylist()
        parents = [
            lineage["parents"][0] if lineage and lineage["parents"] else None
            for lineage in lineages
        ]
        places = pc.index_in(pa.array(parents, pa.string()), value_set=_column(block, "id"))
        records = output.table.filter(pc.is_valid(places))
        sources = block.take(pc.drop_null(places))
        texts = sentence_columns(block.column_names)
        pairs = [(_column(records, name), _column(sources, name)) for name in texts]
        # A column that the operator leaves alone, such as the target, is no copy to warn of.
        pairs = [pair for pair in pairs if not pair[0].equals(pair[1])] or pairs[: len(inputs)]
    new, old = zip(*pairs, strict=True) if pairs else ((), ())
    return tally(new, old, [1.0] * len(pairs)) if pairs else Tally()


def _column(table: pa.Table, name: str) -> pa.Array:
    return _combined(table.column(name))


def _combined(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
