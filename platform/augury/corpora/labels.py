"""The labels of a corpus: how many rows have each, and whether they are those that are meant."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow.compute as pc

from augury.core.errors import UserError
from augury.corpora.corpus import NO_GOLD, Corpus, Kind

LABEL = "label"
"""The column of labels, in every kind of corpus that has them."""
SURELY_LABELS, MOST_LABELS = 100, 10_000
"""Numbers of different values that are labels in any number of rows, and that never are."""
REPEATED = 4
"""The rows that share a label, in the mean, at least."""


class LabelNames:
    """Maps the names of labels in a text to labels, or to None for no label.

    `renamed` does so before the aliases of a kind of corpus. Where labels are numbers, `classes`
    are their names, from that of 0; -1 is no label. They are mapped by name and never by number,
    because data sets number them in different orders: XNLI and SNLI have entailment, neutral,
    contradiction, and many checkpoints fine-tuned on MultiNLI the reverse.
    """

    def __init__(self, kind: Kind, renamed: Mapping[str, str | None], classes: Sequence[str] = ()):
        self._is_open = not kind.aliases
        given = {name: label and kind.aliases.get(label, label) for name, label in renamed.items()}
        self._labels = {**kind.aliases, **given}
        self._shown = ", ".join(kind.aliases)
        self._classes = {str(number): name for number, name in enumerate(classes)}
        if classes:
            self._classes["-1"] = NO_GOLD
            self._labels = {NO_GOLD: None, **self._labels}

    def label(self, name: str, split: str, place: str) -> str | None:
        """Return the label that a name means, None for no label; UserError with the split and the
        place of the name where it is unknown or empty."""
        label = self._classes.get(name, name)
        stripped = label.strip()
        spellings = (label, stripped) if self._is_open else (stripped, stripped.lower())
        for key in (name, *spellings):
            if key in self._labels:
                meant = self._labels[key]
                return meant and meant.strip()
        if self._is_open and stripped:
            return stripped
        hint = (
            f"allowed: {self._shown}; or map it to a label, for example labels: "
            f"{{{label}: neutral}}, or {{{label}: null}} for no gold label"
        )
        if not stripped:
            raise UserError(
                f"{split}the label is empty ({place}): complete the row, or leave out all such "
                "rows, labels: {'': null}"
            )
        if re.fullmatch("-?[0-9]+", label):
            hint = (
                "data sets number labels differently; give the meaning of the numbers, for "
                "example labels: {0: entailment, 1: neutral, 2: contradiction, -1: null}, where "
                "null is no gold label"
            )
        raise UserError(f"{split}unknown label '{label}' ({place}): {hint}")


def label_counts(corpus: Corpus) -> dict[str, int]:
    """Return the number of records with each label, the most frequent first."""
    counts = Counter[str]()
    for block in corpus.blocks([LABEL]):
        for value in pc.value_counts(block.column(LABEL)).to_pylist():
            counts[value["values"]] += value["counts"]
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def are_labels(values: int, rows: int) -> bool:
    """Return whether a column of `rows` rows with so many different values can be one of labels."""
    return values <= min(MOST_LABELS, max(SURELY_LABELS, rows / REPEATED))


def check_labels(
    known: tuple[str, ...], split: str, counts: Mapping[str, int], column: str = "of labels"
) -> None:
    """Raise UserError if a split has labels that are not among those of its corpus; `column` is
    where they are from."""
    unknown = sorted(set(counts) - set(known))
    if unknown and not are_labels(len(counts), rows := sum(counts.values())):
        raise UserError(
            f"{split}: column '{column}' has {len(counts):,} different values in {rows:,} rows, "
            f"such as '{unknown[0]:.40}': it holds text, not labels. Set columns.label to the one "
            f"with {', '.join(known[:3])}{' ...' if len(known) > 3 else ''}"
        )
    if unknown:
        nearest = difflib.get_close_matches(unknown[0], known, n=1)
        raise UserError(
            f"{split}: unknown label '{unknown[0]}': corpus.labels has {', '.join(known)}; "
            f"add it there, or map it to one of them, for example labels: {{'{unknown[0]}': "
            f"{(nearest or known)[0]}}}"
        )
