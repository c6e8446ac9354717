"""What would settle what a sweep leaves open: the seeds, the training time and the command."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from augury.core.progress import duration
from augury.reporting.numbers import adaptive
from augury.reporting.sweeps.answer import contenders
from augury.reporting.sweeps.locations import sweep_command
from augury.reporting.sweeps.recommendation import recommended
from augury.reporting.sweeps.summary import ConfigurationResult, Summary
from augury.scoring.registry import segment_noun, title

MOST_SEEDS = 20
"""More are not proposed: two systems that need more are equal for most purposes."""


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

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-like values."""
        return asdict(self)


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
    if sweep.scheduler == "halving" and rivals[0].finished < len(sweep.seeds):
        return Settlement(
            f"{apart}, which {needed} seeds of both would tell; the race gave {rivals[0].name} "
            f"{rivals[0].finished} of {len(sweep.seeds)}.",
            seeds=needed,
        )
    if needed <= len(sweep.seeds):
        return None
    seeds = [*sweep.seeds, *_further(sweep.seeds, needed - len(sweep.seeds))]
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


def _further(seeds: tuple[int, ...], count: int) -> list[int]:
    """Return `count` seeds that follow the largest one."""
    return [max(seeds) + 1 + place for place in range(max(0, count))]


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
