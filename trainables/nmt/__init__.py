"""Neural machine translation: a Transformer over subwords, trained under any regime over views
of the source."""

from __future__ import annotations

from trainables.nmt.task import Nmt

TASK = Nmt()
