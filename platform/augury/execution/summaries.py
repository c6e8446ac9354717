"""What an experiment reads: its texts, their sizes and labels, and the rows left out of them.

Texts are read into the storage, where the runs use them, so that nothing is done twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from augury.core import config
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import KINDS, Corpus
from augury.corpora.filters import NOT_SELECTED, REASON_SETTINGS, REASONS
from augury.corpora.ingest import cached_corpus
from augury.corpora.labels import LABEL, label_counts
from augury.corpora.splits import BaseSpec, ResolvedSplit
from augury.execution.graph import dev_sets
from augury.experiments.spec import Experiment

UNCHECKED = {
    "name",
    "seeds",
    "storage",
    "regime",
    "training",
    "execution",
    "tracking",
    "health",
    "decoding",
    "validation",
    "baseline",
    "systems",
}
"""Sections that checks of texts do not depend on: experiments that differ only in them are
checked once."""


@dataclass(frozen=True)
class LeftOutRows:
    """Rows of a text that were left out of the corpus for one reason."""

    reason: str
    rows: int
    setting: str | None
    """The dotted key of the filter; None where no setting keeps such rows."""
    value: Any
    examples: Sequence[Mapping[str, str]]
    """Some of the rows: their place and content."""


@dataclass(frozen=True)
class TextSummary:
    """The size of a text, and the rows left out of it."""

    name: str
    languages: Sequence[str]
    rows_in: int
    rows: int
    left_out: Sequence[LeftOutRows]
    address: str
    labels: Mapping[str, int] = field(default_factory=dict)
    """The rows with each label, the most frequent first; empty for text without labels."""


def texts_of(experiment: Experiment, store: Store) -> dict[str, Corpus]:
    """Return the corpora of all splits of an experiment, made unless the store has them."""
    spec = experiment.corpus
    if "train" not in spec.splits():
        raise UserError("the corpus has no train: give corpus.train, or a known set that has one")
    spec.resolve("valid")  # says what to do where there is none
    splits = ("train", *dev_sets(experiment), *experiment.test_sets)
    return {split: cached_corpus(spec, split, store.root, experiment.execution) for split in splits}


def distinct_texts(experiments: Iterable[Experiment]) -> list[Experiment]:
    """Return the experiments without those that read the same in the same way."""
    distinct: dict[str, Experiment] = {}
    for experiment in experiments:
        distinct.setdefault(
            config.address(experiment.model_dump(mode="json", exclude=UNCHECKED)), experiment
        )
    return list(distinct.values())


def summarise(experiments: Mapping[str, Experiment], store: Store) -> list[TextSummary]:
    """Return the texts of experiments, each once, under names of their own."""
    texts: dict[str, TextSummary] = {}
    for experiment_name, experiment in experiments.items():
        for text in _summaries(experiment, store):
            names = {known.name for known in texts.values()}
            name = text.name if text.name not in names else f"{text.name} of {experiment_name}"
            texts.setdefault(text.address, replace(text, name=name))
    return list(texts.values())


def _summaries(experiment: Experiment, store: Store) -> Iterator[TextSummary]:
    """Yield the texts of all splits, those of a mixture one by one."""
    for split, corpus in texts_of(experiment, store).items():
        mixture = experiment.corpus.mixture if split == "train" else {}
        for name, spec in mixture.items():
            yield _summary(f"{split} {name}", spec, split, cached_corpus(spec, split, store.root))
        if not mixture:
            yield _summary(split, experiment.corpus, split, corpus)


def _summary(name: str, spec: BaseSpec, split: str, corpus: Corpus) -> TextSummary:
    manifest, part = corpus.manifest, spec.resolve(split)
    # Of training text, listed there.
    rejected = {} if part.every and split == "valid" else manifest["rejected"]
    examples = {
        reason: [{**row, "place": _place(row["place"], manifest, part)} for row in rows]
        for reason, rows in manifest.get("examples", {}).items()
    }
    left_out = [
        _left_out(reason, rows, part, examples.get(reason, ())) for reason, rows in rejected.items()
    ]
    labels = label_counts(corpus) if KINDS[corpus.kind].target == LABEL else {}
    return TextSummary(
        name, part.languages, manifest["rows_in"], corpus.rows, left_out, corpus.address, labels
    )


def _place(place: str, manifest: Mapping[str, Any], part: ResolvedSplit) -> str:
    """Return the place of a row in the files of the experiment: those that the corpus was read
    from may have had other names."""
    read = [file["path"] for file in manifest["files"] if file.get("path")]
    files = part.text.files()
    return place.replace(", ".join(read), ", ".join(files)) if len(read) == len(files) else place


def _left_out(
    reason: str, rows: int, part: ResolvedSplit, examples: Sequence[Mapping[str, str]]
) -> LeftOutRows:
    key = REASON_SETTINGS.get(reason)
    if key is None:
        return LeftOutRows(reason, rows, None, None, examples)
    if reason == REASONS[NOT_SELECTED] and part.text.portion and not part.text.where:
        key, examples = "{split}.portion", ()  # other rows of it, which say nothing
    section, _, name = key.partition(".")
    cleaning = {name: getattr(part.filter, name) for name in type(part.filter).model_fields}
    held: Mapping[str, Any] = {"filter": cleaning, "{split}": part.text.to_dict()}.get(section, {})
    text = part.name if part.name in ("train", "valid") else f"tests.{part.name}"
    return LeftOutRows(
        reason, rows, f"corpus.{key.format(split=text)}", held.get(name, part.every), examples
    )
