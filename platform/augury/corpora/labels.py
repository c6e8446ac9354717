"""Labels of NLI sets: their names in public sets, mapped by name and never by position.

Sets number their labels in different orders (XNLI and SNLI count entailment, neutral, contradiction; checkpoints
fine-tuned on MultiNLI often contradiction, neutral, entailment), so that a number says nothing without its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from augury.corpora.corpus import LABELS, Label

NoGold = Literal["-"]
NO_GOLD: NoGold = "-"  # annotators of SNLI and MultiNLI did not agree
USUAL: dict[str, str | None] = {
    **{label: label for label in LABELS},
    **{label[0]: label for label in LABELS},
    "contradictory": "contradiction",  # XNLI's machine translations of MultiNLI
    NO_GOLD: None,
}


class LabelNames:
    """Maps the names in one text to labels, or to None where an example has no gold label.

    `renamed` (name or number -> label, or `-` for none) overrides the usual names. `classes` are the names of the
    numbers that the text has for labels, from 0; its -1 is no label.
    """

    def __init__(self, renamed: Mapping[str, Label | NoGold], classes: Sequence[str] = ()):
        self._labels = {**USUAL, **{name: None if label == NO_GOLD else label for name, label in renamed.items()}}
        self._classes = {str(number): name for number, name in enumerate(classes)}
        if classes:
            self._classes["-1"] = NO_GOLD

    def __contains__(self, name: str) -> bool:
        return self._key(name) in self._labels

    def __getitem__(self, name: str) -> str | None:
        return self._labels[self._key(name)]

    def complaint(self, name: str, location: str) -> str:
        """Return a message about an unknown name at a location."""
        label = self._classes.get(name, name)
        if not label.strip():
            return f"the label is empty ({location})"
        if label.lstrip("-").isdigit():
            hint = (
                "sets number their labels differently; say what the numbers mean, for example "
                "labels: {0: entailment, 1: neutral, 2: contradiction, -1: '-'}, where '-' is no gold label"
            )
        else:
            hint = (
                f"allowed: {', '.join(USUAL)}; or say which it is, for example labels: {{{label}: neutral}}, or "
                f"{{{label}: '-'}} where it is no gold label"
            )
        return f"unknown label '{label}' ({location}): {hint}"

    def _key(self, name: str) -> str:
        if name in self._labels:
            return name
        label = self._classes.get(name, name).strip()
        return label if label in self._labels else label.lower()
