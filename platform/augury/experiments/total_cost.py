"""What a finished run has cost with all that it comes of: stages before it, models of its operators, translations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from augury.core.store import Folder, Store
from augury.experiments.runs import DESCRIPTION, KIND, run_folder
from augury.training.trained import OUTCOME


@dataclass
class _Chain:
    """Everything that a run comes of, by its name in the store, each thing once."""

    outcomes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Of the trainings."""
    made: dict[str, float] = field(default_factory=dict)
    """Seconds of one process in which models made text."""
    uncounted: dict[str, None] = field(default_factory=dict)
    """Models that were trained elsewhere."""

    def add(self, run: Folder) -> None:
        """Add a run of this storage with all that it comes of."""
        if run.name in self.outcomes:
            return
        if not run.exists(OUTCOME):
            self.uncounted[run.name] = None
            return
        self.outcomes[run.name] = run.read_json(OUTCOME)
        facts = run.read_json(DESCRIPTION)
        description = facts.get("run", {})
        if before := description.get("before"):
            self.add(run_folder(Store(run.root), before, facts["seed"]))
        for name in {**description.get("views", {}), **description.get("records", {})}.values():
            self._add_made(Folder(run.root, name))

    def _add_made(self, part: Folder) -> None:
        """Add what the operator of a view or of records has worked with."""
        if not part.complete:
            return
        manifest = part.manifest()
        models: Mapping[str, str] = manifest.get("side_data", {}).get("models", {})
        for model in models.values():
            if model.startswith(f"{KIND}/"):
                self.add(Folder(part.root, model))
            else:
                self.uncounted[model] = None
        for folder in (Folder(part.root, name) for name in manifest.get("made_from", ())):
            if folder.complete:
                self.made[folder.name] = folder.manifest().get("seconds", 0.0)


def total_cost(run: Folder, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cost of a scored run's training, `own`, with what all trainings and models behind it took.

    `target_tokens`, `train_seconds`, `cpu_seconds` and `device_hours` are sums over the chain of stages and the models
    that operators worked with, the time in which these made text included where it was recorded; all else is the last
    training's. `cpu_seconds` is None where any of these trainings has none, because an earlier version wrote it.
    `trainings` says how many are in the sums, and `uncounted` names models that were trained elsewhere.
    """
    chain = _Chain()
    if run.exists(OUTCOME):
        chain.add(run)
    others = [outcome for name, outcome in chain.outcomes.items() if name != run.name]
    made = sum(chain.made.values())
    measured = [own.get("cpu_seconds"), *(outcome.get("cpu_seconds") for outcome in others)]
    cpu_seconds = [seconds for seconds in measured if seconds is not None]
    hours = [outcome["train_seconds"] * outcome["workers"] / 3600 for outcome in others]
    return {
        **own,
        "target_tokens": own["target_tokens"] + sum(outcome["rows"] for outcome in others),
        "train_seconds": own["train_seconds"] + made + sum(outcome["train_seconds"] for outcome in others),
        "cpu_seconds": made + sum(cpu_seconds) if len(cpu_seconds) == len(measured) else None,
        "device_hours": own["device_hours"] + made / 3600 + sum(hours),
        "trainings": 1 + len(others),
        "uncounted": list(chain.uncounted),
    }
