"""Registry of metrics: built-in ones, by path, and from installed packages.

Built-in are those in `METRICS` of the modules of this package. Looking up a metric's class and its
attributes does not load the libraries that compute it.
"""

from __future__ import annotations

from typing import Any, Literal

from augury.core.errors import UserError, unknown
from augury.core.paths import FileText, absolute
from augury.core.plugin_files import file_of, is_path
from augury.core.plugins import Registry
from augury.corpora.languages import base_language, languages
from augury.scoring.metric import Metric

REGISTRY = Registry(
    "metric",
    package="augury.scoring",
    attribute="METRICS",
    contract="set METRICS to {name: a subclass of augury.scoring.metric.Metric}",
    is_mapping=True,
)


def record_name(name: str) -> str:
    """Return the name of a metric in records; a path is reduced to the stem of its file."""
    base, _, _ = name.partition(":")
    return file_of(base).stem + name.removeprefix(base) if is_path(base) else name


def at_its_folder(name: Any) -> Any:
    """Return the name of a metric, and the path of one in a file of settings as an absolute one."""
    if not isinstance(name, FileText):
        return name
    base, _, _ = name.partition(":")
    path = FileText(base, name.folder)
    return absolute(path) + name.removeprefix(base) if is_path(path) else name


def reference(name: str) -> str:
    """Return the name of a metric in an experiment; a path gets the hash of its file."""
    base, _, _ = name.partition(":")
    return REGISTRY.reference(base) + name.removeprefix(base)


def metric(name: str, language: str | None = None) -> Metric:
    """Create the metric with this name or path, for text in `language` (`de` or `de_DE`).

    Raises UserError if the name is unknown, if the tokeniser of the language is not installed, or
    if the metric needs a language and there is none. Some metrics need one only for certain
    characters, and raise when they read them.
    """
    code = base_language(language or "")
    return metric_class(name)(name, languages().codes.get(code, code))


def metric_class(name: str) -> type[Metric]:
    """Return the class of a metric; raise UserError for an unknown name or option."""
    base, colon, option = name.partition(":")
    cls: type[Metric] = REGISTRY.find(base)
    if not (isinstance(cls, type) and issubclass(cls, Metric)):
        raise UserError(f"'{base}' is not a valid metric: its file must {REGISTRY.contract}")
    if colon and cls.options is not None and option not in cls.options:
        raise unknown("metric", name, [base, *(f"{base}:{choice}" for choice in cls.options)])
    return cls


def is_known(name: str) -> bool:
    """Return whether a name is that of a metric, with whatever option, or a path."""
    base, _, _ = name.partition(":")
    return is_path(base) or base in REGISTRY


def names(measures: Literal["text", "labels"]) -> tuple[str, ...]:
    """Return the names of the metrics of texts or of labels, then those with options."""
    classes = {name: REGISTRY.find(name) for name in REGISTRY.names()}
    chosen = {name: cls for name, cls in classes.items() if cls.measures == measures}
    with_options: list[str] = []
    for name, cls in chosen.items():
        with_options += [f"{name}:{option}" for option in cls.options or ()]
    return (*chosen, *with_options)


def title(name: str) -> str:
    """Return the title of a metric; anything else, such as `loss`, is its own title."""
    base, _, option = name.partition(":")
    called = file_of(base).stem if is_path(base) else base
    if cls := _find(name):
        called = cls.title
    return called + (f" ({option})" if option else "")


def lower_is_better(name: str) -> bool:
    """Return whether lower values of a metric or a training statistic (`loss`) are better."""
    cls = _find(name)
    return cls.lower_is_better if cls else name.partition(":")[0] in ("loss", "perplexity")


def segment_noun(name: str) -> str:
    """Return the plural noun of what a metric scores: sentences or, for labels, examples."""
    cls = _find(name)
    return "examples" if cls and cls.measures == "labels" else "sentences"


def bounds(name: str) -> tuple[float, float]:
    """Return the smallest and largest possible value of a metric.

    Infinite if the metric is unknown.
    """
    cls = _find(name)
    return cls.bounds if cls else Metric.bounds


def unusable(name: str) -> str:
    """Return why a stored metric cannot be computed with; empty where it can."""
    try:
        metric_class(name)
    except UserError as error:
        return str(error)
    return ""


def _find(name: str) -> type[Metric] | None:
    try:
        return metric_class(name)
    except UserError:  # such as a plug-in of an old run whose file is gone
        return None
