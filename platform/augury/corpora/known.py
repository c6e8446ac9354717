"""Known public corpora, which `known.yaml` and `known_nli.yaml` list, and their files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

from augury.core import yaml_file
from augury.core.errors import UserError, nearest
from augury.core.paths import expanded
from augury.corpora.files import COMPRESSIONS

ENVIRONMENT = "AUGURY_DATA"


def data_directory() -> str:
    """Return the directory AUGURY_DATA, by default `data`.

    The variable is read at each call, so that no module that was imported keeps its value.
    """
    return os.environ.get(ENVIRONMENT, "data").rstrip("/")


@dataclass(frozen=True, kw_only=True)
class KnownSet:
    """A public data set: its origin, files and preparation."""

    name: str
    title: str
    homepage: str
    licence: str
    fetch: Sequence[str]
    """Shell commands that download the files."""
    languages: Sequence[str]
    """Those of its pairs of languages; of NLI those of the texts without a `language` setting."""
    texts: Mapping[str, Mapping[str, Any]]
    """Settings of the text of each split. File names are without directory and compression suffix,
    with placeholders `{source}` and `{target}`, or `{language}`, for language codes."""
    filter: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the corpus filter."""
    folder: str = ""
    """Subdirectory of the data directory with the files; by default the name of the set."""
    every: int | None = None
    """Every n-th of the filtered training rows is held out for validation."""

    @property
    def tests(self) -> tuple[str, ...]:
        """The names of the test sets."""
        return tuple(name for name in self.texts if name not in ("train", "valid"))


def locate(known: KnownSet, split: str, languages: Mapping[str, str]) -> dict[str, Any]:
    """Return settings of the text of a split with the paths of its files, found anywhere below its
    subdirectory of AUGURY_DATA.

    `languages` maps `source` and `target`, or `language`, to codes. Raises UserError with the
    commands that download the set if it is missing.
    """
    root, folder = os.environ.get(ENVIRONMENT), known.folder or known.name
    if not root:
        raise UserError(
            f"{known.name} is read from the subdirectory {folder} of a data directory: set "
            f"{ENVIRONMENT} to its path"
        )
    text = known.texts[split]
    settings: dict[str, Any] = yaml_file.with_texts(text, lambda name: name.format_map(languages))
    place = expanded(root) / folder
    for key in ("source", "target", "file"):
        names = settings.get(key)
        if isinstance(names, str):
            settings[key] = _find(known, split, names, place)
        elif names:
            settings[key] = [_find(known, split, name, place) for name in names]
    return settings


def check_languages(known: KnownSet, languages: tuple[str, ...]) -> None:
    """Raise UserError if the set does not have a language, or this pair of languages."""
    possible = ["-".join(codes) for codes in permutations(known.languages, len(languages))]
    asked = "-".join(languages)
    if asked not in possible:
        raise UserError(f"{known.name} has no {asked}: {nearest(asked, possible)}")


def _find(known: KnownSet, split: str, name: str, folder: Path) -> str:
    paths = [path for suffix in ("", *COMPRESSIONS) for path in folder.rglob(name + suffix)]
    if paths:
        return str(min(paths, key=lambda path: (len(path.parts), str(path))))
    commands = "\n".join(
        f"    {command}" for command in (f"mkdir -p {folder} && cd {folder}", *known.fetch)
    )
    missing = f"no '{name}' (plain, .gz, .xz or .zst) below {folder}"
    raise UserError(
        f"{known.name} ({split}) is missing: {missing}\n"
        f"  {known.title}; {known.homepage}\n"
        f"  licence: {known.licence}\n  to download it:\n{commands}"
    )


def _read(table: str) -> dict[str, KnownSet]:
    """Return the sets of a table beside this file, by name."""
    content = yaml_file.read(Path(__file__).with_name(table)).content
    return {name: KnownSet(name=name, **facts) for name, facts in content.items()}


KNOWN = _read("known.yaml")
KNOWN_NLI = _read("known_nli.yaml")
SETS = {"parallel": KNOWN, "nli": KNOWN_NLI}
"""The known sets by kind of corpus and name."""
