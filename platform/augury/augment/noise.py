"""Synthetic noise in the input: noisy copies of records, noisy views, and noisy test sets; label
and target stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import model_validator

from augury.augment import pipeline
from augury.augment.health import COPIED
from augury.augment.operator import Copies, CopyRequest, Rewrite, TextSubset, language_column
from augury.core import config
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.locks import make_once
from augury.core.rng import generator
from augury.core.store import Store
from augury.corpora.corpus import CORPORA, Corpus, CorpusWriter, input_columns, read_shard
from augury.corpora.text_settings import NOISES, NoiseRates, SourceNoise
from augury.text.noise import (
    NoiseContext,
    add_noise,
    confusions,
    core_words,
    coverage,
    require_language,
)


class Noise(NoiseRates, TextSubset, Copies):
    """Misspell words, and confuse those that sound alike."""

    operator: Literal["noise"] = "noise"

    PER_SECOND: ClassVar[float] = 10_000
    NORMAL: ClassVar[frozenset[str]] = frozenset({COPIED})

    @model_validator(mode="after")
    def _some(self) -> Noise:
        if not self.rates and type(self) is Noise:
            raise UserError(
                f"operator noise changes nothing without a rate: set one of {', '.join(NOISES)}, "
                "as 0.1"
            )
        return self

    def check_text(self, records: pa.Table) -> None:
        for language in set(records.column(language_column(records.column_names)).to_pylist()):
            require_language(list(self.rates), language)

    def fit_parameters(self) -> dict[str, Any]:
        return {"words": True, "coverage": True} if self.asr else {}

    def fit_block(self, block: pa.Table) -> dict[str, tuple[Counter[str], int]]:
        """Return by language the counts of lower-cased words without punctuation, and the number of
        all words."""
        counts: dict[str, tuple[Counter[str], int]] = {}
        if not self.asr:
            return counts
        languages = block.column(language_column(block.column_names)).to_pylist()
        for side in input_columns(block.column_names):
            for language, text in zip(languages, block.column(side).to_pylist(), strict=True):
                words, total = counts.get(language, (Counter[str](), 0))
                words.update(word.lower() for word in core_words(text))
                counts[language] = words, total + len(text.split())
        return counts

    def fit(self, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        words, totals = dict[str, Counter[str]](), Counter[str]()
        for block in results:
            for language, (of_block, total) in block.items():
                words.setdefault(language, Counter()).update(of_block)
                totals[language] += total
        groups, shares = dict[str, Any](), dict[str, float]()
        for language, known in words.items():
            groups[language] = confusions(sorted(known), language)
            shares[language] = coverage(known, groups[language], language, totals[language])
        return {"confusions": groups} | ({"coverage": shares} if shares else {})

    def rewriter(self, fitted: Mapping[str, Any], store: Store) -> Rewrite:
        @cache
        def context(language: str) -> NoiseContext:
            share = fitted.get("coverage", {}).get(language, 0.0)
            return NoiseContext(language, fitted["confusions"].get(language, {}), share)

        def rewrite(request: CopyRequest) -> list[str]:
            texts = []
            for side, text in request.texts.items():
                key, noisy = self.key(request.id, text), text
                for kind, rate in self.rates.items():
                    random = generator(self.seed, self.operator, key, side, request.copy, kind)
                    noisy = add_noise(noisy, kind, rate, random, context(request.language))
                texts.append(noisy if noisy.strip() else text)
            return texts

        return lambda requests: [rewrite(request) for request in requests]

    def key(self, name: str, text: str) -> str:
        """Return what identifies a text in the random key, next to seed, side and copy."""
        return name


class NoiseForTestSet(Noise):
    """Noise for a test set, keyed by texts, so that versions differ in rates alone."""

    use: Literal["view"] = "view"
    by: Literal["text"] = "text"

    def key(self, name: str, text: str) -> str:
        return text


def noisy_test(
    clean: Corpus, noise: SourceNoise, train: Corpus, store: Store, execution: Execution
) -> Corpus:
    """Return a test set with noise in its input, fitted to the training text, made unless the store
    has it; ids and references stay."""
    operator = NoiseForTestSet.model_validate(noise.to_dict())
    (part,) = pipeline.augment(clean, [operator], store, fit_on=train, execution=execution).parts
    folder = store.folder(
        CORPORA, config.address({"clean": clean.address, "noise": part.folder.name})
    )

    def write() -> None:
        made, start, writer = part.folder.manifest(), 0, CorpusWriter(folder)
        noisy = pa.concat_tables(read_shard(part.folder, shard) for shard in made["shards"])
        for records in clean.blocks():
            view = noisy.slice(start, len(records))
            start += len(records)
            for side in input_columns(records.column_names):
                text = view.column("text" if "text" in view.column_names else side)
                place = records.schema.get_field_index(side)
                records = records.set_column(place, records.schema.field(place), text)
            writer.add(records)
        manifest = {
            key: value
            for key, value in clean.manifest.items()
            if key not in ("schema", "rows", "shards")
        }
        inputs = [clean.address, part.folder.name]
        writer.finish({**manifest, "inputs": inputs, "noise": made["operator"]})

    make_once(folder, write)
    return Corpus(folder)


def check_noise(clean: Corpus, noise: SourceNoise, train: Corpus) -> None:
    """Raise UserError where a test set cannot have such noise: words that sound alike are those of
    the training text, in its language."""
    operator = NoiseForTestSet.model_validate(noise.to_dict())
    records = pipeline.first_records(clean, operator)
    operator.check_text(records)
    if operator.asr:
        learned_from = pipeline.first_records(train, operator)
        column = language_column(records.column_names)
        known = learned_from.column(column).unique().to_pylist()
        for language in records.column(column).unique().to_pylist():
            if language not in known:
                raise UserError(
                    f"noise asr takes words that sound alike from the training text, which is in "
                    f"{', '.join(known)}, and the test set is in '{language}': use spelling"
                )


OPERATOR = Noise
