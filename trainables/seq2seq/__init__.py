"""Text to text: encoder-decoders of `transformers` (`decoding.settings.FAMILIES`), fine-tuned on
pairs of texts; operators sample from them."""

from __future__ import annotations

from trainables.seq2seq.task import Seq2seq

TASK = Seq2seq()
