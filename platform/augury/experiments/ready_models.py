"""Trained models that operators use without training: a run of any storage, or a checkpoint of
`transformers`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from augury.augment.models import ModelInputs, ReadyModel, TextModel
from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.corpora.corpus import LABELS
from augury.decoding.checkpoint import Checkpoint
from augury.decoding.settings import PLAIN
from augury.experiments.run import Run
from augury.experiments.stored_runs import locate
from augury.experiments.task import Labels, Samples, Translates, capable

if TYPE_CHECKING:
    from augury.decoding.settings import Sampler, Translator


def ready_inputs(settings: ReadyModel) -> ModelInputs:
    """Return what the model that settings name reads; UserError where a run is not there."""
    if settings.run is None:
        return ModelInputs((PLAIN,), None)
    experiment = Run.read(locate(settings.run)).experiment
    return ModelInputs(experiment.views, experiment.corpus.languages)


def ready_model(settings: ReadyModel) -> TextModel:
    """Return the model that settings name, loaded when it is used; UserError where a run is not
    there."""
    if settings.checkpoint is not None:
        return Checkpoint(settings.checkpoint, settings.revision, settings.languages)
    assert settings.run is not None
    folder = locate(settings.run)
    return RunModel(folder.name, Run.read(folder).experiment.task, folder.root)


@dataclass(frozen=True)
class RunModel:
    """The model of a finished run, loaded where it is used."""

    name: str
    """The run's folder in its store, which identifies the model."""
    task: str
    root: str | None = None
    """The storage of the run; None: the storage that the operator writes to."""

    on_gpu: ClassVar[bool] = False

    def sampler(self, store: Store) -> Sampler:
        """Return the model as a function that writes text, loaded once."""
        return capable(self.task, Samples).sampler(self._run(store))

    def translator(self, store: Store, threads: int = 1) -> Translator:
        """Return the model as a function that translates text, loaded once."""
        return capable(self.task, Translates).translator(self._run(store), threads)

    def probabilities(self, store: Store, *columns: Sequence[str]) -> np.ndarray:
        """Return the probabilities of `LABELS`, (rows, labels), given columns of sentences."""
        task, run = capable(self.task, Labels), self._run(store)
        known = task.labels(run.experiment)
        if not set(LABELS) <= set(known):
            raise UserError(
                f"run '{self.name}' labels {', '.join(known)}, not {', '.join(LABELS)}: take a "
                "classifier of these labels"
            )
        order = [known.index(label) for label in LABELS]
        return np.asarray(task.probabilities(run, *columns)[:, order])

    def _run(self, store: Store) -> Run:
        return Run.read(Folder(self.root or store.root, self.name))
