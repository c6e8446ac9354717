"""The graph of what systems need, made once for a command: trainings with all before them.

A plan has the addresses of all that lies between the corpora and one training, a stage of a system
or a model that an operator uses. A step is the work that makes some of it: the texts of a plan, or
the model of one seed. Nothing is made here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from augury.augment import pipeline
from augury.augment.models import ReadyModel
from augury.augment.operator import RECORDS
from augury.core import config
from augury.core.store import Folder, Store
from augury.corpora.corpus import CORPORA
from augury.experiments.record import run_folder
from augury.experiments.spec import Experiment
from augury.experiments.systems import canonical
from augury.experiments.task import find_task
from augury.regimes.regime import SOURCE
from augury.text.tokens import TOKENS, Text, Tokenizer
from augury.training.settings import without_end

VERSION = 2
"""Raised when the same inputs are prepared or trained on otherwise; part of every run's address."""
TRAIN, VALID = "train", "valid"


@dataclass(frozen=True, eq=False)
class Plan:
    """The addresses of everything between the corpora and a training, whether it exists or not."""

    experiment: Experiment
    store: Store
    parts: Sequence[pipeline.Part]
    learned_from: Mapping[str, Text]
    """The texts that the tokenizer is learned from: sides of the corpus and views, by name.

    Records are left out, so that systems with and without them have equal pieces for plain text.
    """
    tokenizer: Tokenizer
    texts: Mapping[str, Text]
    """All texts that are tokenised: those of `learned_from`, records, and the sides of the
    validation set."""
    tokens: Mapping[str, Folder]
    address: str
    prefix: str
    """The hash of everything that determines training, except when it ends."""
    before: Plan | None
    """The plan of the stage before; None for a first stage."""
    models: Mapping[str, Plan]
    """The plans of the models that operators use, by operator and role."""

    @property
    def first(self) -> Plan:
        """The plan of the first stage, whose tokenizer and fitted operators all stages share."""
        return self if self.before is None else self.before.first

    def run(self, seed: int) -> Folder:
        """Return the folder of the run with a seed."""
        return run_folder(self.store, self.address, seed)


class Step(NamedTuple):
    """The work that makes the texts of a plan or, with a seed, its model."""

    address: str
    """That of the plan."""
    seed: int | None = None


