"""Train and score one run: a trial of a sweep, or a model that others need.

All state is in the run's folder: what was killed, or begun by another command, goes on from its
last checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from augury.core.errors import outage_of
from augury.core.execution import Execution
from augury.core.locks import locked
from augury.core.progress import say
from augury.experiments.evaluate import evaluate, evaluated
from augury.experiments.run import Run
from augury.training.trained import FAILURE

Report = Callable[[Mapping[str, Any]], None]
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
    report: Report | None = None,
    warn: Callable[[str], None] = say,
) -> bool:
    """Train a run to its end and score it; return False where the deadline ended it before.

    `execution` overrides the experiment's; `deadline` is a Unix time, after which training stops at
    its next validation, to be continued; `report` takes the metrics of every validation, `warn` a
    line on workers that died. Raises what ended it: Diverged, Crashed, UserError, and errors of the
    machine. What is wrong with the run itself is written to its folder.
    """
    from augury.experiments.training import train  # imports torch, which takes seconds

    with locked(run.folder):
        if is_done(run, scored=scored):
            return True
        run.folder.remove(FAILURE)
        how: Any = {"execution": execution, "report": report, "deadline": deadline, "warn": warn}
        try:
            if not train(run, **how):
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
