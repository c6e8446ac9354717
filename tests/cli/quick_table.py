"""A table of a paper that does not exist, whose rows take a second: for tests that run whole reproductions."""

paper = "Nobody (1999), Agreement on a Handful of Sentences"
QUESTION = "Does agreement matter on a handful of sentences?"

TEXT = {"lexicon": 366}
base = {
    "name": "quick",
    "task": "nmt",
    "corpus": {
        "source_language": "de",
        "target_language": "en",
        "train": {"builtin": 300, **TEXT},
        "valid": {"builtin": 40, **TEXT},
        "tests": {"long": {"builtin": 60, **TEXT}, "short": {"builtin": 40, **TEXT}},
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
        "max_updates": 32,
        "validate_every": 8,
        "patience": 100,
        "average_last": 2,
    },
    "validation": {"sentences": 10},
    "decoding": {"beam": 1, "max_length": 30},
    "scoring": {"metrics": ["bleu"], "bootstrap_samples": 100},
    "tracking": {"enabled": False},
}
scales = {"toy": {}, "paper": {}}
metric, mode, seeds = "valid/loss", "min", (1, 2)
rows = {
    "baseline": {"augment": [], "regime": "plain"},
    "agreement": {"regime.beta": 5},
    "no agreement": {"regime.beta": 0},
    "no agreement, flatter": {"regime.beta": 0, "regime.tau": 2},
    "no model": {"training.learning_rate": 1e30},
}
where, tolerance = "Table 7", 0.5
published = {
    "baseline": {"mean": 12.0, "long": 11.0},
    "agreement": {"mean": 15.0},
    "no agreement": {"mean": None},
    "oracle": {"mean": 99.0},
}
literature = {"agreement": {"Table 8": 15.1}}
unavailable = {"oracle": "reads the references"}
deviations = {"toy": ["a handful of sentences"], "paper": []}
