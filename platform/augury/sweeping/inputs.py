"""What the trials of a sweep need: models, which are trials too, and texts, made while others
run."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

from augury.core.errors import UserError
from augury.core.messages import say
from augury.core.plugin_files import describe_error
from augury.core.store import Folder
from augury.execution.graph import Graph, Step
from augury.execution.texts import make_run
from augury.sweeping.configuration import ConfigurationRuns
from augury.sweeping.state import TrialKey


class Inputs:
    """The steps of a graph that trials wait for.

    A trial can start when its texts are made and the stage before it is trained. Texts that need
    models of operators are made on a thread of their own as soon as those are trained.
    """

    def __init__(self, graph: Graph, sweep: Folder):
        self.graph, self.sweep = graph, sweep
        self.runs: dict[str, ConfigurationRuns] = {}
        """By address, once their texts are made."""
        self.errors: dict[Step, str] = {}
        self._done: set[Step] = set()
        self._thread = ThreadPoolExecutor(1, "texts")
        self._begun: set[Step] = set()

    def make_texts(self) -> None:
        """Make the texts that need no model that is still to be trained."""
        for step in self.graph.missing(self.graph.scored):
            if step.seed is None and not any(self._missing(step)):
                self._make(step)

    def trials_for(self, key: TrialKey) -> list[TrialKey]:
        """Return the trials that can run now for a trial to be trained: itself, or those of models
        that it waits for; none while texts are made."""
        steps = self._runnable(Step(*key))
        return [TrialKey(step.address, step.seed) for step in steps if step.seed is not None]

    def error(self, key: TrialKey) -> str | None:
        """Return why a trial can never start; None where it can."""
        return next(self._errors(Step(*key)), None)

    def done(self, key: TrialKey) -> bool:
        """Return whether a model is trained, and scored unless it only serves others."""
        runs = self.runs.get(key.configuration)
        if runs is None:  # its texts wait, or are not needed any more
            return self.graph.is_made(Step(*key))
        return runs.done(key.seed)

    def fail(self, key: TrialKey, error: str) -> None:
        """Note that a model cannot be trained, so that nothing waits for it."""
        self.errors[Step(*key)] = error

    def _is_done(self, step: Step) -> bool:
        if step not in self._done and self._is_made(step):
            self._done.add(step)
        return step in self._done

    def _is_made(self, step: Step) -> bool:
        if step.seed is None:
            return step.address in self.runs
        return self.done(TrialKey(step.address, step.seed))

    def _missing(self, step: Step) -> Iterator[Step]:
        """Yield the models that a step needs and that are not trained."""
        for needed in self.graph.inputs(step):
            if needed.seed is None:
                yield from self._missing(needed)
            elif not self._is_done(needed):
                yield needed

    def _runnable(self, step: Step) -> list[Step]:
        """Return the steps that can begin now for a step to be made; its texts do begin."""
        waiting = [needed for needed in self.graph.inputs(step) if not self._is_done(needed)]
        if waiting:
            first = chain.from_iterable(map(self._runnable, waiting))
            return list(dict.fromkeys(first))  # several may wait for the same one
        if step.seed is None and step not in self._begun:
            self._begun.add(step)
            self._thread.submit(self._try_make, step)
        return [step]

    def _try_make(self, step: Step) -> None:
        try:
            self._make(step)
        except Exception as error:
            known = isinstance(error, UserError)
            self.errors[step] = str(error) if known else describe_error(error)
            say(f"{self.graph.names[step]} is not trained: {self.errors[step]}")

    def _make(self, step: Step) -> None:
        run = make_run(self.graph.plans[step.address])
        unscored = self.graph.unscored.get(step.address, [])
        runs = ConfigurationRuns.of(run, step.address, unscored)
        runs.write(self.sweep)
        self.runs[step.address] = runs

    def _errors(self, step: Step) -> Iterator[str]:
        """Yield the errors that keep a step from being made."""
        if step in self.errors:
            yield self.errors[step]
        for needed in self.graph.inputs(step):
            if needed.seed is not None and needed in self.errors:
                yield f"{self.graph.names[needed]}, seed {needed.seed}: {self.errors[needed]}"
            elif not self._is_done(needed):
                yield from self._errors(needed)
