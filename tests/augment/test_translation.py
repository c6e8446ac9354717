"""Translations as training text: of monolingual text, and data diversification; by dictionaries as
models, and with trained models whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from augury.augment import pipeline, translation
from augury.augment.data_diversification import DataDiversification
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.store import Folder, Store
from augury.corpora.corpus import PARALLEL, Corpus, read_shard
from augury.corpora.ingest import cached_corpus
from augury.decoding.settings import Decoding, Sampler, Translator
from augury.experiments import make
from augury.experiments.graph import Graph
from augury.experiments.run import Run
from augury.experiments.spec import Experiment
from augury.experiments.systems import expand
from augury.experiments.trial import render_texts, run_trial
from tests import tiny
from tests.augment import texts
from trainables.nmt import TASK

HERE = Execution(executor="local", threads=1)
SEARCH = {"beam": 2, "max_length": 12}


def experiment(storage: Path, operator: str, language: str = "", **changes: Any) -> Experiment:
    settings: dict[str, Any] = {"operator": operator, "decoding": SEARCH}
    if language:
        settings["monolingual"] = {"language": language, "train": {"builtin": 15, "seed": 2}}
    augment = [{**settings, **changes}]
    steps = {"max_updates": 3}
    return tiny.experiment("nmt", storage, augment=augment, baseline=True, training=steps)


@dataclass(frozen=True)
class Dictionary:
    """A model that translates by looking up; it dies after so many blocks."""

    name: str
    words: Mapping[str, str | None]
    dies_after: int = 99
    requests: list[list[str]] = field(default_factory=list, compare=False)

    on_gpu: ClassVar[bool] = False

    def translator(self, store: Store, threads: int = 1) -> Translator:
        def translate(lines: Sequence[str], view: str, decoding: Decoding) -> list[str | None]:
            if len(self.requests) == self.dies_after:
                raise KeyboardInterrupt
            self.requests.append(list(lines))
            return [self.words[text] for text in lines]

        return translate

    def sampler(self, store: Store) -> Sampler:
        raise NotImplementedError


def corpus_of(pairs: Sequence[tuple[str, str]], store: Store) -> Corpus:
    ids = [f"train-{row}" for row in range(len(pairs))]
    sources, targets = zip(*pairs, strict=True)
    return texts.corpus(store, texts.records(id=ids, source=sources, target=targets))


def diversified(
    corpus: Corpus, store: Store, *models: Mapping[str, Any], **changes: Any
) -> pipeline.Part:
    operator = DataDiversification(**changes)
    (part,) = pipeline.augment(corpus, [operator], store, models=models, execution=HERE).parts
    return part


def pairs_of(part: pipeline.Part) -> list[tuple[str, str]]:
    assert texts.table_of(part).schema.equals(PARALLEL.schema)
    return [(row["source"], row["target"]) for row in texts.rows_of(part)]


def lost(**counts: int) -> dict[str, int]:
    return {f"rejected, {name.replace('_', ' ')}": count for name, count in counts.items()}


def test_the_union_keeps_the_order_and_drops_what_is_there(tmp_path: Path) -> None:
    """Golden: {(a, A), (b, B)}, forward {(a, A), (b, B2)}, backward {(a2, A), (b, B)} give four
    pairs, in order."""
    store = Store(tmp_path)
    corpus = corpus_of([("a", "A"), ("b", "B")], store)
    forward = Dictionary("f", {"a": "A", "b": "B2"})
    backward = Dictionary("b", {"A": "a2", "B": "b"})
    part = diversified(corpus, store, {"forward": forward, "backward": backward})
    assert pairs_of(part) == [("b", "B2"), ("a2", "A")]
    manifest = part.folder.manifest()
    assert manifest["counts"] == lost(too_long=0, empty=0, there_already=2)
    assert [(row["id"], row["lineage"]["parents"]) for row in texts.rows_of(part)] == [
        ("train-1/data_diversification-1", ["train-1"]),
        ("train-0/data_diversification-2", ["train-0"]),
    ]
    assert set(manifest["inputs"]) >= {"f", "b"}


def test_empty_and_missing_translations_are_counted(tmp_path: Path) -> None:
    store = Store(tmp_path)
    corpus = corpus_of([("a", "A"), ("b", "B"), ("c", "C")], store)
    forward = Dictionary("f", {"a": " ", "b": None, "c": "C2"})
    backward = Dictionary("b", {"A": "", "B": "b", "C": "c"})
    part = diversified(corpus, store, {"forward": forward, "backward": backward})
    assert pairs_of(part) == [("c", "C2")]
    counts = lost(too_long=1, empty=2, there_already=2)
    assert part.folder.manifest()["counts"] == counts


def test_translation_continues_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("augury.augment.model_outputs.BLOCK_ROWS", 2)
    store = Store(tmp_path)
    corpus = corpus_of([(letter, letter.upper()) for letter in "abcde"], store)
    words = {letter: f"{letter}2" for letter in "abcdeABCDE"}
    killed = {"forward": Dictionary("f", words), "backward": Dictionary("b", words, dies_after=1)}
    with pytest.raises(KeyboardInterrupt):
        diversified(corpus, store, killed)
    assert killed["backward"].requests == [["A", "B"]]
    again = {"forward": Dictionary("f", words), "backward": Dictionary("b", words)}
    assert len(pairs_of(diversified(corpus, store, again))) == 10
    assert again["forward"].requests == [] and again["backward"].requests == [["C", "D"], ["E"]]


@pytest.mark.slow
def test_ray_and_this_process_translate_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local_ray: Any
) -> None:
    monkeypatch.setattr("augury.augment.model_outputs.BLOCK_ROWS", 2)
    model, shards = Dictionary("f", {letter: f"{letter}2" for letter in "abcde"}), []
    for executor in ("local", "ray"):
        store = Store(tmp_path / executor)
        corpus = corpus_of([(letter, letter) for letter in "abcde"], store)
        written = translation.translation(corpus, "source", model, store, "plain", Decoding())
        (lines,) = written.by_shard(Execution.model_validate({"executor": executor}), "translate")
        assert lines == [*model.words.values()]
        names = [name for name in written.folder.names() if name.endswith(".parquet")]
        shards.append({name: written.folder.read(name) for name in names})
    assert shards[0] == shards[1] and len(shards[0]) == 3


def test_models_are_plain_baselines_in_both_directions(tmp_path: Path) -> None:
    store = Store(tmp_path)
    config = experiment(tmp_path, "data_diversification", seeds=[1, 2])
    baseline = Graph(store).plan(expand(config)["baseline"]).address
    (settings,), (models,) = config.models, Graph(store).models(config)
    assert list(models) == ["forward-1", "forward-2", "backward-1", "backward-2"]
    assert [models[f"forward-{seed}"].name for seed in (1, 2)] == [
        f"runs/{baseline}/seed-{seed}" for seed in (1, 2)
    ]
    backward = settings["backward"]
    assert isinstance(backward, Experiment) and backward.seeds == (1, 2)
    assert backward.corpus.languages_of("train") == ("qab", "qaa") and backward.augment == ()
    (models,) = Graph(store).models(experiment(tmp_path, "forward_translation", "qaa"))
    assert models["translator"].name == f"runs/{baseline}/seed-1"


def test_mistakes_are_reported_before_anything_is_trained(tmp_path: Path) -> None:
    system = {"model.hiden_size": 4}
    with pytest.raises(UserError, match="its forward: .*'model.hiden_size': did you mean 'hidden"):
        experiment(tmp_path, "data_diversification", system=system)
    with pytest.raises(UserError, match="in 'qab', the target language"):
        experiment(tmp_path, "back_translation", "qaa")


@pytest.mark.trains
@pytest.mark.parametrize(
    ("name", "language", "read", "written"),
    [
        ("forward_translation", "qaa", "source", "target"),
        ("back_translation", "qab", "target", "source"),
    ],
)
def test_pairs_are_sentences_and_what_a_model_makes_of_them(
    name: str, language: str, read: str, written: str, tmp_path: Path
) -> None:
    config, store = experiment(tmp_path, name, language), Store(tmp_path)
    address = Graph(store).plan(config).address
    run = make.prepare(config, store)
    assert run.address == address and list(run.records) == [name]
    folder = run.stored_folder(run.records[name])
    manifest = folder.manifest()
    (table,) = (read_shard(folder, shard) for shard in manifest["shards"])
    assert table.schema.remove_metadata().equals(PARALLEL.schema)
    text = cached_corpus(config.augment[0].texts()["monolingual"], "train", store.root)
    (models,) = Graph(store).models(config)
    outputs = models["translator"].translator(store)(
        text.column("text"), "plain", Decoding.model_validate(SEARCH)
    )
    rows, pairs = table.to_pylist(), zip(text.column("text"), outputs, strict=True)
    assert [(row[read], row[written]) for row in rows] == [pair for pair in pairs if pair[1]]
    assert {(row["source_language"], row["target_language"]) for row in rows} == {("qaa", "qab")}
    (parent,) = rows[0]["lineage"]["parents"]
    assert parent.startswith("monolingual-") and rows[0]["id"] == f"{parent}/{name}-1"
    assert text.address in manifest["inputs"]
    assert run_trial(run, scored=False)


@pytest.mark.trains
def test_one_model_a_direction_translates_its_views(tmp_path: Path) -> None:
    """The variant with CipherDAug."""
    system = {
        "augment": [{"operator": "cipher", "keys": [1, 2]}],
        "regime": {"name": "coregularised", "warmup_steps": 1},
        "training.max_updates": 3,
    }
    views = ["plain", "rot-1", "rot-2"]
    config = experiment(tmp_path, "data_diversification", seeds=[1], views=views, system=system)
    store = Store(tmp_path)
    run = make.prepare(config, store)
    (models,) = Graph(store).models(config)
    forward = models["forward"].name
    corpus = run.corpus("train")
    (part,) = pipeline.plan(corpus.address, config.augment, store, models=[models])
    sources, targets = corpus.column("source"), corpus.column("target")
    translator_run = Run.read(Folder(store.root, forward))
    for copy, view in enumerate(views, start=1):
        rows = [row for row in texts.rows_of(part) if row["lineage"]["copy"] == copy]
        kept = [sources.index(row["source"]) for row in rows]  # plain text, whatever was read
        enciphered = render_texts(translator_run, [sources[row] for row in kept], view)
        assert (enciphered == [sources[row] for row in kept]) == (view == "plain")
        outputs = TASK.translator(translator_run, 1)(sources, view, config.augment[0].decoding)
        assert [outputs[row] for row in kept] == [row["target"] for row in rows]
    backwards = [row for row in texts.rows_of(part) if row["lineage"]["copy"] > 3]
    assert {row["target"] for row in backwards} <= set(targets)
    assert run.data_factor == (60 + len(texts.rows_of(part))) / 60
    assert run_trial(run, scored=False)


def test_the_other_direction_has_the_codes_of_a_pretrained_model_swapped() -> None:
    codes = {"source_language": "deu_Latn", "target_language": "eng_Latn"}
    corpus = {"source_language": "de", "target_language": "en"}
    forward = {"corpus": corpus, "model": {"name": "nllb", **codes}}
    backward = translation.direction_experiment(translation.BACKWARD, forward, {})
    assert backward["corpus"]["source_language"] == "en"
    assert backward["model"] == {
        "name": "nllb",
        "source_language": "eng_Latn",
        "target_language": "deu_Latn",
    }
    forward["model"] = {"name": "t5", "prompt": "translate German to English: "}
    with pytest.raises(UserError, match="the prompt of the model"):
        translation.direction_experiment(translation.BACKWARD, forward, {})
