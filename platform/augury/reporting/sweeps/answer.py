"""The answer to a sweep's question in one sentence that claims no more than the numbers carry."""

from __future__ import annotations

import math
from dataclasses import replace

from augury.reporting.answer import answer as compare_in_words
from augury.reporting.comparison import Comparison
from augury.reporting.numbers import adaptive
from augury.reporting.sweeps.summary import ConfigurationResult, Summary


def answer(summary: Summary) -> str:
    """Say what the leader in validation scores against the reference on the test set, or the mean of several.

    While the sweep runs it says how far it is; trials that failed and configurations that were stopped are counted.
    """
    return f"{_outcome(summary)}{_losses(summary)}."


def _outcome(summary: Summary) -> str:
    sweep, leader = summary.sweep, summary.leader
    of = f" of {len(sweep.trials)}" if sweep.scheduler == "all" else ""  # a race does not need them all
    far = f"with {sweep.count('finished')}{of} trials finished"
    if leader is None:
        return f"No answer: no configuration came to a validation, {far}" if sweep.ended else f"No answer yet, {far}"
    if sweep.tests == ():
        core = _on_validation(summary, leader)
        return f"{core[0].upper()}{core[1:]}" if sweep.ended else f"So far, {far}: {core}"
    comparison = _with_leader(summary, leader)
    if comparison is None:
        lead = f"{leader.name} leads with {summary.metric} {leader.score_text}"
        return f"No answer{'' if sweep.ended else ' yet'}: {far}, {lead}, and there are no test scores to compare"
    core = compare_in_words(comparison).removesuffix(".")
    if leader is summary.reference:
        level = [result.name for result in summary.ranking if result is not leader and result.mean == leader.mean]
        ahead = f"is level with {' and '.join(level)}" if level else "is ahead of all others"
        core = f"{leader.name} {ahead} in {summary.metric}; {_lowered(core)}"
    core += _better_on_the_test(summary, comparison)
    return core if sweep.ended else f"So far, {far}, {_lowered(core)}"


def _better_on_the_test(summary: Summary, shown: Comparison) -> str:
    """Name what is not ahead in validation and scored better than the reference, as the end of a sentence."""
    assert summary.deciding is not None
    whole, known = summary.deciding, {row.address for row in shown.rows}
    better = [row.name for row in whole.rows if row.mark and (whole.gain(row) or 0) > 0 and row.address not in known]
    return f"; {' and '.join(better)}, not ahead in validation, scored better than the reference too" if better else ""


def _on_validation(summary: Summary, leader: ConfigurationResult) -> str:
    """Say how far the leader is ahead of the reference, or of the next best, in the scores that it was chosen by."""
    others = [result for result in summary.ranking if result is not leader]
    rival = summary.reference if leader is not summary.reference else next(iter(others), None)
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
    racing = [result for result in summary.ranking if result.state != "stopped" and result is not summary.reference]
    rival = leader if leader is not summary.reference else next(iter(racing), None)
    rows = [summary.row(result) for result in (summary.reference, rival) if result]
    known = tuple(row for row in rows if row and summary.deciding.metrics[0] in row.scores)
    return replace(summary.deciding, rows=known) if len(known) == 2 else None


def _losses(summary: Summary) -> str:
    """Count the trials that failed and the configurations that were stopped, as the end of a sentence."""
    sweep, failed = summary.sweep, summary.sweep.count("failed")
    stopped = sum(result.state == "stopped" for result in summary.ranking)
    begun = f"{len(sweep.trials) - sweep.count('waiting')} trials"
    parts = [f"; {failed} of {begun} failed"] if failed else []
    parts += [f"; {stopped} of {len(summary.ranking)} configurations were stopped early"] if stopped else []
    return "".join(parts)


def _lowered(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
