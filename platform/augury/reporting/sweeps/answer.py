"""The answer to a sweep's question in one sentence that claims no more than the numbers carry."""

from __future__ import annotations

import math
from dataclasses import replace

from augury.reporting.answer import answer as compare_in_words
from augury.reporting.comparison import Comparison
from augury.reporting.numbers import adaptive
from augury.reporting.sweeps.summary import ConfigurationResult, Summary, rows_by_address, summarise
from augury.sweeping.state import Sweep


def answer(sweep: Sweep) -> str:
    """Answer a sweep's question as far as it is."""
    return summary_answer(summarise(sweep))


def summary_answer(summary: Summary) -> str:
    """Say what the leader in validation scores against the reference on the test set, or the mean of several.

    While the sweep runs it says how far it is; trials that failed and configurations that were stopped are counted.
    """
    sweep, leader = summary.sweep, summary.leader
    total = sum(len(configuration.trials) for configuration in sweep.configurations)
    of = f" of {total}" if sweep.scheduler == "all" else ""  # a race does not need them all
    far = f"with {sweep.count('finished')}{of} trials finished"
    if leader is None:
        head = f"No answer: no configuration came to a validation, {far}" if sweep.ended else f"No answer yet, {far}"
        return f"{head}{_losses(summary)}."
    if sweep.tests == ():
        core = _on_validation(summary, leader)
        core = f"{core[0].upper()}{core[1:]}" if sweep.ended else f"So far, {far}: {core}"
        return f"{core}{_losses(summary)}."
    comparison = _with_leader(summary, leader)
    if comparison is None:
        lead = f"{leader.name} leads with {summary.metric} {leader.score_text}"
        head = f"No answer{'' if sweep.ended else ' yet'}: {far}, {lead}, and there are no test scores to compare"
        return f"{head}{_losses(summary)}."
    core = compare_in_words(comparison).removesuffix(".")
    if leader.address == sweep.reference:
        level = [result.name for result in summary.ranking if result is not leader and result.mean == leader.mean]
        ahead = f"is level with {' and '.join(level)}" if level else "is ahead of all others"
        core = f"{leader.name} {ahead} in {summary.metric}; {_lowered(core)}"
    core += _better_on_the_test(summary, comparison)
    if not sweep.ended:
        core = f"So far, {far}, {_lowered(core)}"
    return f"{core}{_losses(summary)}."


def _better_on_the_test(summary: Summary, shown: Comparison) -> str:
    """Name what is not ahead in validation and scored better than the reference, as the end of a sentence."""
    assert summary.deciding is not None
    whole, known = summary.deciding, {row.address for row in shown.rows}
    better = [row.name for row in whole.rows if row.mark and (whole.gain(row) or 0) > 0 and row.address not in known]
    return f"; {' and '.join(better)}, not ahead in validation, scored better than the reference too" if better else ""


def _on_validation(summary: Summary, leader: ConfigurationResult) -> str:
    """Say how far the leader is ahead of the reference, or of the next best, in the scores that it was chosen by."""
    others = [result for result in summary.ranking if result is not leader]
    rival = summary.reference if leader.address != summary.sweep.reference else next(iter(others), None)
    core = f"without test sets, {leader.name} leads with {summary.metric} {leader.score_text}"
    if rival is None or rival.mean is None or leader.mean is None:
        return f"{core}, and there is nothing to compare it with"
    more = leader.mean - rival.mean
    core += f", {adaptive(abs(more), like=leader.mean)} {'more' if more >= 0 else 'less'} than {rival.name} "
    core += f"with {rival.score_text}"
    halves = [result.half for result in (leader, rival) if result.half is not None]
    if len(halves) == 2:
        half = math.hypot(*halves)  # the intervals have one deviation, that of all seeds pooled
        core += f" (95 % interval of the difference {adaptive(more - half, like=leader.mean)} to "
        core += f"{adaptive(more + half, like=leader.mean)}{'' if abs(more) > half else ': it may be chance'})"
    else:
        core += ", and single seeds do not decide"
    return f"{core}; it was chosen by these very scores, so that less is to be expected on unseen text"


def _with_leader(summary: Summary, leader: ConfigurationResult) -> Comparison | None:
    """Return the reference against the leader, or the next best where it leads, with the whole table's corrections."""
    if summary.deciding is None:
        return None
    rows, metric = rows_by_address(summary.deciding), summary.deciding.metrics[0]
    racing = [result for result in summary.ranking if result.state != "stopped"]
    others = (result for result in racing if result.address != summary.sweep.reference)
    rival = leader if leader.address != summary.sweep.reference else next(others, None)
    reference, other = rows.get(summary.sweep.reference), rows.get(rival.address) if rival else None
    if reference is None or other is None or not (metric in reference.scores and metric in other.scores):
        return None
    return replace(summary.deciding, rows=(reference, other))


def _losses(summary: Summary) -> str:
    """Count the trials that failed and the configurations that were stopped, as the end of a sentence."""
    trials = [trial for configuration in summary.sweep.configurations for trial in configuration.trials]
    started = sum(trial.progress != "waiting" for trial in trials)
    failed = summary.sweep.count("failed")
    stopped = sum(result.state == "stopped" for result in summary.ranking)
    parts = [f"{failed} of {started} trials failed"] if failed else []
    parts += [f"{stopped} of {len(summary.ranking)} configurations were stopped early"] if stopped else []
    return "".join(f"; {part}" for part in parts)


def _lowered(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
