"""The contract of a regime: which views of an example are read together, and their loss."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

from pydantic import Field

from augury.core import plugins
from augury.core.citations import Paper
from augury.core.config import validate
from augury.core.errors import UserError, unknown
from augury.core.mutability import MUTABLE, Mutability
from augury.core.plugins import Extension, Registry

if TYPE_CHECKING:
    from torch import Tensor, nn

SOURCE = "source"
TARGET = "target"
DEFAULT = "plain"
"""The regime of settings that name none."""
REGIMES = Registry(
    "regime",
    package="augury.regimes",
    attribute="REGIME",
    contract="set REGIME to a subclass of augury.regimes.regime.Regime",
)

VIEWS = Mutability("it decides which views are read together")

Scope = Literal["example", "token", "matrix"]
"""The scope of a norm of a perturbation."""


class Draw(NamedTuple):
    """One way of reading an example: the views that enter one batch together and the side they predict."""

    views: tuple[str, ...]
    target: str


def texts_read(draws: Sequence[Draw]) -> dict[tuple[str, str], float]:
    """Return the texts that training reads, as (view, predicted side), and how often a pass reads each on average."""
    counts = Counter((view, draw.target) for draw in draws for view in set(draw.views))
    return {text: count / len(draws) for text, count in counts.items()}


class Rows(NamedTuple):
    """The input of a model's last layer for a batch, at the positions that carry a label, and the layer.

    `hidden` (views, rows, size), `weight` (classes, size), `bias` (classes) or None, `labels` (rows). A row is a target
    token in translation and an example in classification.
    """

    hidden: Tensor
    weight: Tensor
    bias: Tensor | None
    labels: Tensor


class ViewModel(Protocol):
    """A model that reads chosen views of a batch in one concatenated forward pass."""

    def rows(self, batch: Any, views: Sequence[int]) -> Rows: ...


class Embedded(NamedTuple):
    """The words of one view of a batch as a model reads them, before positions are added and anything is normalised.

    `embeddings` (examples, length, size), detached, as they enter the network (after a scaling, where the model has
    one); `ids` (examples, length); `mask` (examples, length), True at tokens, special ones too, and False at pads.
    """

    embeddings: Tensor
    ids: Tensor
    mask: Tensor


@runtime_checkable
class PerturbableModel(ViewModel, Protocol):
    """A model whose word embeddings can be moved; `module` holds all of its parameters.

    `rows` adds `perturbation` (examples, length, size), zero at pads, to the embeddings of `embedded`, and then one
    view is read. Its rows must be those of no perturbation where that is zero, whatever the padding.
    """

    module: nn.Module

    def embedded(self, batch: Any, view: int) -> Embedded: ...

    def rows(self, batch: Any, views: Sequence[int], perturbation: Tensor | None = None) -> Rows: ...


class Progress(NamedTuple):
    """The progress of training: optimizer steps and passes over the training rows done before this batch."""

    update: int
    passes: float = 0.0


class Losses(NamedTuple):
    """`total` is a sum over rows; the step's loss is the sum of totals over the sum of divisors.

    Sums are divided once, by the divisor over all accumulation steps and workers, never as a mean of means. `metrics`
    holds detached sums over rows; `rows` is what they are divided by.
    """

    total: Tensor
    divisor: float
    rows: int
    metrics: dict[str, Tensor]


class Regime(Extension):
    """Parameters of a regime; a subclass adds its own, its draws and its loss."""

    name: Annotated[str, VIEWS]
    """The name of the regime, or the path of a file that holds it."""
    label_smoothing: Annotated[float, MUTABLE] = Field(0.1, ge=0, lt=1)
    """Mass taken from the label (ε)."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    needs_embeddings: ClassVar[bool] = False
    """True where the model must be a PerturbableModel: one whose word embeddings can be moved."""

    def papers(self) -> tuple[Paper, ...]:
        """Return the papers that the regime, with these parameters, comes from."""
        return ()

    @abstractmethod
    def draws(self, keys: Sequence[str]) -> list[Draw]:
        """Return how every example is read in one epoch, given the names of its views."""

    @abstractmethod
    def loss(self, model: ViewModel, batch: Any, progress: Progress) -> Losses:
        """Return the loss of one batch, whose examples are read in draws of as many views."""

    @property
    def work(self) -> float:
        """Return how often a batch goes forward and backward through the model."""
        return 1.0

    def onset(self, updates_per_pass: float) -> float:
        """Return the number of updates after which all of the loss acts: 0 without a warm-up."""
        return 0


class Delayed(Regime):
    """A regime a part of whose loss acts only after a warm-up, counted in updates or in passes."""

    warmup_steps: Annotated[int, MUTABLE] = Field(0, ge=0)
    """Optimizer steps of the warm-up."""
    warmup_passes: Annotated[float | None, MUTABLE] = Field(None, ge=0)
    """The same in passes over the training rows, in place of warmup_steps: whatever the size of batch and corpus."""

    def inactive(self) -> dict[str, str]:
        return {} if self.warmup_passes is None else {"warmup_steps": "warmup_passes gives the warm-up"}

    def warming(self, progress: Progress) -> bool:
        """Return whether the warm-up is still going on."""
        if self.warmup_passes is not None:
            return progress.passes < self.warmup_passes
        return progress.update < self.warmup_steps

    @property
    def work(self) -> float:
        """Return how often a batch goes forward and backward through the model."""
        return 1.0

    def onset(self, updates_per_pass: float) -> float:
        return self.warmup_steps if self.warmup_passes is None else self.warmup_passes * updates_per_pass


def parse(value: Any) -> Regime:
    """Return the regime that `{name: ..., parameters}` describes; raise UserError, which names the nearest one."""
    if isinstance(value, Regime):
        return value
    if isinstance(value, str):
        value = {"name": value}
    if isinstance(value, Mapping):
        value = {"name": DEFAULT, **value}
    if not isinstance(value, Mapping) or not isinstance(value["name"], str):
        raise UserError(f"a regime is 'name: ...' and its parameters; allowed names: {', '.join(names())}")
    schema, values = plugins.resolve(REGIMES, Regime, "name", value)
    name = values["name"]
    preset = values.pop("preset", None)
    if preset is not None and preset not in schema.PRESETS:
        raise unknown(f"preset of regime {name}", str(preset), schema.PRESETS)
    return validate(schema, {**schema.PRESETS.get(preset, {}), **values}, f"regime {name}")


def names() -> list[str]:
    """Return the names of the regimes there are."""
    return REGIMES.names()
