"""Finding metrics: built in (`METRICS` of the modules of this package), by path, in installed packages.

Names can be checked, titled and ordered without the libraries that read text.
"""

from __future__ import annotations

from typing import Literal

from augury.core.errors import UserError, unknown
from augury.core.plugins import Registry, file_of, is_path
from augury.scoring import punctuation
from augury.scoring.metric import Metric

REGISTRY = Registry(
    "metric",
    package="augury.scoring",
    attribute="METRICS",
    contract="set METRICS to {name: a subclass of augury.scoring.metric.Metric}",
    is_mapping=True,
)


def record_name(name: str) -> str:
    """Return the name of a metric for records: one by path goes by its file's name, wherever the file lies."""
    plain, _ = punctuation.parted(name)
    return file_of(plain).stem + name.removeprefix(plain) if is_path(plain) else name


def reference(name: str) -> str:
    """Return how a metric is written in an experiment: one by path with the hash of its file."""
    plain, _ = punctuation.parted(name)
    return REGISTRY.reference(plain) + name.removeprefix(plain)


def metric(name: str, language: str | None = None) -> Metric:
    """Return the metric called `name`, or at that path, for text in `language` (`de` or `de_DE`).

    UserError for an unknown name, for a language whose tokeniser is not installed and, without a language, where the
    metric depends on it: at once, or when a line is read whose tokens do.
    """
    code = (language or "").replace("_", "-").split("-")[0].lower()
    return entry(name)(name, code)


def entry(name: str) -> type[Metric]:
    """Return what is known of a metric, its class; UserError names the nearest for an unknown name or option."""
    base, colon, option = _parted(name)
    known: type[Metric] = REGISTRY.find(base)
    if not (isinstance(known, type) and issubclass(known, Metric)):
        raise UserError(f"'{base}' is not a valid metric: its file must {REGISTRY.contract}")
    if colon and known.options is not None and option not in known.options:
        raise unknown("metric", name, [base, *(f"{base}:{choice}" for choice in known.options)])
    _, quote_space = punctuation.parted(name)
    if quote_space is None:
        return known
    if known.measures != "text":
        raise UserError(f"metric '{name}': '{base}' is of {known.measures}, which have no punctuation to fix")
    return punctuation.fixed(known, quote_space)


def names(measures: Literal["text", "labels"] | None = None) -> tuple[str, ...]:
    """Return the names of the metrics of texts, of labels or of both, and behind them those with options."""
    classes = {name: REGISTRY.find(name) for name in REGISTRY.names()}
    chosen = {name: known for name, known in classes.items() if measures in (None, known.measures)}
    return (*chosen, *(f"{name}:{option}" for name, known in chosen.items() for option in known.options or ()))


def title(name: str) -> str:
    """Return what people call a metric; a name that is none, such as `loss`, is its own title."""
    base, _, option = _parted(name)
    known = _known(name)
    called = known.title if known else file_of(base).stem if is_path(base) else base
    return called + (f" ({option})" if option else "") + punctuation.title(punctuation.parted(name)[1])


def lower_is_better(name: str) -> bool:
    """Return whether less of a metric, or of what training measures besides, is better."""
    known = _known(name)
    return known.lower_is_better if known else _parted(name)[0] in ("loss", "perplexity")


def segments(name: str) -> str:
    """Return what people call what a metric is over: sentences, or examples that have labels."""
    known = _known(name)
    return "examples" if known and known.measures == "labels" else "sentences"


def bounds(name: str) -> tuple[float, float]:
    """Return the least and the greatest value of a metric; infinite where they are not known."""
    known = _known(name)
    return known.bounds if known else Metric.bounds


def _known(name: str) -> type[Metric] | None:
    """The class of a metric; None where it is not known (any more)."""
    try:
        return entry(name)
    except UserError:
        return None


def _parted(name: str) -> tuple[str, str, str]:
    """Name or path, colon and option; without what is done to the text before."""
    return punctuation.parted(name)[0].partition(":")
