"""A search space whose trials take a second, for tests of whole sweeps."""

from augury.sweeping.declarations import SearchSpace

BASE = {
    "name": "quick",
    "task": "nmt",
    "corpus": {
        "source_language": "de",
        "target_language": "en",
        "train": {"builtin": 300, "lexicon": 366},
        "valid": {"builtin": 40, "lexicon": 366},
        "tests": {"test": {"builtin": 60, "lexicon": 366}},
    },
    "augment": [{"operator": "cipher", "keys": [1]}],
    "vocabulary": {"size": 300, "size_per_key": 100},
    "model": {
        "architecture": "tiny",
        "encoder_layers": 1,
        "decoder_layers": 1,
        "hidden_size": 32,
        "feedforward_size": 64,
    },
    "regime": {"name": "coregularised", "warmup_steps": 5},
    "training": {
        "max_tokens": 500,
        "learning_rate": 5e-3,
        "warmup_updates": 10,
        "max_updates": 64,
        "validate_every": 8,
        "patience": 100,
        "average_last": 2,
    },
    "validation": {"sentences": 10},
    "decoding": {"beam": 1, "max_length": 30},
    "scoring": {"metrics": ["bleu"]},
    "tracking": {"enabled": False},
}
SPACE = SearchSpace(
    question="Does agreement matter on a handful of sentences?",
    base=BASE,
    keys={"regime.beta": [0, 5]},
    metric="valid/loss",
    mode="min",
    seeds=(1, 2),
)
