"""The prompts of generators: the same words in training and in use."""

from __future__ import annotations


def reordering(sentence: str) -> str:
    """Return the prompt for a sentence in the word order of another language."""
    return f"reorder: {sentence}"


def hypothesis(label: str, premise: str) -> str:
    """Return the prompt for a hypothesis with a label for a premise (Dong et al. 2021, 2.1.2)."""
    return f"{label}: {premise}"
