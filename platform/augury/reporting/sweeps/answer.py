"""The answer to a sweep's question, in one sentence that claims no more than the numbers
support."""

from __future__ import annotations

import math
from dataclasses import replace

from augury.core.naming import counted
from augury.reporting.answer import answer as compare_in_words
from augury.reporting.comparison import Comparison
from augury.reporting.numbers import adaptive, factor
from augury.reporting.pareto import pareto_front
from augury.reporting.sweeps.confirmation import Price, price_of
from augury.reporting.sweeps.summary import ConfigurationResult, Summary
from augury.scoring.registry import title
from augury.sweeping.confirmation import Confirmation, fresh_seeds

MAY_BE = 0.05
"""The probability from which on a configuration is said to be possibly the best."""


def answer(summary: Summary) -> str:
    """Compare the leader in validation with the reference on the test set, or on the mean of
    several.

    While the sweep runs, the answer begins with its progress; it ends with the numbers of failed
    trials and stopped configurations.
    """
    return f"{_outcome(summary)}{_count_losses(summary)}."


def contenders(summary: Summary) -> list[ConfigurationResult]:
    """Return the configurations that may be the best on the test set, the likeliest first; none
    before two are scored."""
    known = {result.address: result for result in summary.ranking}
    likely = sorted(summary.chances.items(), key=lambda item: -item[1])
    return [known[address] for address, chance in likely if chance >= MAY_BE]


def chances(summary: Summary) -> str:
    """Return which configurations cannot be told from the best on the test set, with their
    probabilities to be it; empty before two are scored."""
    results = contenders(summary)
    if not results or summary.deciding is None:
        return ""
    shown = [f"{item.name} {100 * summary.chances[item.address]:.0f} %" for item in results]
    rest = len(summary.chances) - len(shown)
    share = f"less than {100 * MAY_BE:.0f} %"
    others = counted(rest, f"other has {share}", f"others have {share} each")
    below = f"; {others}" if rest else ""
    return f"Probability to be the best on {summary.deciding.test}: {', '.join(shown)}{below}."


def front_text(summary: Summary) -> str:
    """Return the configurations that nothing beats in both score and time, the cheapest first;
    empty where there is no choice between them."""
    front = pareto_front(summary.deciding) if summary.deciding else []
    if len(front) < 2 or summary.deciding is None:
        return ""
    metric = summary.deciding.metrics[0]
    shown = [
        f"{row.name} {row.scores[metric].value:.1f}"
        + (f" at {factor(row.time_factor)}" if row.time_factor else "")
        for row in front
    ]
    return (
        f"Pareto front, where no other is both better and cheaper ({title(metric)} at × the "
        f"{summary.deciding.time_kind} of the reference): {', '.join(shown)}."
    )


def unconfirmed(summary: Summary, leader: ConfigurationResult) -> str:
    """Return why a difference of the leader is not called real, and what confirming it costs."""
    if leader is summary.reference:
        return "this is not confirmed, as no other is ahead in validation"
    return (
        f"these trainings chose {leader.name}, and flatter it; confirming it takes "
        f"{confirming(summary, leader)}"
    )


def confirming(summary: Summary, leader: ConfigurationResult) -> Price:
    """Return what confirming the leader would still cost."""
    sweep, seconds = summary.sweep, {item.address: item.seconds for item in summary.ranking}
    known = sweep.confirmation
    if known is None or known.winner != leader.address:
        known = Confirmation(sweep.reference, leader.address, fresh_seeds(sweep.seeds))
    return price_of(sweep, known, seconds)


def _outcome(summary: Summary) -> str:
    sweep, leader = summary.sweep, summary.leader
    finished, trials = sweep.count("finished"), counted(len(sweep.trials), "trial")
    if sweep.scheduler == "all":
        progress = f"with {finished} of {trials} finished"
    else:  # a race does not need them all
        progress = f"with {counted(finished, 'trial')} finished"
    if leader is None:
        return (
            f"No answer: no configuration came to a validation, {progress}"
            if sweep.ended
            else f"No answer yet, {progress}"
        )
    if sweep.tests == ():
        core = _on_validation(summary, leader)
        return f"{core[0].upper()}{core[1:]}" if sweep.ended else f"So far, {progress}: {core}"
    if summary.confirmed:
        tested = compare_in_words(summary.confirmed.deciding).removesuffix(".")
        core = f"{tested}, tested {summary.confirmed.seeds_text}"
        return core if sweep.ended else f"So far, {progress}, {_lowercase_first(core)}"
    comparison = _with_leader(summary, leader)
    begun = "No answer" if sweep.ended else "No answer yet"
    if comparison is None and leader is summary.reference:
        return f"{begun}: {progress}, there is nothing to compare {leader.name} with"
    if comparison is None:
        lead = f"{leader.name} leads with {summary.metric} {leader.score_text}"
        return f"{begun}: {progress}, {lead}, and there are no test scores to compare"
    core = compare_in_words(comparison, unconfirmed(summary, leader)).removesuffix(".")
    if leader is summary.reference:
        core += f"; {leader.name} {_place(summary, leader)}"
    core += _name_better_on_test(summary, comparison)
    return core if sweep.ended else f"So far, {progress}, {_lowercase_first(core)}"


