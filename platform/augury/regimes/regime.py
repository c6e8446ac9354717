"""Base classes of regimes: which views of an example are read together, and the loss over them."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from pydantic import Field

from augury.core import plugins
from augury.core.config import validate
from augury.core.errors import UserError, unknown
from augury.core.plugins import Extension, Registry

if TYPE_CHECKING:
    from torch import Tensor, nn

SOURCE = "source"
TARGET = "target"
NO_LETTERS = re.compile(r"[\W_]")
REGIMES = Registry(
    "regime",
    package="augury.regimes",
    attribute="REGIME",
    contract="set REGIME to a subclass of augury.regimes.regime.Regime",
)


class ViewGroup(NamedTuple):
    """Views of an example that are read together, and the side that they predict."""

    views: tuple[str, ...]
    target: str


class Rows(NamedTuple):
    """The output layer of a model and its input, at all positions of a batch that have a label.

    `hidden` is (views, rows, size), `weight` (classes, size), `bias` (classes,) or None, `labels`
    (rows,). A row is a target token in translation and an example in classification.
    """

    hidden: Tensor
    weight: Tensor
    bias: Tensor | None
    labels: Tensor


class ViewModel(Protocol):
    """A model that computes selected views of a batch in one forward pass."""

    def rows(self, batch: Any, views: Sequence[int]) -> Rows: ...


class Embedded(NamedTuple):
    """The embedded tokens of one view of a batch, before position embeddings and normalisation.

    `embeddings` is (examples, length, size), detached and scaled as the model does; `mask`
    (examples, length), True at tokens, including special ones, and False at padding.
    """

    embeddings: Tensor
    mask: Tensor


@runtime_checkable
class PerturbableModel(ViewModel, Protocol):
    """A model whose word embeddings can be perturbed; `module` has all of its parameters.

    `rows` adds `perturbation` (examples, length, size), zero at padding, to the embeddings of a
    single view. A perturbation of zero must not change the result.
    """

    module: nn.Module

    def embedded(self, batch: Any, view: int) -> Embedded: ...

    def rows(
        self, batch: Any, views: Sequence[int], perturbation: Tensor | None = None
    ) -> Rows: ...


class Progress(NamedTuple):
    """Optimizer steps and epochs over the training rows completed before a batch."""

    update: int
    epochs: float = 0.0


class Losses(NamedTuple):
    """The loss of a batch, summed over rows, with its divisor.

    The loss of an optimizer step is the sum of `total` divided by the sum of `divisor`, over all
    accumulation steps and workers, and not a mean of means. `metrics` are detached sums to be
    divided by `rows`.
    """

    total: Tensor
    divisor: float
    rows: int
    metrics: dict[str, Tensor]


class Regime(Extension):
    """Parameters of a regime; subclasses define their own parameters, view groups and loss."""

    name: str
    """Name of the regime, or path of a file that defines one."""
    preset: str | None = Field(None, exclude=True)
    """Preset that the other settings override."""
    label_smoothing: float = Field(0.1, ge=0, lt=1)
    """Probability mass taken from the label (ε)."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @abstractmethod
    def view_groups(self, views: Sequence[str]) -> list[ViewGroup]:
        """Return the view groups of each example, given the names of its views; an epoch reads one
        of them."""

    def loss(self, model: ViewModel, batch: Any, progress: Progress) -> Losses:
        """Return the loss of a batch, whose view groups all have the same number of views; by
        default the label-smoothed cross-entropy of the first one, averaged over rows."""
        return cross_entropy(model.rows(batch, [0]), self.label_smoothing)

    @property
    def relative_cost(self) -> float:
        """The number of forward and backward passes for each batch."""
        return 1.0

    def onset(self, updates_per_epoch: float) -> float:
        """Return the number of updates until the complete loss applies: 0 without a warm-up."""
        return 0


