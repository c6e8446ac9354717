"""A table of a fictitious paper whose rows take a second, for tests of whole reproductions."""

import runpy
from pathlib import Path

from augury.sweeping.declarations import PaperTable

quick = runpy.run_path(str(Path(__file__).parents[1] / "sweeping" / "quick.py"))["BASE"]
texts = {"long": {"builtin": 60, "lexicon": 366}, "short": {"builtin": 40, "lexicon": 366}}

TABLES = {
    "quick_table": PaperTable(
        paper="Nobody (1999), Agreement on a Handful of Sentences",
        where="Table 7",
        question="Does agreement matter on a handful of sentences?",
        base=quick
        | {
            "corpus": quick["corpus"] | {"tests": texts},
            "training": quick["training"] | {"max_updates": 32},
        },
        scales={"toy": {}, "paper": {}},
        rows={
            "baseline": {"augment": [], "regime": "plain"},
            "agreement": {"regime.beta": 5},
            "no agreement": {"regime.beta": 0},
            "no agreement, flatter": {"regime.beta": 0, "regime.tau": 2},
            "no model": {"training.learning_rate": 1e30},
        },
        metric="valid/loss",
        mode="min",
        seeds=(1, 2),
        published={
            "baseline": {"mean": 12.0, "long": 11.0},
            "agreement": {"mean": 15.0},
            "no agreement": {"mean": None},
            "oracle": {"mean": 99.0},
        },
        tolerance=0.5,
        deviations={"toy": ["a handful of sentences"], "paper": []},
        unavailable={"oracle": "reads the references"},
    )
}
