"""Known public parallel corpora: their origin, files and preparation."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

from augury.core.errors import UserError, nearest
from augury.corpora.files import COMPRESSIONS

ENVIRONMENT = "AUGURY_DATA"


@dataclass(frozen=True, kw_only=True)
class KnownSet:
    """A public data set: its origin, files and preparation."""

    name: str
    title: str
    homepage: str
    licence: str
    fetch: tuple[str, ...]
    """Shell commands that download the files."""
    texts: Mapping[str, Mapping[str, Any]]
    """Settings of the text of each split. File names are without directory and compression suffix,
    with placeholders `{source}` and `{target}`, or `{language}`, for language codes."""
    filter: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the corpus filter."""
    checksums: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of decompressed files."""
    folder: str = ""
    """Subdirectory of the data directory with the files; by default the name of the set."""

    @property
    def tests(self) -> tuple[str, ...]:
        """The names of the test sets."""
        return tuple(name for name in self.texts if name not in ("train", "valid"))


@dataclass(frozen=True, kw_only=True)
class ParallelSet(KnownSet):
    """A public parallel corpus."""

    pairs: frozenset[tuple[str, str]]
    """Pairs of source and target language."""
    every: int | None = None
    """Every n-th of the filtered training rows is held out for validation."""


class MissingSet(UserError):
    """A known set whose files are not there."""

    def __init__(self, message: str, name: str):
        super().__init__(message)
        self.name = name


def locate(
    known: KnownSet, split: str, languages: Mapping[str, str], directory: str | None
) -> dict[str, Any]:
    """Return settings of the text of a split with the paths of its files, found anywhere below its
    subdirectory.

    `languages` maps `source` and `target`, or `language`, to codes; `directory` is the data
    directory, by default AUGURY_DATA. Raises MissingSet with the commands that download the set if
    it is missing.
    """
    root, folder = directory or os.environ.get(ENVIRONMENT), known.folder or known.name
    if not root:
        raise MissingSet(
            f"{known.name} is read from the subdirectory {folder} of a data directory: set "
            f"{ENVIRONMENT} to its path",
            known.name,
        )
    settings: dict[str, Any] = {}
    for key, value in known.texts[split].items():
        if key in ("source", "target", "file"):
            names = [
                name.format_map(languages)
                for name in ([value] if isinstance(value, str) else value)
            ]
            paths = [_find(known, split, name, Path(root).expanduser() / folder) for name in names]
            settings[key] = paths[0] if len(paths) == 1 else tuple(paths)
        elif key.endswith("_column"):
            settings[key] = value.format_map(languages)
        elif key == "where":
            settings[key] = {
                column: pattern.format_map(languages) for column, pattern in value.items()
            }
        else:
            settings[key] = value
    return settings


def modified_files(known: KnownSet, files: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the paths of the files (`path`, `sha256`) whose checksum differs from that of the
    set."""
    return [
        file["path"]
        for file in files
        if known.checksums.get(_uncompressed_name(Path(file["path"]).name), file["sha256"])
        != file["sha256"]
    ]


def check_languages(known: ParallelSet, languages: tuple[str, str]) -> None:
    """Raise UserError if the set does not have this language pair."""
    if languages not in known.pairs:
        pairs = [f"{source}-{target}" for source, target in known.pairs]
        raise UserError(
            f"{known.name} has no {'-'.join(languages)}: {nearest('-'.join(languages), pairs)}"
        )


def _uncompressed_name(name: str) -> str:
    path = Path(name)
    return path.stem if path.suffix in COMPRESSIONS else name


def _find(known: KnownSet, split: str, name: str, folder: Path) -> str:
    paths = [path for suffix in ("", *COMPRESSIONS) for path in folder.rglob(name + suffix)]
    if paths:
        return str(min(paths, key=lambda path: (len(path.parts), str(path))))
    commands = "\n".join(
        f"    {command}" for command in (f"mkdir -p {folder} && cd {folder}", *known.fetch)
    )
    missing = f"no '{name}' (plain, .gz, .xz or .zst) below {folder}"
    raise MissingSet(
        f"{known.name} ({split}) is missing: {missing}\n"
        f"  {known.title}; {known.homepage}\n"
        f"  licence: {known.licence}\n  to download it:\n{commands}",
        known.name,
    )


