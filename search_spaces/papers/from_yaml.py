"""The tables of a paper from its YAML file: settings by scale, and rows that are made of parts.

Besides the fields of `PaperTable` that all of its tables share, a file has

- `parts`: name -> scale -> dotted settings. The nearest scale counts: `paper/wmt14-en-de`, then
  `paper`, which `released_code` stands for too, then `any`;
- `tables`: name -> further fields. `rows` are the names of the parts of every row, in order:
  operators of `augment` are added to those before, other settings replace them, and
  `augment.last.copies` is one of the operator before. Fields below `at_scale` differ by scale.

In texts, `{data}` is the directory AUGURY_DATA. What a paper prints, and what is not as in it, is
in the TSV file of the same name (see `augury.reporting.papers.table`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from augury.core.config import merge
from augury.core.yaml_file import with_texts
from augury.corpora.known import data_directory
from augury.sweeping.declarations import PaperTable, Rows
from search_spaces.scales import size_of


def load(paper: str) -> dict[str, Any]:
    """Return the content of a paper's file."""
    file = Path(__file__).with_name(f"{paper}.yaml")
    content: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content


def tables(paper: str, content: Mapping[str, Any], **further: Any) -> dict[str, PaperTable]:
    """Return the tables of a paper, `<paper>/<table>`; `further` are fields by table that a file
    cannot have, such as functions."""
    file = Path(__file__).with_name(f"{paper}.tsv")
    shared = {key: content[key] for key in content if key in PaperTable.model_fields}
    declared = {}
    for name, given in content["tables"].items():
        fields = {**shared, "published": file, **given}
        fields["rows"] = partial(rows, content["parts"], given.get("rows", {}))
        for field, by_scale in fields.pop("at_scale", {}).items():
            fields[field] = partial(at_scale, by_scale)
        declared[f"{paper}/{name}"] = PaperTable(**fields | further.get(name, {}))
    return declared


def at_scale(by_scale: Mapping[str, Any], scale: str) -> Any:
    """Return the value of the nearest scale."""
    name = next(name for name in (scale, size_of(scale), "any") if name in by_scale)
    return by_scale[name]


def rows(parts: Mapping[str, Any], made_of: Mapping[str, Sequence[str]], scale: str) -> Rows:
    """Return rows at a scale from the names of their parts."""
    return {name: row(parts, names, scale) for name, names in made_of.items()}


def row(parts: Mapping[str, Any], names: Sequence[str], scale: str) -> dict[str, Any]:
    """Return the dotted settings that a row changes; its regime is plain if no part has one."""
    method: dict[str, Any] = {"augment": [], "regime": {"name": "plain"}}
    others: dict[str, Any] = {}
    for name in names:
        for key, value in at_scale(parts[name], scale).items():
            if key == "augment":
                method["augment"] = [*method["augment"], *value]
            elif key.partition(".")[0] in method:
                last = len(method["augment"]) - 1
                method = merge(method, {key.replace(".last.", f".{last}."): value})
            else:
                others[key] = value
    located: dict[str, Any] = filled(method | others)
    return located


def filled(value: Any, **names: str) -> Any:
    """Return nested settings with `{data}` and further names in braces replaced in all texts."""
    names.setdefault("data", data_directory())
    return with_texts(value, lambda text: text.format(**names))
