"""What may be said of a sweep: where nothing was learnt, only that; before the winner is confirmed,
what confirming it takes; then the confirmed difference and its price."""

from __future__ import annotations

import math
from dataclasses import replace

from augury.core.naming import counted
from augury.reporting.answer import answer as compare_in_words
from augury.reporting.comparison import Comparison
from augury.reporting.numbers import adaptive, factor
from augury.reporting.sweeps.summary import (
    ConfigurationResult,
    Summary,
    leader,
    price_of_confirming,
    recommended,
)


def answer(summary: Summary) -> str:
    """Compare the leader in validation with the reference on the test set, or on the mean of
    several.

    While the sweep runs, the answer begins with its progress; it ends with the numbers of failed
    trials and stopped configurations.
    """
    sweep, first = summary.sweep, summary.leader
    finished = sweep.count("finished")
    progress = f"with {counted(finished, 'trial')} finished"
    if sweep.scheduler == "all":  # a race does not need them all
        progress = f"with {finished} of {counted(len(sweep.trials), 'trial')} finished"
    unknown = "No answer" if sweep.ended else "No answer yet"
    if first is None:
        reason = "no configuration came to a validation"
        said = f"{unknown}: {reason}, {progress}" if sweep.ended else f"{unknown}, {progress}"
        return f"{said}{_losses(summary)}."
    if sweep.tests == ():
        said = _on_validation(summary, first)
    elif summary.confirmed:
        tested = compare_in_words(summary.confirmed.deciding).removesuffix(".")
        fresh = ", ".join(map(str, summary.confirmed.confirmation.seeds))
        said = f"{tested}, tested with fresh seeds ({fresh}), which had no part in the choice"
    elif (table := _with_leader(summary, first)) is not None:
        said = compare_in_words(table, unconfirmed(summary, first)).removesuffix(".")
    elif first is summary.reference:
        said = f"{progress}, there is nothing to compare {first.name} with"
        return f"{unknown}: {said}{_losses(summary)}."
    else:
        leads = f"{first.name} leads with {summary.metric} {first.score_text}"
        said = f"{progress}, {leads}, and there are no test scores to compare"
        return f"{unknown}: {said}{_losses(summary)}."
    if not sweep.ended:
        said = f"So far, {progress}: {said[0].lower()}{said[1:]}"
    return f"{said}{_losses(summary)}."


def recommendation(summary: Summary) -> str:
    """Return which configuration is recommended and why, as a sentence; empty where none is."""
    chosen = recommended(summary)
    best, reference = leader(summary.sweep, summary.ranking, finished=True), summary.reference
    if chosen is None or best is None:
        return ""
    own, of_reference = summary.validated(best)
    if own is None or of_reference is None:
        return ""
    over = ", over fresh seeds" if summary.confirmed else ""
    against = f"{adaptive(own)}, against {adaptive(of_reference)} of {reference.name}{over}"
    price, doubled = best.configuration.price, summary.sweep.worth
    paid = ""
    if price > 0:
        paid = (
            f"; at {factor(2 ** (price / doubled))} the training time it has to bring "
            f"{adaptive(price, like=own)}"
        )
    if best is reference:
        why = f"no other is better in {summary.metric}"
    elif chosen is best:
        why = f"{summary.metric} {against}{paid}"
    else:
        why = f"{best.name} is not shown to be worth it: {summary.metric} {against}{paid}"
    confirmed = summary.confirmed or best is reference or summary.sweep.tests == ()
    doubt = "" if confirmed or chosen is reference else ", not confirmed"
    so_far = "" if summary.sweep.ended else " so far"
    return f"Recommended{so_far}{doubt}: {chosen.name} ({why})."


def unconfirmed(summary: Summary, first: ConfigurationResult) -> str:
    """Return why a difference of the leader is not called real, and what confirming it costs."""
    if first is summary.reference:
        return "this is not confirmed, as no other is ahead in validation"
    return (
        f"these trainings chose {first.name}, and flatter it; confirming it takes "
        f"{price_of_confirming(summary, first)}"
    )


def _on_validation(summary: Summary, first: ConfigurationResult) -> str:
    """Compare the leader with the reference, or with the next best, in the validation scores
    that it was chosen by."""
    others = [result for result in summary.ranking if result is not first]
    competitor = summary.reference if first is not summary.reference else next(iter(others), None)
    said = f"Without test sets, {first.name} leads with {summary.metric} {first.score_text}"
    if competitor is None or competitor.mean is None or first.mean is None:
        return f"{said}, and there is nothing to compare it with"
    difference = first.mean - competitor.mean
    direction = "more" if difference >= 0 else "less"
    said += f", {adaptive(abs(difference), like=first.mean)} {direction} than {competitor.name} "
    said += f"with {competitor.score_text}"
    halves = [result.half for result in (first, competitor) if result.half is not None]
    if len(halves) == 2:
        half = math.hypot(*halves)  # the intervals have one deviation, that of all seeds pooled
        low, high = (adaptive(difference + end, like=first.mean) for end in (-half, half))
        chance = "" if abs(difference) > half else ": it may be chance"
        said += f" (95 % interval of the difference {low} to {high}{chance})"
    elif "stopped" in (first.state, competitor.state):
        said += ", which the sweep stopped early"
    else:
        said += ", and single seeds do not decide"
    return f"{said}; these scores chose it, so that less is to be expected on unseen text"


def _with_leader(summary: Summary, first: ConfigurationResult) -> Comparison | None:
    """Return the comparison of the reference with the leader, or with the next best where the
    reference leads; None where either is not scored."""
    if summary.deciding is None:
        return None
    racing = [
        result
        for result in summary.ranking
        if result.state != "stopped" and result.finished and result is not summary.reference
    ]
    competitor = first if first is not summary.reference else next(iter(racing), None)
    rows = [summary.row(result) for result in (summary.reference, competitor) if result]
    known = tuple(row for row in rows if row and summary.deciding.metrics[0] in row.scores)
    return replace(summary.deciding, rows=known) if len(known) == 2 else None


def _losses(summary: Summary) -> str:
    """Count the trials that failed and the configurations that were stopped, as the end of a
    sentence."""
    sweep, failed = summary.sweep, summary.sweep.count("failed")
    stopped = sum(result.state == "stopped" for result in summary.ranking)
    begun = counted(len(sweep.trials) - sweep.count("waiting"), "trial")
    parts = [f"; {failed} of {begun} failed"] if failed else []
    if stopped:
        was = "was" if stopped == 1 else "were"
        parts.append(f"; {stopped} of {len(summary.ranking)} configurations {was} stopped early")
    return "".join(parts)
