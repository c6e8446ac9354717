"""The page of every setting of experiments and spaces: `python docs/reference.py` prints it.

It is built into the site, by `site_pages.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, get_args

from pydantic.fields import FieldInfo

from augury.augment.operator import OPERATORS, Operator
from augury.core.config import Section
from augury.experiments.spec import TASKS
from augury.regimes.regime import REGIMES, Regime
from augury.sweeping.declarations import PaperTable, SearchSpace

HEAD = """\
# Reference

Every setting of an experiment file, made from the settings themselves. In a file, a section is a
mapping; on the command line, `--set section.key=value`. A preset is a set of values that the other
keys of its section override.
"""


def render() -> str:
    """Return the page."""
    parts, seen = [HEAD], set[type[Section]]()
    for name in TASKS.names():
        experiment = TASKS.find(name).EXPERIMENT
        parts.append(f"## Task `{name}`\n\n{_summary(experiment)}\n\n{_table(experiment)}")
        for section in _sections(experiment):
            if section not in seen and section not in (Operator, Regime):
                seen.add(section)
                follows_model = section in experiment.TRAININGS.values()
                base = experiment.model_fields["training"].annotation
                rows = _inherited_rows(section, base) if follows_model else ()
                table = _table(section, rows)
                parts.append(f"### {section.__name__}\n\n{_summary(section)}\n\n{table}")
    for title, kind in (("Operators", OPERATORS), ("Regimes", REGIMES)):
        parts.append(f"## {title}\n")
        for name in kind.names():
            schema = kind.find(name)
            parts.append(f"### `{name}`\n\n{_summary(schema)}\n\n{_table(schema)}")
            for section in _sections(schema):
                if section not in seen:
                    seen.add(section)
                    parts.append(
                        f"#### {section.__name__}\n\n{_summary(section)}\n\n{_table(section)}"
                    )
    parts.append("## Search spaces\n\nA function is one of the name of a scale, but for `measure`.")
    parts.append(f"### SearchSpace\n\n{_summary(SearchSpace)}\n\n{_table(SearchSpace)}")
    shown = SearchSpace.model_fields
    parts.append(f"### PaperTable\n\n{_summary(PaperTable)}\n\n{_table(PaperTable, shown)}")
    return "\n".join(part.rstrip() + "\n" for part in parts)


def _summary(schema: type[Section]) -> str:
    return " ".join((schema.__doc__ or "").split("\n\n")[0].split())


def _table(schema: type[Section], without: Container[str] = ()) -> str:
    """Return the settings of a section as rows, but for some."""
    descriptions = {
        name: field.description
        for base in reversed(schema.__mro__)  # a section may give another default alone
        if issubclass(base, Section)
        for name, field in base.model_fields.items()
        if field.description
    }
    rows = [
        f"| `{name}` | {_kind(field)} | {_default(field)} | "
        f"{_cell(descriptions.get(name) or _of_section(field))} |"
        for name, field in schema.model_fields.items()
        if name not in without
    ]
    return "\n".join(
        ["| setting | value | default | meaning |", "|---|---|---|---|", *rows]
    ) + _presets(schema)


def _inherited_rows(schema: type[Section], base: type[Section]) -> list[str]:
    """Return the settings of a section that it has from `base`, from which it derives."""
    own = schema.__mro__[: schema.__mro__.index(base)]
    return [
        name
        for name in schema.model_fields
        if not any(name in derived.__annotations__ for derived in own)
    ]


def _presets(schema: type[Section]) -> str:
    """Return a list of the presets of a section, behind an empty line.

    Nothing for a section without.
    """
    presets: Mapping[str, Mapping[str, Any]] = getattr(schema, "PRESETS", {})
    if not presets:
        return ""
    page = "\n\n"
    for name, settings in presets.items():
        values = (f"`{key}: {json.dumps(value)}`" for key, value in settings.items())
        page += f"- `preset: {name}`: {', '.join(values) or 'the defaults'}\n"
    return page


def _of_section(field: FieldInfo) -> str:
    """Return the summary of the section that is the value of a field; empty for other values."""
    return next(
        (
            _summary(section)
            for section in _models(field.annotation)
            if section not in (Operator, Regime)
        ),
        "",
    )


def _kind(field: FieldInfo) -> str:
    """The values that a field takes, for people."""
    return _cell(_named(field.annotation))


def _named(annotation: Any) -> str:
    arguments = get_args(annotation)
    if annotation in (Operator, Regime):
        return {Operator: "[operator](#operators)", Regime: "[regime](#regimes)"}[annotation]
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return f"section [{annotation.__name__}](#{annotation.__name__.lower()})"
    if annotation is type(None):
        return "none"
    if not arguments:
        return getattr(annotation, "__name__", str(annotation))
    origin = getattr(annotation, "__origin__", None)
    if "Literal" in str(origin):
        return ", ".join(f"`{value}`" for value in arguments)
    if origin is Callable:
        return "function"
    if origin in (tuple, list):
        return f"list of {_named(arguments[0])}"
    if origin is dict or "Mapping" in str(origin):
        return f"mapping of names to {_named(arguments[1])}"
    if hasattr(annotation, "__metadata__"):
        return _named(arguments[0])
    return " or ".join(_named(argument) for argument in arguments)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "*required*"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, Section):
        return "its defaults"
    return "none" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def _sections(schema: type[Section]) -> Iterator[type[Section]]:
    """Yield the sections within a section, in order, each before its own."""
    for name, field in schema.model_fields.items():
        for section in _models(field.annotation):
            yield section
            if name == "training":
                yield from getattr(schema, "TRAININGS", {}).values()
            yield from _sections(section)


def _models(annotation: Any) -> Iterator[type[Section]]:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


if __name__ == "__main__":
    print(render(), end="")
