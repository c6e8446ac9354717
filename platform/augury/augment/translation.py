"""Translations of a corpus by trained models, and the operators that add monolingual text with
them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa

from augury.augment.model_outputs import ModelOutputs, Questions
from augury.augment.models import ModelInputs, ReadyModel, TextModel
from augury.augment.operator import REJECTED, CorpusOperator, OperatorOutput, new_records
from augury.core import config
from augury.core.config import Overrides
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.store import Store
from augury.corpora.corpus import KINDS, TEXTS, Corpus
from augury.corpora.filters import Cleaning, clean_lines
from augury.corpora.ingest import cached_corpus
from augury.corpora.spec import BaseSpec, MonolingualSpec, swapped
from augury.decoding.settings import PLAIN, Decoding

VERSION = 1
"""Raised when a model's translation of the same text changes; part of every address."""
SENTENCES_PER_SECOND = 60.0  # that one core translates with a small model


class Direction(NamedTuple):
    """The sides of a pair that models of a direction translate from and to."""

    name: str
    read: str
    written: str


FORWARD = Direction("forward", "source", "target")
BACKWARD = Direction("backward", "target", "source")


def direction_experiment(
    direction: Direction, experiment: Mapping[str, Any], system: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the sections of an experiment that trains models of a direction.

    `experiment` has the sections of the forward direction, `system` the dotted keys in which the
    new one differs.
    """
    sections = experiment if direction == FORWARD else _backward(experiment)
    prompt = dict(sections.get("model") or {}).get("prompt")
    if direction == BACKWARD and prompt and not {"model", "model.prompt"} & system.keys():
        raise UserError(
            f"the prompt of the model, {prompt!r}, is for the forward direction: give that of the "
            "other one, system: {model.prompt: ...}"
        )
    return config.merge(sections, system)


def _backward(experiment: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sections of an experiment with source and target swapped."""
    sections = {**experiment, "corpus": swapped(experiment["corpus"])}
    if model := experiment.get("model"):  # whose own codes of the languages are swapped too
        sides = {"source_language": "target_language", "target_language": "source_language"}
        sections["model"] = {sides.get(key, key): value for key, value in model.items()}
    if stage := experiment.get("stage"):
        sections["stage"] = {**stage, "after": _backward(stage["after"])}
    return sections


def cleaned_like(corpus: Corpus, texts: Sequence[str]) -> list[str]:
    """Return texts as the records of a corpus are: in its case, with its entities."""
    manifest = corpus.manifest
    if several := manifest.get(TEXTS):  # which have one filter
        manifest = Corpus.load(Store(corpus.folder.root), several[0]["address"]).manifest
    cleaning = manifest.get("spec", {}).get("filter", {})
    kept = {name: cleaning.get(name, False) for name in ("lowercase", "unescape")}
    return clean_lines(texts, Cleaning(**kept))


def cleaned_outputs(
    corpus: Corpus, outputs: Sequence[str | None]
) -> tuple[pa.Array, pa.Array, Counter[str]]:
    """Return those of a model's outputs that are text, like the records of a corpus; the mask of
    all that tells which; and the number of those without text by reason."""
    texts = cleaned_like(corpus, [text or "" for text in outputs])
    usable = pa.array([bool(text) for text in texts], pa.bool_())
    too_long = outputs.count(None)
    empty = texts.count("") - too_long
    counts = Counter({f"{REJECTED}too long": too_long, f"{REJECTED}empty": empty})
    return pa.array(texts, pa.string()).filter(usable), usable, counts


def translation(
    corpus: Corpus, column: str, model: TextModel, store: Store, view: str, decoding: Decoding
) -> ModelOutputs:
    """Return the translations of a column of a corpus, read as a view."""
    search = decoding.model_dump()
    asked = {"version": VERSION, "column": column, "view": view, "decoding": search}

    def ask(block: pa.Table) -> Questions:
        return Questions(block.column(column).to_pylist())

    return ModelOutputs(store, asked, corpus, model, ask, decoding, SENTENCES_PER_SECOND, view)


TRANSLATOR = "translator"


class TranslatedText(CorpusOperator):
    """Parameters of an operator that adds a monolingual text, translated, to the training text."""

    monolingual: MonolingualSpec
    """The text."""
    ready: ReadyModel | None = None
    """A trained model, in place of one to train."""
    seed: int = 1
    """The seed of the model that is trained."""
    system: Overrides = {}
    """Dotted keys in which the experiment that trains the model differs from the plain baseline
    of this one."""
    decoding: Decoding = Decoding()
    """How the model searches for the best translation."""

    DIRECTION: ClassVar[Direction]
    VERSION: ClassVar[int] = 3
    LEARNED: ClassVar[frozenset[str]] = frozenset({"monolingual", "ready", "seed", "system"})

    def texts(self) -> Mapping[str, BaseSpec]:
        return {"monolingual": self.monolingual}

    def expected_records(self, parents: float, texts: Mapping[str, int]) -> float:
        return texts["monolingual"]

    def inactive(self) -> dict[str, str]:
        return dict.fromkeys(("seed", "system"), "the model is ready") if self.ready else {}

    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any] | ReadyModel]:
        language = self.monolingual.languages[0]
        expected = experiment["corpus"][f"{self.DIRECTION.read}_language"]
        if language != expected:
            raise UserError(
                f"operator {self.operator}: monolingual.language is '{language}', and what is "
                f"translated is in '{expected}', the {self.DIRECTION.read} language"
            )
        trained = direction_experiment(self.DIRECTION, experiment, self.system)
        return {TRANSLATOR: self.ready or {**trained, "name": self.operator, "seeds": [self.seed]}}

    def check_model(self, role: str, given: ModelInputs, needed: Sequence[str]) -> None:
        source, target = needed if self.DIRECTION == FORWARD else needed[::-1]
        if given.languages and tuple(given.languages) != (source, target):
            raise UserError(
                f"operator {self.operator}: the ready model translates '{given.languages[0]}' into "
                f"'{given.languages[1]}', and needed is one of '{source}' into '{target}': take a "
                "run of the other direction, or leave it out"
            )

    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        text, models = cached_corpus(self.monolingual, "train", store.root), fitted["models"]
        translator = models[TRANSLATOR]
        written = translation(text, "text", translator, store, PLAIN, self.decoding)
        outputs = written.by_shard(execution, f"{self.operator}: translate")
        languages = {key: corpus.manifest[key] for key in ("source_language", "target_language")}
        schema = KINDS["parallel"].schema
        for block, hypotheses in zip(text.blocks(), outputs, strict=True):
            new, usable, counts = cleaned_outputs(corpus, hypotheses)
            kept = block.filter(usable)
            read = pa.array(cleaned_like(corpus, kept.column("text").to_pylist()), pa.string())
            values = {name: kept.column(name) for name in ("id", "origin", "lineage")}
            values |= {self.DIRECTION.read: read, self.DIRECTION.written: new}
            values |= {name: pa.repeat(code, len(kept)) for name, code in languages.items()}
            values["views"] = pa.array([[]] * len(kept), schema.field("views").type)
            parents = pa.table({name: values[name] for name in schema.names}, schema=schema)
            yield new_records(
                parents,
                self,
                [1] * len(parents),
                {},
                counts=counts,
                made_from=[written.folder.name],
                made_of={self.DIRECTION.written: read},
            )
