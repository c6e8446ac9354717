"""Prompts of generators, shared by training and inference."""

from __future__ import annotations


def reordering(sentence: str) -> str:
    """Return the prompt for reordering a sentence to the word order of another language."""
    return f"reorder: {sentence}"


def hypothesis(label: str, premise: str) -> str:
    """Return the prompt for generating a hypothesis with a label for a premise (Dong et al.
    2021, 2.1.2)."""
    return f"{label}: {premise}"
