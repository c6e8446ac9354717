"""Figure 6: the scores of CipherDAug's translations from plain and from enciphered sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.analysis.outputs import outputs
from augury.analysis.system import System
from augury.sweeping import printed
from search_spaces.papers import cipherdaug as common

QUESTION = "Does CipherDAug translate enciphered sources as well as plain ones?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "Transformer"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The baseline, which reads plain sources only, and CipherDAug with two keys."""
    return {"Transformer": common.row(), "CipherDAug-2 keys": common.cipherdaug(scale, 2)}


def measure(system: System) -> Mapping[str, float]:
    """Return the first metric of the experiment by view; `augury analyze` tests the differences."""
    scored_by = system.run.experiment.scoring.metrics[0]
    (result,) = outputs([system], examples=0, scored_by=scored_by)
    return {view.view: view.value for view in result.views}


paper, tolerance = common.PAPER, common.TOLERANCE
where = "Figure 6"
_VIEWS = ("plain", "rot-1", "rot-2")
published = printed.read(common.PUBLISHED, "figure6", {view: view for view in _VIEWS})
deviations = common.deviations()
