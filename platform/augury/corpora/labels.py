"""Labels of NLI sets: what others call them, mapped by name and never by position.

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
    """What the names of one text stand for: a label, or None where an example has no gold label.

    `given` (name or number -> label, or `-` for none) goes before the usual names. `classes` are the names of what the
    text counts from 0; its -1 is no label.
    """

    def __init__(self, given: Mapping[str, Label | NoGold], classes: Sequence[str] = ()):
        self._known = {**USUAL, **{name: None if label == NO_GOLD else label for name, label in given.items()}}
        self._classes = {str(number): name for number, name in enumerate(classes)}
        if classes:
            self._classes["-1"] = NO_GOLD

    def __contains__(self, name: str) -> bool:
        return self._key(name) in self._known

    def __getitem__(self, name: str) -> str | None:
        return self._known[self._key(name)]

    def complaint(self, name: str, place: str) -> str:
        """What to say of an unknown name found at a place."""
        called = self._classes.get(name, name)
        if not called.strip():
            return f"the label is empty ({place})"
        if called.lstrip("-").isdigit():
            hint = (
                "sets number their labels differently; say what the numbers mean, for example "
                "labels: {0: entailment, 1: neutral, 2: contradiction, -1: '-'}, where '-' is no gold label"
            )
        else:
            hint = (
                f"allowed: {', '.join(USUAL)}; or say which it is, for example labels: {{{called}: neutral}}, or "
                f"{{{called}: '-'}} where it is no gold label"
            )
        return f"unknown label '{called}' ({place}): {hint}"

    def _key(self, name: str) -> str:
        if name in self._known:
            return name
        called = self._classes.get(name, name).strip()
        return called if called in self._known else called.lower()
