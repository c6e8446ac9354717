"""What some tasks can do besides train and give outputs: protocols, and how they are asked for.

A task has a capability by having its methods. `capable` returns a task that has one; its UserError
lists the registered tasks that do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from augury.core.errors import UserError
from augury.experiments.spec import TASKS
from augury.experiments.task import find_task

if TYPE_CHECKING:
    import numpy as np

    from augury.core.execution import ExecutorName
    from augury.decoding.settings import Decoding, Sampler, Translator
    from augury.experiments.run import Run

C = TypeVar("C")


@runtime_checkable
class Preloads(Protocol):
    """A task that imports what training and scoring use before they do; others import it then."""

    def preload(self) -> None:
        """Import the modules, which takes seconds, and no more: the process is copied afterwards,
        and copies have neither its threads nor what libraries keep of their first computation."""


@runtime_checkable
class Translates(Protocol):
    """A task whose runs translate text."""

    def translator(self, run: Run, threads: int) -> Translator:
        """Return a run as a function that translates text, its model loaded once."""


@runtime_checkable
class Samples(Protocol):
    """A task whose runs draw text from their distribution."""

    def sampler(self, run: Run, whole: bool = False) -> Sampler:
        """Return a run as a function that draws text, its model loaded once.

        With `whole`, a text that is too long for the model has no output instead of being cut.
        """


@runtime_checkable
class Labels(Protocol):
    """A task whose runs give labels."""

    def labels(self, experiment: Any) -> tuple[str, ...]:
        """Return the labels, in the order of the probabilities."""

    def probabilities(self, run: Run, *columns: Sequence[str]) -> np.ndarray:
        """Return the probability of every label, (rows, labels), given columns of sentences."""


@runtime_checkable
class ShowsStates(Protocol):
    """A task whose runs show the ids that they read and the states of their encoder."""

    def pieces(self, run: Run) -> Sequence[str]:
        """Return the piece of every id, special symbols among them."""

    def encode(
        self, run: Run, texts: Sequence[str], view: str = "source", *, tagged: bool = True
    ) -> list[list[int]]:
        """Return clean texts, rendered as a view, as ids without the end of sentence.

        A model that reads tags has its tag first, unless `tagged` is false.
        """

    def translate_ids(
        self,
        run: Run,
        sources: Sequence[Sequence[int]],
        *,
        executor: ExecutorName = "local",
        decoding: Decoding | None = None,
        label: str = "translate",
        domain: str | None = None,
    ) -> list[str]:
        """Return the outputs for sources in untagged ids, read after the tag `domain` if given.

        `label` is that of the progress line.
        """

    def encoder_states(
        self, run: Run, sources: Sequence[Sequence[int]], domain: str | None = None
    ) -> list[np.ndarray]:
        """Return the mean encoder state of sources, (sources, hidden) per layer from embeddings on.

        Sources are untagged ids, not empty; tags and end of sentence are read, but not averaged.
        """


class Exported(NamedTuple):
    """The facts of an exported model that its card needs besides those of the run."""

    library: str
    """The library that reads it, as the hub calls it."""
    pipeline: str
    """The pipeline of the hub that runs it: translation, text-classification, ..."""
    languages: tuple[str, ...]
    usage: str
    """Python code that uses it, to be run in its directory."""
    notes: tuple[str, ...] = ()
    """Notes for its users."""
    base_model: str | None = None
    """The pretrained model that training began with."""
    reads_arguments: bool = False
    """Whether the code of `usage` takes inputs from its arguments, in place of its examples."""


@runtime_checkable
class Exports(Protocol):
    """A task whose runs can be written for other libraries."""

    def export(self, run: Run, form: str, directory: Path) -> Exported:
        """Write the model in another library's format into an existing directory."""


class Draft(NamedTuple):
    """What a task says in a first experiment on somebody's texts, in YAML."""

    question: str
    """What the experiment answers."""
    name: str
    """Of the system that is compared with the baseline."""
    system: str
    """The sections from `augment` to `model`, with comments."""
    training: str
    """The settings of training, `key: value, key: value`."""
    baseline: str
    """The settings in which the baseline differs from the system."""
    other: str
    """Those of one more system, as an example."""
    corpus: str = ""
    """Further settings of the corpus, for a comment."""


@runtime_checkable
class Drafts(Protocol):
    """A task that `augury init` writes experiment files of."""

    def draft(self, rows: int, model: str | None) -> Draft:
        """Return a first experiment for a training text of so many rows.

        `model` is the directory or hub name of a pretrained model, the name of an architecture that
        starts from nothing, such as `tiny`, or None for the task's choice.
        """


LACKS: Mapping[type, str] = {
    Translates: "runs of task {} translate nothing: take a run of task",
    Samples: "runs of task {} write no text: take a run of task",
    Labels: "runs of task {} label nothing: take a run of task",
    ShowsStates: "these analyses read translations and the states of their encoder, which runs of "
    "task {} do not have (`augury analyze attack RUN` is for classifiers too): they are for runs "
    "of task",
    Exports: "runs of task {} cannot be exported: take a run of task",
    Drafts: "task {} does not say how its experiments are drafted: take task",
}
"""Messages on a task without a capability; the tasks that have it follow."""


def capable(name: str, capability: type[C]) -> C:
    """Return the task called `name`, or at that path; UserError unless it has the capability."""
    task = find_task(name)
    if isinstance(task, capability):
        return task
    able = [known for known in TASKS.names() if isinstance(find_task(known), capability)]
    raise UserError(f"{LACKS[capability].format(name)} {' or '.join(able)}")
