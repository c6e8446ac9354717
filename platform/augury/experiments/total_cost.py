"""The total cost of a finished run: with stages before it, the models of its operators, and
their translations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from augury.core.store import Folder, Store
from augury.experiments.stored_runs import DESCRIPTION, KIND, run_folder
from augury.training.trained import OUTCOME


@dataclass
class _Dependencies:
    """Everything that a run was made from, by name in the store, each counted once."""

    outcomes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """The outcomes of trainings."""
    generation_seconds: dict[str, float] = field(default_factory=dict)
    """The seconds, for one process, in which models generated text."""
    uncounted: dict[str, None] = field(default_factory=dict)
    """Models that were trained elsewhere."""

    def add(self, run: Folder) -> None:
        """Add a run of this storage with everything that it was made from."""
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
            self._add_part(Folder(run.root, name))

    def _add_part(self, part: Folder) -> None:
        """Add the models that made a view or records, and the time in which they did."""
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
                self.generation_seconds[folder.name] = folder.manifest().get("seconds", 0.0)


def total_cost(run: Folder, training_cost: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cost of a scored run's training, `own`, with the cost of all trainings and models
    behind it.

    `target_tokens`, `train_seconds`, `cpu_seconds` and `device_hours` are sums over all stages and
    the models that operators used, with the time in which these generated text where it was
    recorded; all other numbers are those of the last training. `cpu_seconds` is None where a
    training has none because an earlier version wrote its outcome. `trainings` is the number of
    trainings in the sums, and `uncounted` names models that were trained elsewhere.
    """
    dependencies = _Dependencies()
    if run.exists(OUTCOME):
        dependencies.add(run)
    others = [outcome for name, outcome in dependencies.outcomes.items() if name != run.name]
    generation_seconds = sum(dependencies.generation_seconds.values())
    measured = [
        training_cost.get("cpu_seconds"),
        *(outcome.get("cpu_seconds") for outcome in others),
    ]
    cpu_seconds = [seconds for seconds in measured if seconds is not None]
    hours = [outcome["train_seconds"] * outcome["workers"] / 3600 for outcome in others]
    return {
        **training_cost,
        "target_tokens": training_cost["target_tokens"]
        + sum(outcome["rows"] for outcome in others),
        "train_seconds": training_cost["train_seconds"]
        + generation_seconds
        + sum(other["train_seconds"] for other in others),
        "cpu_seconds": generation_seconds + sum(cpu_seconds)
        if len(cpu_seconds) == len(measured)
        else None,
        "device_hours": training_cost["device_hours"] + generation_seconds / 3600 + sum(hours),
        "trainings": 1 + len(others),
        "uncounted": list(dependencies.uncounted),
    }