def _place(summary: Summary, leader: ConfigurationResult) -> str:
    """Return the place in validation of a reference that leads."""
    others = [result for result in summary.ranking if result.finished and result is not leader]
    level = [result.name for result in others if result.mean == leader.mean]
    higher = summary.ranking.index(leader) > min(map(summary.ranking.index, others), default=0)
    if level:
        return f"is level with {' and '.join(level)} in {summary.metric}"
    if higher:  # others lead by less than the price of their time
        return f"is ahead in {summary.metric} less the price of training time"
    unfinished = len(others) < len(summary.ranking) - 1 and not summary.sweep.ended
    all_others = "all others that have finished" if unfinished else "all others"
    return f"is ahead of {all_others} in {summary.metric}"


def _name_better_on_test(summary: Summary, shown: Comparison) -> str:
    """Name systems that do not lead in validation but beat the reference on the test, as the end
    of a sentence."""
    assert summary.deciding is not None
    deciding, known = summary.deciding, {row.address for row in shown.rows}
    better = [
        row.name
        for row in deciding.rows
        if row.mark and (deciding.gain(row) or 0) > 0 and row.address not in known
    ]
    return (
        f"; {' and '.join(better)}, not ahead in validation, scored better than the reference"
        if better
        else ""
    )


def _on_validation(summary: Summary, leader: ConfigurationResult) -> str:
    """Compare the leader with the reference, or with the next best, in the validation scores
    that it was chosen by."""
    others = [result for result in summary.ranking if result is not leader]
    competitor = summary.reference if leader is not summary.reference else next(iter(others), None)
    core = f"without test sets, {leader.name} leads with {summary.metric} {leader.score_text}"
    if competitor is None or competitor.mean is None or leader.mean is None:
        return f"{core}, and there is nothing to compare it with"
    difference = leader.mean - competitor.mean
    direction = "more" if difference >= 0 else "less"
    core += f", {adaptive(abs(difference), like=leader.mean)} {direction} than {competitor.name} "
    core += f"with {competitor.score_text}"
    halves = [result.half for result in (leader, competitor) if result.half is not None]
    if len(halves) == 2:
        half = math.hypot(*halves)  # the intervals have one deviation, that of all seeds pooled
        core += (
            f" (95 % interval of the difference {adaptive(difference - half, like=leader.mean)} to "
        )
        chance = "" if abs(difference) > half else ": it may be chance"
        core += f"{adaptive(difference + half, like=leader.mean)}{chance})"
    elif "stopped" in (leader.state, competitor.state):
        core += ", which the sweep stopped early"
    else:
        core += ", and single seeds do not decide"
    return (
        f"{core}; it was chosen by these very scores, so that less is to be expected on unseen text"
    )


def _with_leader(summary: Summary, leader: ConfigurationResult) -> Comparison | None:
    """Return the comparison of the reference with the leader, or with the next best where the
    reference leads."""
    if summary.deciding is None:
        return None
    racing = [
        result
        for result in summary.ranking
        if result.state != "stopped" and result.finished and result is not summary.reference
    ]
    competitor = leader if leader is not summary.reference else next(iter(racing), None)
    rows = [summary.row(result) for result in (summary.reference, competitor) if result]
    known = tuple(row for row in rows if row and summary.deciding.metrics[0] in row.scores)
    if len(known) < 2:
        return None
    return replace(summary.deciding, rows=known)


def _count_losses(summary: Summary) -> str:
    """Count the trials that failed and the configurations that were stopped, as the end of a
    sentence."""
    sweep, failed = summary.sweep, summary.sweep.count("failed")
    stopped = sum(result.state == "stopped" for result in summary.ranking)
    begun = counted(len(sweep.trials) - sweep.count("waiting"), "trial")
    parts = [f"; {failed} of {begun} failed"] if failed else []
    parts += (
        [
            f"; {stopped} of {len(summary.ranking)} configurations "
            f"{'was' if stopped == 1 else 'were'} stopped early"
        ]
        if stopped
        else []
    )
    return "".join(parts)


def _lowercase_first(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
