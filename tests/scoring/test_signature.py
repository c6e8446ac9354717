from __future__ import annotations

from augury.scoring.signature import with_resampling, without_resampling

BLEU = "nrefs:1|case:mixed|tok:13a|version:2.6.0"


def test_resampling_is_said_where_sacrebleu_says_it_and_taken_away_again():
    signed = with_resampling(BLEU, 1000, 12345)
    assert signed == "nrefs:1|bs:1000|seed:12345|case:mixed|tok:13a|version:2.6.0"
    assert without_resampling(signed) == BLEU
    assert with_resampling("labels:exact", 10, 1) == "bs:10|seed:1|labels:exact"
