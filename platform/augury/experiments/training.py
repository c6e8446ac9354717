"""Train one seed of a prepared experiment, in the processes of its launcher."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from augury.core.execution import Execution
from augury.core.progress import say
from augury.experiments.run import Run
from augury.experiments.task import find_task
from augury.runs.record import DESCRIPTION, RunName

if TYPE_CHECKING:
    import torch

    from augury.training.loop import Report


def train(
    run: Run,
    *,
    execution: Execution | None = None,
    report: Report | None = None,
    deadline: float | None = None,
    warn: Callable[[str], None] = say,
) -> bool:
    """Train a run, or continue it; return whether it has an outcome.

    Without one, training has ended at the first validation after `deadline`, in Unix time, and goes
    on from there when it is called again. The stage before it is trained. `execution` overrides the
    experiment's; `report` takes the metrics of every validation, and may raise where training runs
    in this process; `warn` takes a line on workers that died. Raises Diverged, Crashed, and
    UserError where the cluster is too small.
    """
    from augury.training.launch import launch  # loads torch, which takes seconds

    described = run.folder.exists(DESCRIPTION)
    return launch(
        train_here,
        run,
        run.experiment.training,
        execution or run.experiment.execution,
        name=f"{RunName.read(run.folder).name}, seed {run.seed}" if described else "",
        report=report,
        deadline=deadline,
        warn=warn,
    )


def train_here(
    run: Run, device: torch.device, report: Report, deadline: float | None = None
) -> None:
    """Train a run in this process, a worker of a launcher."""
    from augury.training.loop import fit

    learner = find_task(run.experiment.task).learner(run)
    compiled = run.experiment.execution.compile
    if compiled:
        from augury.training.learner import compile_layers

        compile_layers(learner.module)
    fit(
        learner,
        run.experiment.training,
        run,
        device=device,
        report=report,
        deadline=deadline,
        init_from=run.init_from,
        own_dropout=not compiled,
    )
