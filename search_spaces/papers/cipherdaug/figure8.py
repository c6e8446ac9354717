"""Figure 8: how often training has seen the rarest subword of another example, plain and
enciphered."""

from __future__ import annotations

from search_spaces.papers.cipherdaug.figure7 import example

TABLE = example("Figure 8", "figure8", "wir alle lieben baseball, oder?", 1)
