"""Text to text: any encoder-decoder of `transformers`, fine-tuned on pairs, which augmentation
draws from."""

from __future__ import annotations

from trainables.seq2seq.task import Seq2seq

TASK = Seq2seq()