def _both_ways(*pairs: tuple[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset(pairs) | frozenset((target, source) for source, target in pairs)


def _parallel(source: str, target: str | None = None, **settings: Any) -> dict[str, Any]:
    """Return the settings of two files; `source` and `target` are patterns with `{}` for the
    language."""
    return {
        "source": source.format("{source}"),
        "target": (target or source).format("{target}"),
        **settings,
    }


def _wit3_tests(pattern: str, sets: Iterable[str]) -> dict[str, Any]:
    names = [pattern.format(name, "{}") for name in sets]
    return {
        "source": tuple(name.format("{source}") for name in names),
        "target": tuple(name.format("{target}") for name in names),
        "format": "seg",
        "replace": {"’": "'"},
    }


_TED_LICENCE = "CC BY-NC-ND (TED)"
_MULTI30K = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
_TED_MISSING = ("__NULL__", "_ _ NULL _ _", "")

_SETS = (
    ParallelSet(
        name="iwslt14",
        title="IWSLT 2014 German-English, TED talks (WIT3)",
        homepage="https://wit3.fbk.eu",
        licence=_TED_LICENCE,
        fetch=("curl -L http://dl.fbaipublicfiles.com/fairseq/data/iwslt14/de-en.tgz | tar xz",),
        pairs=_both_ways(("de", "en")),
        # As in fairseq's prepare-iwslt14.sh, but lengths are those of untokenised text.
        texts={
            "train": _parallel("train.tags.de-en.{}", format="wit3"),
            "test": _wit3_tests(
                "IWSLT14.{}.de-en.{}.xml",
                ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012"),
            ),
        },
        filter={"min_length": 1, "max_length": 175, "max_ratio": 1.5, "lowercase": True},
        every=23,
    ),
    ParallelSet(
        name="iwslt17",
        title="IWSLT 2017 French-English, TED talks (WIT3)",
        homepage="https://wit3.fbk.eu",
        licence=_TED_LICENCE,
        fetch=(
            "curl -L -O https://huggingface.co/datasets/IWSLT/iwslt2017/resolve/main/data/2017-01-trnted/"
            "texts/fr/en/fr-en.zip",
            "unzip fr-en.zip",
        ),
        pairs=_both_ways(("fr", "en")),
        texts={
            "train": _parallel("train.tags.fr-en.{}", format="wit3"),
            "valid": _wit3_tests("IWSLT17.{}.fr-en.{}.xml", ["TED.dev2010"]),
            "test": _wit3_tests(
                "IWSLT17.{}.fr-en.{}.xml", ["TED.tst2015"]
            ),  # as in the paper, 1,210 pairs
            **{
                f"tst{year}": _wit3_tests("IWSLT17.{}.fr-en.{}.xml", [f"TED.tst{year}"])
                for year in range(2010, 2015)
            },
        },
        filter={"min_length": 1, "max_length": 175, "max_ratio": 1.5},
    ),
    ParallelSet(
        name="ted",
        title="TED talks in 60 languages (Qi et al. 2018), Slovak-English",
        homepage="https://github.com/neulab/word-embeddings-for-nmt",
        licence=_TED_LICENCE,
        fetch=(
            "curl -L http://phontron.com/data/ted_talks.tar.gz | tar xz  # or see the homepage",
        ),
        pairs=_both_ways(("sk", "en")),
        texts={
            split: {
                "file": f"all_talks_{name}.tsv",
                "source_column": "{source}",
                "target_column": "{target}",
                "missing": _TED_MISSING,
            }
            for split, name in (("train", "train"), ("valid", "dev"), ("test", "test"))
        },
        filter={"min_length": 1, "max_length": 175, "max_ratio": 1.5},
    ),
    ParallelSet(
        name="wmt14",
        title="WMT 2014 English-German: Europarl v7, Common Crawl, News Commentary v9",
        homepage="https://www.statmt.org/wmt14/translation-task.html",
        licence="research use; see the homepage",
        fetch=tuple(
            f"curl -L https://www.statmt.org/{path} | tar xz"
            for path in (
                "wmt13/training-parallel-europarl-v7.tgz",
                "wmt13/training-parallel-commoncrawl.tgz",
                "wmt14/training-parallel-nc-v9.tgz",
                "wmt14/dev.tgz",
                "wmt14/test-full.tgz",
            )
        ),
        pairs=_both_ways(("en", "de")),
        texts={
            "train": {
                side: tuple(
                    f"{name}.de-en.{{{side}}}"
                    for name in ("europarl-v7", "commoncrawl", "news-commentary-v9")
                )
                for side in ("source", "target")
            },
            "valid": _parallel("newstest2013.{}"),
            "newstest2014": _parallel(
                "newstest2014-deen-src.{}.sgm",
                "newstest2014-deen-ref.{}.sgm",
                format="seg",
                replace={"’": "'"},
            ),
        },
        filter={"min_length": 1, "max_length": 250, "max_ratio": 1.5},
    ),
    ParallelSet(
        name="multi30k",
        title="Multi30k task 1, image captions in Czech, English, French and German",
        homepage="https://github.com/multi30k/dataset",
        licence="not stated; captions derived from Flickr30k, for research",
        fetch=tuple(
            f"for l in cs de en fr; do curl -L -O {_MULTI30K}/{split}.$l.gz; done"
            for split in ("train", "val", "test_2016_flickr")
        ),
        pairs=frozenset(permutations(("cs", "de", "en", "fr"), 2)),
        texts={
            "train": _parallel("train.{}"),
            "valid": _parallel("val.{}"),
            "test2016": _parallel("test_2016_flickr.{}"),
        },
        filter={"min_length": 1, "max_length": 175, "max_ratio": None},
        checksums={
            "test_2016_flickr.cs": "45adb85f688de8407fddcbe1b36dca15d12aab868149b337e2576f2d6d2ff8d8",
            "test_2016_flickr.de": "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
            "test_2016_flickr.en": "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
            "test_2016_flickr.fr": "57a705a12ffb81f3da3539798bdaaaa8f2df5824de3a84e0f4ea378dab959b62",
            "train.cs": "2be68b38c8d586ff4f54eb13cc6e1baaaa053695b3f070d3038303a47f2268da",
            "train.de": "128675a4ceba176e2180e4f71ba3095b0b896475204506bc8b21ab4189a9f033",
            "train.en": "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
            "train.fr": "b47e97734763b5252a979d767955c270f2c93e9e79f8ef063f71088a26e3c5a9",
            "val.cs": "d53827e469b0a1ca8d57e9e26b2b64c4bc4b33f5479c7b03ae87ae5c882c3e33",
            "val.de": "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
            "val.en": "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
            "val.fr": "05f2ed05aa5bf06567b3d7ad3121f6346ebd909265383dc79dbe08ef707b7bc2",
        },
    ),
    ParallelSet(
        name="mtnt",
        title="MTNT 1.1, machine translation of noisy text, Reddit comments (Michel and Neubig "
        "2018)",
        homepage="https://github.com/pmichel31415/mtnt",
        licence="terms of the Reddit API",
        fetch=(
            "curl -L https://github.com/pmichel31415/mtnt/releases/download/v1.1/MTNT.1.1.tar.gz | "
            "tar xz",
        ),
        pairs=_both_ways(("fr", "en")),
        texts={
            split: {
                "file": split + ".{source}-{target}.tsv",
                "header": ("comment_id", "src", "tgt"),
                "source_column": "src",
                "target_column": "tgt",
            }
            for split in ("train", "valid", "test")
        },
        filter={"min_length": 1, "max_length": 70, "max_ratio": 9},
    ),
)
KNOWN = {known.name: known for known in _SETS}
