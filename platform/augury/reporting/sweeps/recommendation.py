"""The configuration that a sweep recommends, why, its experiment file, and what would settle what
is left open."""

from __future__ import annotations

from dataclasses import dataclass

from augury.core.progress import duration
from augury.reporting.numbers import adaptive, factor
from augury.reporting.sweeps.answer import contenders
from augury.reporting.sweeps.choice import best_finished, lead, recommended
from augury.reporting.sweeps.experiment_file import recommended_yaml
from augury.reporting.sweeps.locations import sweep_command
from augury.reporting.sweeps.summary import ConfigurationResult, Summary
from augury.scoring.power import MOST_SEEDS
from augury.scoring.registry import segment_noun, title

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

    It trains that system and the reference, with the fresh seeds that confirm it. None where
    nothing that has finished leads, or where no run keeps its experiment.
    """
    sweep, result = summary.sweep, recommended(summary)
    if result is None:
        return None
    seeds = sweep.fresh_seeds or sweep.seeds
    content = recommended_yaml(sweep.name, result, summary.reference, seeds)
    if content is None:
        return None
    sweep.folder.write(RECOMMENDED, content)
    return sweep.folder.location(RECOMMENDED)


def recommendation_text(summary: Summary) -> str:
    """Return which configuration is recommended and why, as a sentence; empty where none is."""
    result, leader, reference = recommended(summary), best_finished(summary), summary.reference
    if result is None or leader is None or result.mean is None or leader.mean is None:
        return ""
    why = f"{summary.metric} {adaptive(result.mean)}"
    if result is not leader:
        why += f", against {adaptive(leader.mean)} of {leader.name}, the best of the others"
    elif result is not reference:
        why += f", against {adaptive(reference.mean)} of {reference.name}"
    if (price := leader.configuration.price) > 0:
        why += (
            f"; {leader.name} is estimated to take {factor(2 ** (price / summary.sweep.worth))} "
            f"the training time of {reference.name}, which is worth it from a gain of "
            f"{adaptive(price, like=leader.mean)} on"
        )
    ahead = lead(summary, leader)
    if result is not leader and ahead and price < ahead.gain:
        why += f"; a gain of {ahead.in_words(like=leader.mean)} may be chance"
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
    """Return what would tell the recommended system from its closest competitor, the likeliest
    other one to be the best.

    None while the sweep runs, without a test set, and where nothing is open: no other has a
    probability of 5 % to be the best.
    """
    sweep, best = summary.sweep, recommended(summary)
    if not sweep.ended or summary.deciding is None or best is None:
        return None
    if len(sweep.seeds) < 2:
        return Settlement(
            "One seed says nothing of others; three show what seeds do:",
            sweep_command(sweep, seeds=range(1, 4)),
            seeds=3,
        )
    rivals = [result for result in contenders(summary) if result is not best]
    if not rivals:
        return None
    difference = _difference(summary, best, rivals[0])
    between = f"{best.name} and {rivals[0].name}"
    power, metric = summary.deciding.power, title(summary.deciding.metrics[0])
    if difference is None or power is None:
        return None
    apart = f"{between} are {adaptive(difference, like=best.mean)} {metric} apart"
    needed = power.seeds_for(difference)
    if needed is None or needed > MOST_SEEDS:
        larger = f" and {power.sentences:,} test {segment_noun(summary.deciding.metrics[0])}"
        return Settlement(
            f"{apart}: {MOST_SEEDS} seeds{larger} would not tell them apart; take the cheaper, or "
            "the simpler one."
        )
    # A race goes on with those that had all seeds, and repeating it adds none to the others.
    if sweep.scheduler == "race" and rivals[0].finished < len(sweep.seeds):
        return Settlement(
            f"{apart}, which {needed} seeds of both would tell; the race gave {rivals[0].name} "
            f"{rivals[0].finished} of {len(sweep.seeds)}.",
            seeds=needed,
        )
    if needed <= len(sweep.seeds):
        return None
    following = max(sweep.seeds) + 1
    seeds = [*sweep.seeds, *range(following, following + needed - len(sweep.seeds))]
    seconds = sum(
        (len(seeds) - result.finished) * (result.seconds or 0.0)
        for result in {item.address: item for item in (summary.reference, best, *rivals)}.values()
        if result.finished == len(sweep.seeds)
    )
    return Settlement(
        f"{apart}, which {len(seeds)} seeds would tell, about {duration(seconds)} of training:",
        sweep_command(sweep, seeds=seeds),
        len(seeds),
        seconds,
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
