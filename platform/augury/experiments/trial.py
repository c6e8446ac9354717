"""Train and score one run: a trial of a sweep, or a model that others need.

All state is in the run's folder: what was killed, or begun by another command, goes on from its
last checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from augury.core.errors import outage_of
from augury.core.execution import Execution
from augury.core.locks import locked
from augury.core.progress import say
from augury.experiments.evaluate import evaluate, evaluated
from augury.experiments.record import DESCRIPTION, RunName
from augury.experiments.run import Run
from augury.experiments.task import find_task
from augury.training.trained import FAILURE

if TYPE_CHECKING:
    import torch

OnValidation = Callable[[dict[str, float]], None]
"""Takes the metrics of a validation."""


def is_done(run: Run, *, scored: bool) -> bool:
    """Return whether a run is trained and, where it is to be `scored`, has the scores that its
    experiment asks for."""
    return run.folder.complete and (not scored or evaluated(run))


def run_trial(
    run: Run,
    *,
    scored: bool,
    execution: Execution | None = None,
    deadline: float | None = None,
    report: OnValidation | None = None,
    warn: Callable[[str], None] = say,
) -> bool:
    """Train a run to its end and score it; return False where the deadline ended it before.

    `execution` overrides the experiment's; `deadline` is a Unix time, after which training stops at
    its next validation, to be continued; `report` takes the metrics of every validation, `warn` a
    line on workers that died. Raises what ended it: Diverged, Crashed, UserError, and errors of the
    machine. What is wrong with the run itself is written to its folder.
    """
    from augury.training.launch import launch  # loads torch, which takes seconds

    with locked(run.folder), run.folder.held():
        if is_done(run, scored=scored):
            return True
        run.folder.remove(FAILURE)
        described = run.folder.exists(DESCRIPTION)
        try:
            trained = launch(
                train_here,
                run,
                run.experiment.training,
                execution or run.experiment.execution,
                name=f"{RunName.read(run.folder).name}, seed {run.seed}" if described else "",
                report=report,
                deadline=deadline,
                warn=warn,
            )
            if not trained:
                return False
            if scored and not evaluated(run):
                evaluate(run)
        except Exception as error:
            if not outage_of(error):
                failure = {"kind": type(error).__name__, "error": str(error)}
                run.folder.write_record(FAILURE, failure)
            raise
        run.folder.finish({"address": run.address, "seed": run.seed}, files=())
    return True


def train_here(
    run: Run, device: torch.device, report: OnValidation, deadline: float | None = None
) -> None:
    """Train a run in this process, a worker of a launcher."""
    from augury.training.loop import Trainer

    learner = find_task(run.experiment.task).learner(run)
    compiled = run.experiment.execution.compile
    if compiled:
        from augury.training.learner import compile_layers

        compile_layers(learner.module)
    trainer = Trainer(
        learner,
        run.experiment.training,
        run,
        device=device,
        init_from=run.init_from,
        own_dropout=not compiled,
    )
    trainer.fit(report, deadline)
