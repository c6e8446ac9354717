"""Adversarial training: how far words are moved, and in how many steps of which length."""

from ray import tune

from search_spaces.papers.xnli_adversarial import BASE, PLAIN, SCALES

QUESTION = "How strong should adversarial training be: radius, length and number of steps?"

base = {**BASE, "name": "pgd", "regime": {"name": "adversarial", "epsilon": 0.02}}
scales = SCALES
space = {
    "regime.epsilon": [0.01, 0.02, 0.05],
    "regime.alpha_share": [1.0, 1.5],
    "regime.steps": [2, 5],
}
domains = {
    "regime.epsilon": tune.loguniform(0.001, 10),
    "regime.alpha_share": tune.uniform(0.5, 2),
    "regime.steps": tune.choice([1, 2, 3, 5]),
    "regime.norm_scope": tune.choice(["example", "token", "matrix"]),
}
reference = {"regime": PLAIN}
metric, mode = "valid/accuracy", "max"
seeds = (1, 2, 3)
scheduler = "halving"
