"""A table of a fictitious paper whose rows take a second, for tests of whole reproductions."""

import runpy
from pathlib import Path

paper = "Nobody (1999), Agreement on a Handful of Sentences"
QUESTION = "Does agreement matter on a handful of sentences?"

base = runpy.run_path(str(Path(__file__).parents[1] / "sweeping" / "quick.py"))["base"]
texts = {"long": {"builtin": 60, "lexicon": 366}, "short": {"builtin": 40, "lexicon": 366}}
base |= {
    "corpus": base["corpus"] | {"tests": texts},
    "training": base["training"] | {"max_updates": 32},
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
