"""The answer to a sweep's question in one sentence that claims no more than the numbers carry."""

from __future__ import annotations

import math
from dataclasses import replace

from augury.reporting.answer import answer as compared
from augury.reporting.sweeps.summary import Standing, Summary, summarise
from augury.reporting.sweeps.wording import measured, reached, written
from augury.reporting.table import Table
from augury.sweeping.state import Sweep


def answer(sweep: Sweep) -> str:
    """The answer of a sweep as it is now."""
    return answered(summarise(sweep))


def answered(summary: Summary) -> str:
    """What the configuration that leads in validation scores against the reference, on the mean of several test sets.

    While the sweep runs it says how far it is; trials that failed and configurations that were stopped are counted.
    """
    sweep, leader = summary.sweep, summary.leader
    total = sum(len(each.trials) for each in sweep.configurations)
    of = f" of {total}" if sweep.scheduler == "all" else ""  # a race does not need them all
    far = f"with {sweep.count('finished')}{of} trials finished"
    if leader is None:
        head = f"No answer: no configuration came to a validation, {far}" if sweep.ended else f"No answer yet, {far}"
        return f"{head}{_losses(summary)}."
    if sweep.tests == ():
        said = _on_validation(summary, leader)
        said = f"{said[0].upper()}{said[1:]}" if sweep.ended else f"So far, {far}: {said}"
        return f"{said}{_losses(summary)}."
    table = _comparable(summary, leader)
    if table is None:
        said = f"{leader.name} leads with {measured(sweep.metric)} {reached(leader)}"
        head = f"No answer{'' if sweep.ended else ' yet'}: {far}, {said}, and there are no test scores to compare"
        return f"{head}{_losses(summary)}."
    core = compared(table).removesuffix(".")
    if leader.address == sweep.reference:
        core = f"{leader.name} is ahead of all others in {measured(sweep.metric)}; {_lowered(core)}"
    compared_ones = {row.address for row in table.rows}
    better = [
        row.name
        for row in summary.tables[0].rows
        if row.mark and (summary.tables[0].gain(row) or 0) > 0 and row.address not in compared_ones
    ]
    if better:
        core += f"; {' and '.join(better)}, not ahead in validation, scored better than the reference too"
    if not sweep.ended:
        core = f"So far, {far}, {_lowered(core)}"
    return f"{core}{_losses(summary)}."


def _on_validation(summary: Summary, leader: Standing) -> str:
    """How far the leader is ahead of the reference, or of the next best, in the scores that it was chosen by."""
    metric, others = measured(summary.sweep.metric), [each for each in summary.standings if each is not leader]
    rival = summary.reference if leader.address != summary.sweep.reference else next(iter(others), None)
    said = f"without test sets, {leader.name} leads with {metric} {reached(leader)}"
    if rival is None or rival.mean is None or leader.mean is None:
        return f"{said}, and there is nothing to compare it with"
    more = leader.mean - rival.mean
    said += f", {written(abs(more), like=leader.mean)} {'more' if more >= 0 else 'less'} than {rival.name} "
    said += f"with {reached(rival)}"
    halves = [each.high - each.mean for each in (leader, rival) if each.high is not None and each.mean is not None]
    if len(halves) == 2:
        half = math.hypot(*halves)  # the intervals have one deviation, that of all seeds pooled
        said += f" (95 % interval of the difference {written(more - half, like=leader.mean)} to "
        said += f"{written(more + half, like=leader.mean)}{'' if abs(more) > half else ': it may be chance'})"
    else:
        said += ", and single seeds do not decide"
    return f"{said}; it was chosen by these very scores, so that less is to be expected on unseen text"


def _comparable(summary: Summary, leader: Standing) -> Table | None:
    """The reference against the leader, with the corrections of the whole table.

    Where the reference leads, the next best stands against it.
    """
    if not summary.tables:
        return None
    table = summary.tables[0]
    rows, metric = summary.rows(table), table.metrics[0]
    rivals = [each for each in summary.standings if each.address != summary.sweep.reference and each.state != "stopped"]
    rival = leader if leader.address != summary.sweep.reference else next(iter(rivals), None)
    reference = rows.get(summary.sweep.reference)
    other = rows.get(rival.address) if rival else None
    if reference is None or other is None or not (metric in reference.scores and metric in other.scores):
        return None
    return replace(table, rows=(reference, other))


def _losses(summary: Summary) -> str:
    """The trials that failed and the configurations that were stopped, as the end of a sentence."""
    begun = [trial for each in summary.sweep.configurations for trial in each.trials if trial.progress != "waiting"]
    failed = summary.sweep.count("failed")
    stopped = sum(each.state == "stopped" for each in summary.standings)
    parts = [f"{failed} of {len(begun)} trials failed"] if failed else []
    parts += [f"{stopped} of {len(summary.standings)} configurations were stopped early"] if stopped else []
    return "".join(f"; {part}" for part in parts)


def _lowered(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
