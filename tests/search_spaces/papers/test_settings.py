"""Settings of papers and of their released code, as rows resolve to them."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pytest

from augury.core.config import merge
from augury.core.store import Store
from augury.experiments.spec import parse
from augury.experiments.systems import last_stage
from augury.reporting.papers.table import find
from trainables.nmt.translators import FromNothing

# train_cipherdaug.sh and multi_preprocess.sh; fairseq's own ε of Adam.
CIPHERDAUG = {
    "training.max_tokens training.accumulation training.workers": (5000, 4, 1),
    "training.warmup_updates training.patience training.clip_norm": (6000, 25, 0.1),
    "training.weight_decay training.adam_eps model.embeddings.size": (1e-4, 1e-8, 256),
}
# methods.md, B2: Noam's rate at step 8000, eight batches of 4096, 70 subwords, beam 5 without a
# length penalty.
NOISY = {
    "training.learning_rate training.warmup_updates": (pytest.approx(9.88212e-4), 8000),
    "training.max_tokens training.accumulation training.adam_betas": (4096, 8, (0.9, 0.998)),
    "training.max_epochs training.validate_every training.patience": (5, 5000, 16),
    "decoding.beam decoding.length_penalty max_pieces": (5, 0.0, 70),
    "model.norm model.share_all_embeddings": ("pre", False),
    "corpus.filter.max_length corpus.filter.max_ratio": (70, 9),
}
RELEASED = {"training.max_epochs training.max_updates training.accumulation": (None, 2_000_000, 8)}
TUNED = "training.max_tokens training.validate_every training.patience"
REGIME = {"regime.beta regime.warmup_steps regime.warmup_views": (5, 500, "cipher")}
RATES = "dropout attention_dropout activation_dropout"
ROWS = {
    ("cipherdaug/table2", "released_code", "Transformer"): CIPHERDAUG,
    ("cipherdaug/table2", "released_code", "20 keys, eq. 2"): CIPHERDAUG,
    ("cipherdaug/table2", "released_code", "CipherDAug - 2 keys"): CIPHERDAUG | REGIME,
    ("cipherdaug/table11", "paper", "CipherDAug, dropout 0.3"): {RATES: (0.3, 0.1, 0.0)},
    ("cipherdaug/table11", "paper", "CipherDAug, dropout 0"): {RATES: (0.0, 0.0, 0.0)},
    ("noisy_nmt/table3", "paper", "Baseline"): NOISY | {RATES: (0.1, 0.1, 0.1)},
    ("noisy_nmt/table3", "released_code", "Baseline"): RELEASED,
    ("noisy_nmt/table3", "released_code", "Tune-S"): {TUNED: (1000, 100, 10)},
    ("noisy_nmt/table3", "released_code", "+FT+FM"): {TUNED: (4096, 50, 5)},
    ("noisy_nmt/table3", "released_code", "+double tune"): {TUNED: (4096, 25, 8)},
}


@pytest.mark.parametrize("where", ROWS)
def test_settings_are_those_of_papers_and_scripts(where: tuple[str, str, str]) -> None:
    name, scale, row = where
    space = find(name, scale).space
    experiment: Any = last_stage(parse(merge(space.base, space.rows[row]), row))
    for paths, values in ROWS[where].items():
        settings = experiment.model.sizes if paths == RATES else experiment
        assert attrgetter(*paths.split())(settings) == values


def test_the_vocabulary_of_the_released_script_has_a_tag_a_key() -> None:
    space = find("cipherdaug/table2", "released_code").space
    experiment: Any = parse(merge(space.base, space.rows["20 keys, eq. 2"]))
    assert FromNothing(experiment).entries(Store(".")) == 16_000 + 20
    assert experiment.prefix() == ["__en__"]
