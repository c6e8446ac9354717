"""What a generator is asked: the same words in training and in use."""

from __future__ import annotations


def reordering(sentence: str) -> str:
    """Asks for a sentence in the word order of another language."""
    return f"reorder: {sentence}"


def hypothesis(label: str, premise: str) -> str:
    """Asks for a hypothesis that stands to a premise as the label says (Dong et al. 2021, 2.1.2)."""
    return f"{label}: {premise}"
