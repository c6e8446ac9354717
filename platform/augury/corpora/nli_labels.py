"""NLI labels and their names in public data sets.

Labels are mapped by name and never by number, because data sets number them in different orders:
XNLI and SNLI have entailment, neutral, contradiction, and many checkpoints fine-tuned on MultiNLI
the reverse.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from augury.corpora.corpus import LABELS, Label

NoGold = Literal["-"]
NO_GOLD: NoGold = "-"  # in SNLI and MultiNLI, if annotators disagreed
STANDARD_NAMES: dict[str, str | None] = {
    **{label: label for label in LABELS},
    **{label[0]: label for label in LABELS},
    "contradictory": "contradiction",  # XNLI's machine translations of MultiNLI
    NO_GOLD: None,
}


class LabelNames:
    """Maps the label names of a text to labels, or to None if there is no gold label.

    `renamed` maps names or numbers to labels, or to `-` for no gold label, and overrides the
    standard names. If labels are numbers, `classes` are their names, starting with that of 0; -1 is
    no gold label.
    """

    def __init__(self, renamed: Mapping[str, Label | NoGold], classes: Sequence[str] = ()):
        overrides = {name: None if label == NO_GOLD else label for name, label in renamed.items()}
        self._labels = {**STANDARD_NAMES, **overrides}
        self._classes = {str(number): name for number, name in enumerate(classes)}
        if classes:
            self._classes["-1"] = NO_GOLD

    def __contains__(self, name: str) -> bool:
        return self._key(name) in self._labels

    def __getitem__(self, name: str) -> str | None:
        return self._labels[self._key(name)]

    def unknown_message(self, name: str, location: str) -> str:
        """Return the error message for an unknown name at a location."""
        label = self._classes.get(name, name)
        if not label.strip():
            return (
                f"the label is empty ({location}): complete the row, or leave out all such rows, "
                "labels: {'': '-'}"
            )
        if re.fullmatch("-?[0-9]+", label):
            hint = (
                "data sets number labels differently; give the meaning of the numbers, for "
                "example labels: {0: entailment, 1: neutral, 2: contradiction, -1: '-'}, where "
                "'-' is no gold label"
            )
        else:
            hint = (
                f"allowed: {', '.join(STANDARD_NAMES)}; or map it to a label, for example labels: "
                f"{{{label}: neutral}}, or {{{label}: '-'}} for no gold label"
            )
        return f"unknown label '{label}' ({location}): {hint}"

    def _key(self, name: str) -> str:
        if name in self._labels:
            return name
        label = self._classes.get(name, name).strip()
        return label if label in self._labels else label.lower()
