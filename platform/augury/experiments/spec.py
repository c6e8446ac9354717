"""The experiment file: the sections that all tasks have in common; a task adds its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

from pydantic import BeforeValidator, Field, SerializeAsAny, field_validator, model_validator

from augury.augment import operator
from augury.augment.health import HealthLimits
from augury.augment.models import ModelInputs, ReadyModel
from augury.augment.operator import DRAW, RECORDS, VIEW, Operator, TextSubset, check_columns
from augury.core import config
from augury.core.config import FileName, Section
from augury.core.errors import UserError, nearest, unknown
from augury.core.execution import Execution
from augury.core.faults import Fault, InvalidSettings
from augury.core.plugins import Registry
from augury.corpora.spec import BaseSpec, Share
from augury.decoding.settings import PLAIN
from augury.experiments.recording import Tracking
from augury.experiments.stored_runs import FIRST
from augury.models.settings import Pretrained
from augury.regimes import regime
from augury.regimes.plain import Plain
from augury.regimes.regime import SOURCE, Regime, ViewGroup
from augury.scoring.settings import Scoring
from augury.training.settings import Training
from augury.training.trained import Carry

if TYPE_CHECKING:
    from augury.augment.draw import TokenDraw

TASKS = Registry(
    "task",
    package="trainables",
    attribute="TASK",
    contract="set TASK to an instance of a subclass of augury.experiments.task.Task",
)
SHARED = ("name", "seeds", "storage", "execution", "tracking", "health")
"""The sections that all stages of an experiment share and that do not affect the trained model."""

Direction = Literal["max", "min"]
"""Whether the largest or the smallest value of a metric is the best, as `mode` of Ray Tune."""
LAST_SEED = 2**32 - 1  # of NumPy

AnyOperator = Annotated[SerializeAsAny[Operator], BeforeValidator(operator.parse)]
AnyRegime = Annotated[SerializeAsAny[Regime], BeforeValidator(regime.parse)]


def check_seeds(seeds: Any) -> tuple[int, ...]:
    """Return seeds; UserError unless they are a list of different whole numbers in a range."""
    if isinstance(seeds, int) and not isinstance(seeds, bool):
        several = f"[1, 2, ..., {seeds}]" if seeds > 3 else str([*range(1, seeds + 1)])
        number = f"for {seeds} seeds write {several}, " if seeds > 1 else ""
        raise UserError(f"a list is needed: {number}for the single seed {seeds} [{seeds}]")
    listed = seeds if isinstance(seeds, list | tuple) else [seeds]
    for seed in listed:
        if listed is not seeds or type(seed) is not int or not 0 <= seed <= LAST_SEED:
            raise UserError(
                f"{seed!r} is no seed: give a list of whole numbers from 0 to {LAST_SEED}, such as "
                "[1, 2, 3]"
            )
    if len(set(listed)) < len(listed):
        raise UserError(f"seeds {list(listed)} repeat: give each seed once")
    return tuple(listed)


class Stage(Section):
    """A stage of training that is not the first; `stages` writes it."""

    name: str
    """The name of the stage."""
    carry: Carry = "weights"
    """The state that is taken over from the stage before: its reported weights, or their
    optimizer and step too."""
    after: dict[str, Any]
    """The settings of the stage before."""


class Experiment(Section):
    """One question: a corpus, its augmentation, the training of a model on it, and the systems
    to compare."""

    name: FileName
    """The name of the experiment in tables and in MLflow."""
    task: str
    """The name of the task, or the path of a Python file."""
    seeds: tuple[int, ...] = Field((1,), min_length=1)
    """Every system is trained once per seed."""
    storage: str = "results"
    """Directory or URI of everything that is made."""
    corpus: BaseSpec
    """Training, validation and test text."""
    augment: tuple[AnyOperator, ...] = ()
    """Operators, in order."""
    mixture: dict[str, Share] = {}
    """The shares of operators' records in training: operator -> share.

    By default the share of their parents.
    """
    regime: AnyRegime = Plain()
    """How the losses over the views of an example combine."""
    training: Training = Training()
    """The optimisation, its budget and its validations."""
    execution: Execution = Execution()
    health: HealthLimits = HealthLimits()
    """What the output of operators must be for a system to be trained on it."""
    scoring: Scoring
    tracking: Tracking = Tracking()
    baseline: bool = True
    """Compare with the plain system or, where there are stages, with the first one, unless
    `systems` lists others."""
    systems: dict[str, dict[str, Any]] = {}
    """Systems to compare: name -> dotted keys that differ from this file.

    The first is the baseline.
    """
    stages: dict[str, dict[str, Any]] = {}
    """Stages of training after the one that this file describes: name -> dotted keys that differ
    from the stage before, and `carry`, the state that is taken over from it: its weights
    (`weights`), or the state and the step of its optimizer too (`optimizer`)."""
    stage: Stage | None = None
    """The stage of this experiment, if it is not the first; set by `stages`."""

    READS_TAGS: ClassVar[bool] = False
    """Whether the task's model reads symbols before sources, and some texts more often than
    others."""
    READS_SEVERAL_TEXTS: ClassVar[bool] = False
    """Whether the task can train on several texts, if not with weights and tags."""
    TRAININGS: ClassVar[Mapping[bool, type[Training]]] = {}
    """The section `training` of a pretrained model (True) or of one from nothing, where its
    defaults are others than those of the annotated one, of which it is a subclass."""

    def plain_system(self) -> dict[str, Any]:
        """Return the settings, by dotted key, that turn this experiment into its plain baseline."""
        plain: dict[str, Any] = {"name": "plain", "label_smoothing": self.regime.label_smoothing}
        return {"augment": [], "regime": plain, **({"mixture": {}} if self.mixture else {})}

    @property
    def validated(self) -> tuple[str, Direction]:
        """The metric that decides on the validation set, by its name in the history, and whether
        its largest or its smallest value is the best."""
        return "valid/loss", "min"

    @property
    def measured(self) -> list[str]:
        """What validation measures, by the names in the history; empty: it is not known before."""
        return []

    @property
    def view_names(self) -> list[str]:
        """The names of the views that the operators make."""
        return [part.name() for part in self._parts if _reads_as_view(part)]

    @property
    def views(self) -> tuple[str, ...]:
        """The views that texts can be rendered as: plain first, then those of the operators."""
        return (PLAIN, *(part.name() for part in self._parts if part.makes() == VIEW))

    @property
    def record_origins(self) -> list[str]:
        """The origins of the records that the operators make."""
        return [part.name() for part in self._parts if part.makes() == RECORDS]

    @property
    def is_weighted(self) -> bool:
        """Whether texts or records differ in their weights, or have tags."""
        shares = [*self.corpus.shares.values(), *self.mixture.values()]
        return any(share != Share() for share in shares)

    @property
    def tags(self) -> list[str]:
        """The symbols that stand before sources in training, validation or tests."""
        shares = [*self.corpus.shares.values(), *self.mixture.values()]
        splits = [split for split in self.corpus.splits() if split != "train"]
        tags = [*(share.tag for share in shares), *map(self.corpus.tag, splits)]
        return list(dict.fromkeys(tag for tag in tags if tag))

    @property
    def token_draws(self) -> list[TokenDraw]:
        """The operators that change token ids anew in every epoch."""
        return [
            cast("TokenDraw", operator) for operator in self.augment if operator.makes() == DRAW
        ]

    @property
    def _parts(self) -> list[Operator]:
        return [part for operator in self.augment for part in operator.parts()]

    def view_groups(self) -> list[ViewGroup]:
        """Return the groups of views that every example is read in, one in each epoch."""
        return self.regime.view_groups(self.view_names)

    def resolve_view(self, name: str) -> str:
        """Return the name of a view in tokens and vocabularies, `source` for `plain`; UserError for
        one that no text is rendered as, such as that of a draw."""
        if name in (PLAIN, SOURCE):
            return SOURCE
        if name not in self.views:
            raise UserError(f"no text is rendered as view '{name}': {nearest(name, self.views)}")
        return name

    @property
    def resegments(self) -> bool:
        """Whether the vocabulary can segment text anew (`text.pieces.resegmentation`)."""
        return False

    @property
    def pretrained(self) -> Pretrained | None:
        """The settings of the pretrained model; None for a model from nothing."""
        model = getattr(self, "model", None)
        return model if isinstance(model, Pretrained) else None

    @property
    def example_limit(self) -> int | None:
        """The maximum number of pieces of a training example; None where longer ones are cut."""
        return None

    @property
    def test_sets(self) -> list[str]:
        """The names of the sets that a trained model is scored on."""
        others = ("train", "valid", *self.corpus.dev_sets)
        return [name for name in self.corpus.splits() if name not in others]

    @cached_property
    def models(self) -> list[dict[str, Experiment | ReadyModel]]:
        """The models that each operator uses, by role: trained ones, or experiments that train
        them.

        Such experiments have the storage, execution and tracking of this one. UserError for a wrong
        setting in them.
        """
        if not any(operator.uses_models for operator in self.augment):
            return [{} for _ in self.augment]
        plain = self._plain_content()
        shared = self.model_dump(
            mode="json", include={"storage", "execution", "tracking", "health"}
        )
        models: list[dict[str, Experiment | ReadyModel]] = []
        for index, part in enumerate(self.augment):
            models.append({})
            for role, content in part.models(plain).items():
                if isinstance(content, ReadyModel):
                    models[-1][role] = content
                    continue
                trained = {"seeds": [1], "baseline": False, **content, **shared}
                model = _parse_model(index, role, trained)
                given = ModelInputs(model.views, model.corpus.languages)
                part.check_model(role, given, self.corpus.languages)
                models[-1][role] = model
        return models

    def _plain_content(self) -> dict[str, Any]:
        """Return the settings of the same training without augmentation, in all stages."""
        settings = self.model_dump(
            mode="json", exclude_unset=True, exclude={"name", "seeds", "systems", "baseline"}
        )
        plain = config.merge(settings, self.plain_system())
        if self.before:
            before = self.before._plain_content()
            after = {key: value for key, value in before.items() if key not in SHARED}
            plain["stage"] = {**plain["stage"], "after": after}
        return plain

    @property
    def model_experiments(self) -> dict[str, Experiment]:
        """The experiments that train models of operators, by operator and role."""
        trained = {}
        for user, models in zip(self.augment, self.models, strict=True):
            for role, model in models.items():
                if isinstance(model, Experiment):
                    trained[f"{role} of {user.operator}"] = model
        return trained

    @cached_property
    def before(self) -> Experiment | None:
        """The stage before this one, with the same storage, execution and tracking; None for a
        first stage."""
        if self.stage is None:
            return None
        shared = self.model_dump(mode="json", include={*SHARED})
        content = {**self.stage.after, **shared, "baseline": False}
        return parse(content, f"the stage before {self.stage.name}")

    @property
    def chain(self) -> list[Experiment]:
        """All stages up to this one, the first one first."""
        return [*(self.before.chain if self.before else []), self]

    @property
    def first(self) -> Experiment:
        """The first stage, whose vocabulary and fitted operators all stages share."""
        return self.chain[0]

    @property
    def stage_name(self) -> str:
        """The name of this stage."""
        return FIRST if self.stage is None else self.stage.name

    @field_validator("seeds", mode="before")
    @classmethod
    def _seeds(cls, seeds: Any) -> tuple[int, ...]:
        return check_seeds(seeds)

    @model_validator(mode="after")
    def _training_follows_model(self) -> Experiment:
        """Take the defaults that follow the model, where it has some; the file overrides them."""
        schema = self.TRAININGS.get(self.pretrained is not None)
        if schema and issubclass(schema, type(self.training)):
            settings = self.training.model_dump(exclude_unset=True)
            self.__dict__["training"] = schema.model_validate(settings)
        return self

    @model_validator(mode="after")
    def _readable(self) -> Experiment:
        for name in (*self.systems, *self.stages):
            if not name.isprintable() or "/" in name:
                raise UserError(
                    f"{ascii(name):.60} is no name of a system or stage: leave out '/', line ends "
                    "and other characters that are not seen"
                )
            if "seeds" in self.systems.get(name, ()):
                raise UserError(f"system '{name}' has seeds: all have those of the experiment")
        for name in self.stages:
            if name == FIRST or ":" in name:
                raise UserError(f"'{name}' is no name of a stage: leave out ':', and '{FIRST}'")
        for part in self._parts:
            check_columns(part, self.corpus.KIND.columns)
        made = [*self.view_names, *self.record_origins]
        if len(set(made)) < len(made):
            raise UserError(
                f"augment makes several things of one name: {', '.join(made)}; make each once"
            )
        self._check_draws()
        if not self.systems:  # with systems, each is one experiment, and this is none
            groups = self.view_groups()
            _check_views(self.regime, groups, self.view_names)
            _check_records(self.regime, groups, self.record_origins)
            for part in self._parts:
                if isinstance(part, TextSubset):
                    part.check_names([*self.corpus.mixture])
        if self.stage is not None:
            _check_schedule(self.stage.carry, self.training)
        self._check_mixture()
        _ = self.models  # raises for a wrong setting of a model
        return self

    def _check_draws(self) -> None:
        for draw in self.token_draws:
            if self.token_draws.count(draw) > 1:
                raise UserError(
                    f"augment has operator {draw.operator} twice with the same settings: change "
                    "its seed"
                )
            if draw.RESEGMENTS and not self.resegments:
                raise UserError(
                    f"operator {draw.operator} segments anew, and task {self.task} reads subwords "
                    "of its model's own: take word_drop or switch_out"
                )

    def _check_mixture(self) -> None:
        if not self.READS_TAGS and (self.is_weighted or self.tags or self.corpus.dev_sets):
            raise UserError(
                f"task {self.task} has no weight, tag and second validation text, which are for "
                "task nmt"
            )
        if not (self.READS_TAGS or self.READS_SEVERAL_TEXTS) and self.corpus.mixture:
            raise UserError(
                f"task {self.task} trains on one text; several are for tasks nmt and nli"
            )
        if not self.systems:
            for name in self.mixture:
                if name not in self.record_origins:
                    raise UserError(
                        f"mixture: {unknown('records', name, self.record_origins)}; texts say "
                        "theirs themselves"
                    )


def _check_views(regime: Regime, groups: Sequence[ViewGroup], views: Sequence[str]) -> None:
    """Check that the regime reads every view."""
    read = {view for group in groups for view in group.views}
    unread = [view for view in views if view not in read]
    if unread:
        raise UserError(
            f"regime {regime.name} does not read the view {unread[0]}: leave its operator out of "
            "augment, take a regime that reads it (multi_source, adversarial, or coregularised "
            "with over=ciphers), or make records of it where the operator can (use: records)"
        )


def _check_records(regime: Regime, groups: Sequence[ViewGroup], origins: Sequence[str]) -> None:
    """Check that no regime reads views of records, which have none."""
    together = [
        view for group in groups if len(group.views) > 1 for view in group.views if view != SOURCE
    ]
    if together and origins:
        raise UserError(
            f"regime {regime.name} reads the view {together[0]} with every source, and the records "
            f"of {', '.join(origins)} have none: take an operator's copies as views (use: view, of "
            "eda and reorder) or leave it out, or take a regime that reads one view at a time"
        )


def _check_schedule(carry: Carry, training: Training) -> None:
    """Check that a stage that carries the optimizer has a schedule that goes on."""
    ends = training.schedule == "linear" or training.warmup_share is not None
    if carry == "optimizer" and ends:
        raise UserError(
            "with carry: optimizer the schedule goes on from the step of the stage before, and a "
            "linear one or one with warmup_share has ended with it: take schedule inverse_sqrt or "
            "constant, or carry: weights"
        )


def _reads_as_view(part: Operator) -> bool:
    made = part.makes()
    return made == VIEW or (made == DRAW and cast("TokenDraw", part).use == "view")


def parse(content: dict[str, Any], where: str = "the experiment") -> Experiment:
    """Return the experiment that a mapping describes, typed by its task."""
    task = content.get("task")
    if not isinstance(task, str):
        raise UserError(f"{where} needs 'task:', the name of a task, for example 'task: nmt'")
    task = TASKS.reference(task)
    schema = getattr(TASKS.find(task), "EXPERIMENT", None)
    if not (isinstance(schema, type) and issubclass(schema, Experiment)):
        raise invalid_task(task)
    return config.validate(schema, {**content, "task": task}, where)


def invalid_task(name: str) -> UserError:
    """Return the error for a plug-in that is no task."""
    return UserError(
        f"'{name}' is not a valid task: its file must {TASKS.contract}, such as TASK = MyTask()"
    )


def _parse_model(index: int, role: str, content: dict[str, Any]) -> Experiment:
    """Return the experiment that trains an operator's model.

    Its faults are reported at the operator.
    """
    try:
        return parse(content)
    except InvalidSettings as error:
        faults = [
            Fault(("augment", str(index)), f"its {role}: {fault.text()}") for fault in error.faults
        ]
        raise InvalidSettings(error.subject, faults) from error
