"""Sweep adversarial training (PGD): radius, length and number of steps."""

from __future__ import annotations

from typing import Any

from augury.sweeping.declarations import SearchSpace
from search_spaces.papers.xnli_adversarial import PAPER, SCALES

RADII = {"toy": [0.01, 0.02, 0.05], "small": [0.3, 1.0, 3.0], "paper": [0.3, 1.0, 3.0]}


def keys(scale: str) -> dict[str, list[Any]]:
    """Return radii as norms of the perturbation of a pair, which are smaller at the toy scale as
    its embeddings are."""
    return {
        "regime.epsilon": RADII[scale],
        "regime.alpha_share": [1.0, 1.5],
        "regime.steps": [2, 5],
    }


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """Return the paper's point, and one with a larger radius, which its steps cannot reach: the
    same experiment."""
    if scale == "toy":
        return {}
    return {
        f"ε = {epsilon:g}, α = 1, K = 3": {
            "regime.epsilon": epsilon,
            "regime.alpha": 1.0,
            "regime.steps": 3,
        }
        for epsilon in (3.0, 5.0)
    }


SPACE = SearchSpace(
    question="How strong should adversarial training be: radius, length and number of steps?",
    base={**PAPER["base"], "name": "pgd", "regime": {"name": "adversarial", "epsilon": 3.0}},
    scales=SCALES
    | {
        "toy": SCALES["toy"]
        | {"regime.epsilon": 0.02, "regime.clean_weight": 1.0, "regime.warmup_steps": 450}
    },
    keys=keys,
    rows=rows,
    reference={"regime": {"name": "plain"}},
    metric="valid/accuracy",
    seeds=(1, 2, 3),
    scheduler="race",
)
