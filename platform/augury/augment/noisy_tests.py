"""Test sets with synthetic noise in the input, by operator noise fitted to the training text."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

from augury.augment import pipeline, planning
from augury.augment.noise import NoiseForTestSet
from augury.core import config
from augury.core.execution import Execution
from augury.core.locks import make_once
from augury.core.store import Store
from augury.corpora.corpus import KIND, Corpus, CorpusWriter, input_columns, read_shard
from augury.corpora.noise import SourceNoise


def noisy_test(
    clean: Corpus, noise: SourceNoise, train: Corpus, store: Store, execution: Execution
) -> Corpus:
    """Return a test set with noise in its input, made unless the store has it; ids and references
    stay."""
    augmented = pipeline.augment(
        clean, [_operator(noise)], store, fit_on=train, execution=execution
    )
    (part,) = augmented.parts
    folder = store.folder(KIND, config.address({"clean": clean.address, "noise": part.folder.name}))
    make_once(folder, lambda: _write(CorpusWriter(folder), clean, part))
    return Corpus(folder)


def check_noise(clean: Corpus, noise: SourceNoise) -> None:
    """Raise UserError where a test set cannot have such noise."""
    operator = _operator(noise)
    operator.check_text(pipeline.first_records(clean, operator))


def _operator(noise: SourceNoise) -> NoiseForTestSet:
    return NoiseForTestSet.model_validate(noise.to_dict())


def _write(writer: CorpusWriter, clean: Corpus, part: planning.Part) -> None:
    of_noise, start = part.folder.manifest(), 0
    noisy = pa.concat_tables(read_shard(part.folder, shard) for shard in of_noise["shards"])
    for records in clean.blocks():
        view = noisy.slice(start, len(records))
        start += len(records)
        for side in input_columns(records.column_names):
            text = view.column("text" if "text" in view.column_names else side).cast(pa.string())
            records = records.set_column(
                records.schema.get_field_index(side), records.schema.field(side), text
            )
        writer.add(records)
    manifest = {
        key: value
        for key, value in clean.manifest.items()
        if key not in ("schema", "rows", "shards")
    }
    inputs = [clean.address, part.folder.name]
    writer.finish(
        {
            **manifest,
            "inputs": inputs,
            "noise": of_noise["operator"],
            "counts": dict(Counter(of_noise["counts"])),
        }
    )
