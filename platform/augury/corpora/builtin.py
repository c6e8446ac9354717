"""The built-in corpus: a synthetic German-like to English-like language pair, any number of sentences, no download."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count, islice
from typing import Literal

from augury.corpora.synthetic.clause_drawer import ClauseDrawer
from augury.corpora.synthetic.lexicon import lexicon_of
from augury.corpora.synthetic.sentences import sentence
from augury.errors import UserError, unknown
from augury.rng import generator
