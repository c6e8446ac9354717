"""Run a sweep with messages on its progress, and keep its page up to date."""

from __future__ import annotations

from contextlib import closing

from augury.core.periodic import Throttle
from augury.experiments.recording import Recording
from augury.reporting.report import Report
from augury.reporting.sweeps.progress import Display
from augury.reporting.sweeps.report import write
from augury.sweeping import sweep as sweeps
from augury.sweeping.plan import SweepOptions
from augury.sweeping.space import Space
from augury.sweeping.state import Sweep
from augury.sweeping.sweep import Outcome

PAGE_SECONDS = 15


def run_sweep(space: Space, options: SweepOptions, recording: Recording) -> tuple[Outcome, Report]:
    """Run the missing trials of a sweep; return its outcome and its report."""
    throttle = Throttle(PAGE_SECONDS)
    reports: list[Report] = []
    with closing(Display()) as display:

        def show(sweep: Sweep, last: bool) -> None:
            display.show(sweep)
            if last:
                reports.append(write(sweep, refresh=None))
            else:
                throttle.run(lambda: write(sweep, refresh=PAGE_SECONDS))

        outcome = sweeps.run(space, options, recording, show=show)
    return outcome, reports[-1]
