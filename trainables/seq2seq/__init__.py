"""Text to text: any encoder-decoder of `transformers`, fine-tuned on pairs of texts; operators
sample from it."""

from __future__ import annotations

from trainables.seq2seq.task import Seq2seq

TASK = Seq2seq()