class Graph:
    """The plans of systems, of the stages before them and of the models that they use, each once.

    All are planned in canonical form, so that settings without effect lead to the same plan.
    """

    def __init__(self, store: Store):
        self.store = store
        self.plans: dict[str, Plan] = {}
        """By address, inputs first."""
        self.systems: dict[str, Plan] = {}
        """The plans of systems, by name."""
        self.names: dict[Step, str] = {}
        """All steps, inputs first, with the names of their plans for people: `+BT`, `+BT, first`,
        `translator of back_translation of +BT`."""
        self.scored: set[Step] = set()
        """The models that are scored: those of systems and of stages before them."""
        self._known: dict[str, Plan] = {}

    def add(
        self, systems: Mapping[str, Experiment], seeds: Sequence[int] | None = None
    ) -> dict[str, Plan]:
        """Add systems, with their own seeds unless others are given, and all that comes before
        them; return their plans by name."""
        added = {name: self.plan(system) for name, system in systems.items()}
        self.systems |= added
        for name, plan in added.items():
            of_system = plan.experiment.seeds if seeds is None else seeds
            self._add(plan, name, of_system, scored=True)
        return added

    def _add(self, plan: Plan, name: str, seeds: Sequence[int], *, scored: bool) -> None:
        if plan.before:
            stage = f"{name}, {plan.before.experiment.stage_name}"
            self._add(plan.before, stage, seeds, scored=scored)
        for role, model in plan.models.items():
            self._add(model, f"{role} of {name}", model.experiment.seeds, scored=False)
        self.plans.setdefault(plan.address, plan)
        # A stage or a model that is a system too has that system's name.
        systems = {plan.address: name for name, plan in reversed(self.systems.items())}
        self.names.setdefault(Step(plan.address), systems.get(plan.address, name))
        for seed in seeds:
            step = Step(plan.address, seed)
            if scored:
                self.names[step] = self.names[Step(plan.address)]
                self.scored.add(step)
            self.names.setdefault(step, name)

    def inputs(self, step: Step) -> list[Step]:
        """Return the steps that a step needs directly."""
        plan = self.plans[step.address]
        if step.seed is not None:
            before = [Step(plan.before.address, step.seed)] if plan.before else []
            return [Step(plan.address), *before]
        needed = []
        for model in plan.models.values():
            needed += [Step(model.address, seed) for seed in model.experiment.seeds]
        if plan.before:  # the first stage has the vocabulary and what operators have learned
            needed.append(Step(plan.first.address))
        return needed

    def is_made(self, step: Step) -> bool:
        """Return whether a step is a model for others that is trained, so that its texts need not
        be there."""
        return step not in self.scored and self.is_trained(step)

    def is_trained(self, step: Step) -> bool:
        """Return whether a step is a model that is trained."""
        return step.seed is not None and self.plans[step.address].run(step.seed).complete

    def missing(self, targets: Iterable[Step]) -> list[Step]:
        """Return steps with all that they need, in the order in which they are to begin.

        Texts come first, as their faults end everything; then models that others wait for.
        """
        # A trained model needs no texts: what lies before it may have been deleted.
        needed: set[Step] = set()
        waiting = list(targets)
        while waiting:
            step = waiting.pop()
            if step not in needed:
                needed.add(step)
                waiting += () if self.is_made(step) else self.inputs(step)
        steps = [step for step in self.names if step in needed]
        return sorted(steps, key=lambda step: (step.seed is not None, step in self.scored))

    def plan(self, experiment: Experiment) -> Plan:
        """Return the plan of a training, in canonical form; reads the corpora's files, and makes
        nothing."""
        experiment = canonical(experiment).experiment
        key = f"{type(experiment).__qualname__} {experiment.model_dump_json()}"
        if key not in self._known:
            self._known[key] = self._plan(experiment)
        return self._known[key]

    def models(self, experiment: Experiment) -> list[pipeline.Models]:
        """Return the models of each operator by role, `<role>-<seed>` where an experiment has
        several seeds; nothing is trained."""
        from augury.experiments.ready_models import RunModel, ready_model

        of_operators: list[pipeline.Models] = []
        for roles in experiment.models:
            models: dict[str, Any] = {}
            for role, model in roles.items():
                if isinstance(model, ReadyModel):
                    models[role] = ready_model(model)
                    continue
                for seed in model.seeds:
                    run = RunModel(self.plan(model).run(seed).name, model.task)
                    models[role if len(model.seeds) == 1 else f"{role}-{seed}"] = run
            of_operators.append(models)
        return of_operators

    def _plan(self, experiment: Experiment) -> Plan:
        store, task = self.store, find_task(experiment.task)
        before = self.plan(experiment.before) if experiment.before else None
        corpora = {
            split: task.corpus_address(experiment, split)
            for split in (TRAIN, *validation_sets(experiment))
        }
        # Ciphers of all stages have one alphabet, for one vocabulary.
        fitted_on = task.corpus_address(experiment.first, TRAIN) if before else None
        parts = pipeline.plan(
            corpora[TRAIN], experiment.augment, store, fitted_on, self.models(experiment)
        )
        train, *dev = (store.folder(CORPORA, address) for address in corpora.values())
        # Records are tokenised, but no vocabulary is learned from them: plain text is segmented
        # alike in systems with and without them.
        sides = task.sides(experiment)
        learned_from = {side: Text(train, columns, side) for side, columns in sides.items()}
        records: dict[str, Text] = {}
        for part in parts:
            into = records if part.operator.makes() == RECORDS else learned_from
            into |= _texts_of(part, sides)
        tokenizer = task.tokenizer(experiment, learned_from, store)
        if before:  # embeddings are carried over: all stages have the vocabulary of the first
            tokenizer = before.first.tokenizer
        valid_texts = {
            held_out(side, split): Text(folder, columns, side)
            for split, folder in zip(validation_sets(experiment), dev, strict=True)
            for side, columns in sides.items()
        }
        texts = {**learned_from, **records, **valid_texts}
        tokens = {
            name: store.folder(TOKENS, text.address(tokenizer.name)) for name, text in texts.items()
        }
        determined = _determined(experiment, tokenizer, tokens, before)
        return Plan(
            experiment=experiment,
            store=store,
            parts=parts,
            learned_from=learned_from,
            tokenizer=tokenizer,
            texts=texts,
            tokens=tokens,
            address=config.address(determined),
            prefix=config.address({**determined, "training": without_end(experiment.training)}),
            before=before,
            models={name: self.plan(model) for name, model in experiment.model_experiments.items()},
        )


def _determined(
    experiment: Experiment, tokenizer: Tokenizer, tokens: Mapping[str, Folder], before: Plan | None
) -> dict[str, Any]:
    """Return everything that determines a model, for its address.

    What is not here, such as decoding and scoring, changes no model: systems that differ in nothing
    else share their runs.
    """
    task = find_task(experiment.task)
    determined = {
        "task": experiment.task,
        "version": [VERSION, task.VERSION],
        "tokenizer": tokenizer.name,
        "tokens": [[name, folder.name] for name, folder in tokens.items()],
        "draws": [
            operator.to_dict() | {"version": operator.VERSION}
            for operator in experiment.token_draws
        ],
        "regime": experiment.regime.to_dict(),
        "training": experiment.training.to_dict(),
        **task.address_settings(experiment),
    }
    if experiment.is_weighted:
        texts = {name: share.to_dict() for name, share in experiment.corpus.shares.items()}
        records = {name: share.to_dict() for name, share in experiment.mixture.items()}
        determined["mixture"] = {"texts": texts, "records": records}
    if experiment.stage:
        assert before is not None
        determined["stage"] = {"before": before.address, "carry": experiment.stage.carry}
    return determined


def validation_sets(experiment: Experiment) -> tuple[str, ...]:
    """Return the splits that training is validated on; the first decides."""
    return VALID, *experiment.corpus.dev_sets


def held_out(side: str, split: str = VALID) -> str:
    """Return the name of a side of a validation set among a run's tokens."""
    return f"{split} {side}"


def _texts_of(part: pipeline.Part, sides: Mapping[str, tuple[str, ...]]) -> dict[str, Text]:
    """Return the texts of a view, with the columns of the first side, or of records with those
    of all sides."""
    if part.operator.makes() == RECORDS:
        from augury.experiments.examples import of_record

        return {
            of_record(part.name, side): Text(part.folder, columns, side)
            for side, columns in sides.items()
        }
    columns = sides[SOURCE]
    return {part.name: Text(part.folder, columns if len(columns) > 1 else ("text",), part.name)}
