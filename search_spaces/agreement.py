"""Sweep the agreement of CipherDAug: weight, temperature and warm-up."""

from __future__ import annotations

from typing import Any

from augury.sweeping.declarations import SearchSpace
from search_spaces.scales import CIPHERDAUG, at_scales


def domains(scale: str) -> dict[str, Any]:
    from ray import tune

    return {
        "regime.beta": tune.loguniform(0.1, 20),
        "regime.tau": tune.uniform(0.5, 4),
        "regime.warmup_epochs": tune.choice([0, 5, 10, 25]),
    }


SPACE = SearchSpace(
    question="How strongly should the agreement between a source and its cipher be weighted?",
    base=CIPHERDAUG,
    scales=at_scales(),
    keys={"regime.beta": [0, 1, 2, 5, 10], "regime.tau": [1, 2]},
    domains=domains,
    metric="valid/bleu",
    mode="max",
    seeds=(1, 2, 3),
    scheduler="race",
)