def cross_entropy(rows: Rows, label_smoothing: float) -> Losses:
    """Return the label-smoothed cross-entropy of one view, summed over rows; their number is the
    divisor."""
    from augury.regimes.objective import view_objective  # imports torch, which takes seconds

    terms = view_objective(*rows, weights=[1.0], label_smoothing=label_smoothing)
    count, metrics = rows.labels.numel(), {"nll": terms.nll[0], "correct": terms.correct[0]}
    return Losses(terms.total, count, count, metrics)


class WarmupRegime(Regime):
    """A regime whose loss is complete only after a warm-up of updates or epochs."""

    warmup_steps: int = Field(0, ge=0)
    """Optimizer steps of the warm-up."""
    warmup_epochs: float | None = Field(None, ge=0)
    """Epochs of the warm-up, in place of warmup_steps: independent of the sizes of batch and
    corpus."""

    def inactive(self) -> dict[str, str]:
        if self.warmup_epochs is None:
            return {}
        return {"warmup_steps": "warmup_epochs sets the warm-up"}

    def in_warmup(self, progress: Progress) -> bool:
        """Return whether training is still in the warm-up."""
        if self.warmup_epochs is not None:
            return progress.epochs < self.warmup_epochs
        return progress.update < self.warmup_steps

    def onset(self, updates_per_epoch: float) -> float:
        if self.warmup_epochs is not None:
            return self.warmup_epochs * updates_per_epoch
        return self.warmup_steps


SHORTEN = (
    "lower regime.warmup_steps, regime.warmup_epochs or regime.ramp_epochs, or raise "
    "training.max_epochs or training.max_updates"
)
"""What to do where training ends before a regime's loss is complete."""


def late_onset(onset: float, last: int) -> str:
    """Return that the loss is complete too late, or never, where training ends after update
    `last`; empty where it is for half of the training or more."""
    if onset <= last / 2:
        return ""
    share = max(0.0, 100 * (1 - onset / last))
    acts = f"acts in full for {share:.0f} % of it" if share else "never acts in full"
    return (
        f"the regime's warm-up ends after update {onset:,.0f}, and training after update {last:,}, "
        f"so that its loss {acts}: {SHORTEN}"
    )


def no_views(regime: str, alternative: str = "") -> UserError:
    """Return the error for a regime that needs views in an experiment without any."""
    return UserError(
        f"regime {regime} needs views, and the experiment has none: add an operator that creates "
        "them to augment, such as {operator: cipher, keys: [1, 2]} or {operator: bpe_dropout, "
        "use: view} for translation, or {operator: eda, use: view} for sentence pairs (reorder "
        f"and draws support use: view too){f', {alternative}' if alternative else ''}"
    )


def parse(value: Any) -> Regime:
    """Return the regime described by a name or `{name: ..., parameters}`; UserError for an unknown
    name."""
    if isinstance(value, Regime):
        return value
    if isinstance(value, str):
        value = {"name": value}
    if isinstance(value, Mapping):
        value = {"name": "plain", **value}
    if not isinstance(value, Mapping) or not isinstance(value["name"], str):
        raise UserError(
            f"regime is {value!r:.60}: give 'name: ...' and its parameters; allowed names: "
            f"{', '.join(REGIMES.names())}"
        )
    if value["name"] not in REGIMES:
        written, presets = NO_LETTERS.sub("", value["name"].lower()), []
        for regime in REGIMES.builtin():
            for preset in REGIMES.find(regime).PRESETS:
                if NO_LETTERS.sub("", preset) == written:
                    presets.append(f"{{name: {regime}, preset: {preset}}}")
        if presets:  # such as R-Drop
            raise UserError(f"'{value['name']}' is a preset: write regime: {' or '.join(presets)}")
    schema, values = plugins.resolve(REGIMES, Regime, "name", value)
    name = values["name"]
    preset = values.get("preset")
    if preset is not None and preset not in schema.PRESETS:
        raise unknown(f"preset of regime {name}", str(preset), schema.PRESETS)
    return validate(schema, {**schema.PRESETS.get(preset, {}), **values}, f"regime {name}")
