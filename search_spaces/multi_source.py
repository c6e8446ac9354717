"""Sweep enciphered sources as additional data, without agreement."""

from search_spaces.scales import CIPHERDAUG, TRANSLATION

QUESTION = "Do enciphered sources help as additional data only, and does reconstructing the source from them help?"

base = CIPHERDAUG | {"regime": {"name": "multi_source"}}
scales = TRANSLATION
space = {"regime.equation": [1, 2], "augment.0.keys": [[1], [1, 2]]}
metric, mode = "valid/bleu", "max"
seeds = (1, 2, 3)
