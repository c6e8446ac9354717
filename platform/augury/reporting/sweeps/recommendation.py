"""The configuration that a sweep recommends, why, its experiment file, and what would settle what
is left open."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from augury.reporting.numbers import adaptive, factor
from augury.reporting.power import seeds_text
from augury.reporting.sweeps.answer import confirming, contenders
from augury.reporting.sweeps.choice import best_finished, lead, recommended, validated
from augury.reporting.sweeps.experiment_file import recommended_yaml
from augury.reporting.sweeps.locations import sweep_command
from augury.reporting.sweeps.summary import ConfigurationResult, Summary
from augury.scoring.power import MOST_SEEDS
from augury.scoring.registry import segment_noun, title
from augury.sweeping.confirmation import fresh_seeds

RECOMMENDED = "recommended.yaml"


@dataclass(frozen=True)
class Settlement:
    """What is open between the recommended system and its closest competitor, and what settles
    it."""

    text: str
    command: str = ""
    """Empty where seeds do not settle it."""
    seeds: int | None = None
    seconds: float | None = None
    """Training time of the further seeds."""


def recommend(summary: Summary) -> str | None:
    """Write the experiment file of the recommended system into the sweep's folder; return where it
    is.

    It trains that system and the reference, with the fresh seeds that confirm the choice. None
    where nothing that has finished leads, or where no run keeps its experiment.
    """
    sweep, result = summary.sweep, recommended(summary)
    if result is None:
        return None
    seeds = sweep.confirmation.seeds if sweep.confirmation else fresh_seeds(sweep.seeds)
    if result is summary.reference and sweep.confirmation is None:
        seeds = sweep.seeds
    content = recommended_yaml(sweep.name, result, summary.reference, seeds)
    if content is None:
        return None
    sweep.folder.write(RECOMMENDED, content)
    return sweep.folder.location(RECOMMENDED)


def recommendation_text(summary: Summary) -> str:
    """Return which configuration is recommended and why, as a sentence; empty where none is."""
    result, leader, reference = recommended(summary), best_finished(summary), summary.reference
    if result is None or leader is None:
        return ""
    own, of_reference = validated(summary, leader)
    if own is None or of_reference is None:
        return ""
    why = f"{summary.metric} {adaptive(own)}, against {adaptive(of_reference)} of {reference.name}"
    if result is not leader:
        why = f"{summary.metric} {adaptive(of_reference)}, against {adaptive(own)} of "
        why += f"{leader.name}, the best of the others"
    elif result is reference:
        why = f"{summary.metric} {adaptive(own)}"
    if summary.confirmed:
        why += ", over fresh seeds"
    if (price := leader.configuration.price) > 0:
        why += (
            f"; {leader.name} is estimated to take {factor(2 ** (price / summary.sweep.worth))} "
            f"the training time of {reference.name}, which is worth it from a gain of "
            f"{adaptive(price, like=own)} on"
        )
    ahead = lead(summary, leader)
    if result is not leader and ahead and price < ahead.gain:
        why += f"; a gain of {ahead.in_words(like=own)} may be chance"
    so_far = "" if summary.sweep.ended else " so far"
    others = _higher_of_fewer_seeds(summary, result) + _other_on_test(summary, result)
    return f"Recommended{so_far}: {result.name} ({why}).{others}"


def _higher_of_fewer_seeds(summary: Summary, result: ConfigurationResult) -> str:
    """Say why configurations with a better mean are not recommended, where they have fewer
    seeds."""
    assert result.mean is not None
    sign = 1 if summary.sweep.mode == "max" else -1
    higher = [
        other.name
        for other in summary.ranking
        if other.mean is not None
        and 0 < other.finished < result.finished
        and sign * other.mean > sign * result.mean
    ]
    if not higher:
        return ""
    of = higher[0] if len(higher) == 1 else f"{len(higher)} others"
    return (
        f" The better mean of {of} is of fewer seeds: the race compares what is expected over all "
        "seeds, from what each did to the systems that have it."
    )


def _other_on_test(summary: Summary, result: ConfigurationResult) -> str:
    """Say that another configuration than the recommended one is the likeliest to be the best on
    the test set, where one is."""
    likeliest = next(iter(contenders(summary)), result)
    if likeliest is result or summary.deciding is None:
        return ""
    chances = summary.chances
    if chances[likeliest.address] <= chances.get(result.address, 0.0):
        return ""
    return (
        f" Validation alone decides this; on {summary.deciding.test}, by which nothing is chosen, "
        f"{likeliest.name} is the likelier best."
    )


def settlement(summary: Summary) -> Settlement | None:
    """Return what would confirm the recommended system; where it is confirmed, what would tell it
    from the reference or, if it is told from that, from the likeliest other one to be the best.

    None while the sweep runs, without a test set, and where nothing is open.
    """
    sweep, best, reference = summary.sweep, recommended(summary), summary.reference
    if not sweep.ended or summary.deciding is None or best is None:
        return None
    if summary.confirmed is None and best is not reference:
        cost = confirming(summary, best)
        text = f"Confirming {best.name} against {reference.name} takes {cost}, with fresh seeds:"
        return Settlement(text, sweep_command(sweep), seconds=cost.seconds)
    if summary.confirmed and best is not reference and not summary.confirmed.deciding.rows[-1].mark:
        return _settle_by_fresh_seeds(summary, best)
    rivals = [result for result in contenders(summary) if result is not best]
    power = summary.deciding.power
    if not rivals or power is None:
        return None
    rival = rivals[0]
    difference = _difference(summary, best, rival)
    if difference is None:
        return None
    needed = power.seeds_for(difference)
    apart = _apart(summary, best.name, rival.name, difference)
    if needed[0] is None:
        return Settlement(f"{apart}: {_too_few(power.sentences, summary)}")
    had = min(best.finished, rival.finished)
    if needed[1] is not None and needed[1] <= had:
        return None
    text = f"{apart}, which {seeds_text(needed)} of each would tell"
    return Settlement(f"{text}; the fewer of the two has {had}.", seeds=needed[0])


def _settle_by_fresh_seeds(summary: Summary, best: ConfigurationResult) -> Settlement | None:
    """Return how many fresh seeds would tell a confirmed system from the reference."""
    assert summary.confirmed is not None
    table, row = summary.confirmed.deciding, summary.confirmed.deciding.rows[-1]
    if table.power is None or row.difference is None:
        return None
    apart = _apart(summary, best.name, summary.reference.name, abs(row.difference))
    needed = table.power.seeds_for(abs(row.difference))
    if needed[0] is None:
        return Settlement(f"{apart}: {_too_few(table.power.sentences, summary)}")
    first = summary.confirmed.confirmation.seeds[0]
    seeds = max(needed[1] or needed[0], len(summary.confirmed.confirmation.seeds) + 1)
    listed = ",".join(map(str, range(first, first + seeds)))
    file = summary.sweep.folder.location(RECOMMENDED)
    return Settlement(
        f"{apart} with fresh seeds, which {seeds_text(needed)} of each would tell:",
        shlex.join(["augury", "train", file, "--set", f"seeds=[{listed}]"]),
        seeds,
    )


def _apart(summary: Summary, name: str, other: str, difference: float) -> str:
    assert summary.deciding is not None
    metric, like = title(summary.deciding.metrics[0]), summary.reference.mean
    return f"{name} and {other} are {adaptive(difference, like=like)} {metric} apart"


def _too_few(sentences: int, summary: Summary) -> str:
    assert summary.deciding is not None
    segments = segment_noun(summary.deciding.metrics[0])
    return (
        f"{MOST_SEEDS} seeds and {sentences:,} test {segments} would not tell them apart; take the "
        "cheaper, or the simpler one."
    )


def _difference(
    summary: Summary, one: ConfigurationResult, other: ConfigurationResult
) -> float | None:
    """Return how far two configurations are apart on the deciding test set."""
    assert summary.deciding is not None
    metric = summary.deciding.metrics[0]
    scores = [
        row.scores[metric].value
        for row in (summary.row(one), summary.row(other))
        if row and metric in row.scores
    ]
    return abs(scores[0] - scores[1]) if len(scores) == 2 else None
