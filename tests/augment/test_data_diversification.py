"""Data diversification: what becomes of translations, by dictionaries as models, and with
trained models whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from augury.augment import pipeline, translation
from augury.augment.data_diversification import DataDiversification
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.store import Folder, Store
from augury.corpora import corpus as corpora
from augury.corpora.corpus import PARALLEL, Corpus
from augury.decoding.settings import Decoding, Sampler, Translator
from augury.experiments import make
from augury.experiments.evaluate import render_texts
from augury.experiments.graph import Graph
from augury.experiments.run import Run
from augury.experiments.spec import Experiment
from augury.experiments.systems import expand
from augury.experiments.trial import train
from augury.training.trained import OUTCOME
from tests import tiny
from tests.augment import texts
from trainables.nmt import TASK

SIDES = ("source", "target")
HERE = Execution(executor="local", threads=1)


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

    def sampler(self, store: Store, whole: bool = False) -> Sampler:
        raise NotImplementedError

    def probabilities(
        self, store: Store, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> np.ndarray:
        raise NotImplementedError


def corpus_of(pairs: Sequence[tuple[str, str]], store: Store) -> Corpus:
    sides = {side: [pair[place] for pair in pairs] for place, side in enumerate(SIDES)}
    return texts.corpus(
        store, texts.records(id=[f"train-{row}" for row in range(len(pairs))], **sides)
    )


def records(
    corpus: Corpus, store: Store, *models: Mapping[str, Any], **changes: Any
) -> pipeline.Part:
    operator = DataDiversification(**changes)
    (part,) = pipeline.augment(corpus, [operator], store, models=models, execution=HERE).parts
    return part


def pairs_of(part: pipeline.Part) -> list[tuple[str, str]]:
    assert texts.table_of(part).schema.equals(PARALLEL.schema)
    return [(row["source"], row["target"]) for row in texts.rows_of(part)]


def test_the_union_keeps_the_order_and_drops_what_is_there(tmp_path: Path) -> None:
    """Golden: {(a, A), (b, B)}, forward {(a, A), (b, B2)}, backward {(a2, A), (b, B)} give four
    pairs, in order."""
    store = Store(tmp_path)
    corpus = corpus_of([("a", "A"), ("b", "B")], store)
    forward, backward = (
        Dictionary("f", {"a": "A", "b": "B2"}),
        Dictionary("b", {"A": "a2", "B": "b"}),
    )
    part = records(corpus, store, {"forward": forward, "backward": backward})
    original = [
        (row["source"], row["target"]) for block in corpus.blocks() for row in block.to_pylist()
    ]
    assert original + pairs_of(part) == [("a", "A"), ("b", "B"), ("b", "B2"), ("a2", "A")]
    manifest = part.folder.manifest()
    assert manifest["counts"] == {"translated": 4, "too long": 0, "empty": 0, "there already": 2}
    first, second = texts.rows_of(part)
    assert (first["id"], second["id"]) == (
        "train-1/data_diversification-1",
        "train-0/data_diversification-2",
    )
    assert [row["lineage"]["parents"] for row in (first, second)] == [["train-1"], ["train-0"]]
    assert {row["origin"] for row in (first, second)} == {"data_diversification"}
    assert set(manifest["inputs"]) >= {"f", "b"}


def test_three_models_a_direction_give_seven_times_the_text_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpora, "SHARD_ROWS", 2)
    store, seeds = Store(tmp_path), (1, 2, 3)
    corpus = corpus_of([(f"s{row}", f"t{row}") for row in range(5)], store)
    models = {
        f"{direction}-{seed}": Dictionary(
            f"{direction}{seed}", {f"{side}{row}": f"{direction} {seed} {row}" for row in range(5)}
        )
        for direction, side in (("forward", "s"), ("backward", "t"))
        for seed in seeds
    }
    part = records(corpus, store, models)
    assert corpus.rows + len(pairs_of(part)) == 7 * corpus.rows
    assert len(set(pairs_of(part))) == 6 * corpus.rows
    assert DataDiversification().max_records() == 6


def test_empty_and_missing_translations_are_counted(tmp_path: Path) -> None:
    store = Store(tmp_path)
    corpus = corpus_of([("a", "A"), ("b", "B"), ("c", "C")], store)
    forward, backward = (
        Dictionary("f", {"a": " ", "b": None, "c": "C2"}),
        Dictionary("b", {"A": "", "B": "b", "C": "c"}),
    )
    part = records(corpus, store, {"forward": forward, "backward": backward})
    assert pairs_of(part) == [("c", "C2")]
    assert part.folder.manifest()["counts"] == {
        "translated": 6,
        "too long": 1,
        "empty": 2,
        "there already": 2,
    }


def test_translation_continues_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translation, "BLOCK_ROWS", 2)
    store = Store(tmp_path)
    corpus = corpus_of([(letter, letter.upper()) for letter in "abcde"], store)
    words = {letter: f"{letter}2" for letter in "abcdeABCDE"}
    killed = {"forward": Dictionary("f", words), "backward": Dictionary("b", words, dies_after=1)}
    with pytest.raises(KeyboardInterrupt):
        records(corpus, store, killed)
    assert killed["backward"].requests == [["A", "B"]]
    again = {"forward": Dictionary("f", words), "backward": Dictionary("b", words)}
    assert len(pairs_of(records(corpus, store, again))) == 10
    assert again["forward"].requests == [] and again["backward"].requests == [["C", "D"], ["E"]]


def test_further_models_and_other_operators_find_translations(tmp_path: Path) -> None:
    store, words = Store(tmp_path), {"a": "a2", "A": "A2"}
    corpus = corpus_of([("a", "A")], store)
    models = {
        name: Dictionary(name, words)
        for name in ("forward-1", "backward-1", "forward-2", "backward-2")
    }
    fewer = records(
        corpus, store, {role: models[role] for role in ("forward-1", "backward-1")}, seeds=(1,)
    )
    more = records(corpus, store, models, seeds=(1, 2))
    assert fewer.folder != more.folder
    assert all(len(model.requests) == 1 for model in models.values())
    records(corpus, store, models, seeds=(1, 2), decoding=Decoding(length_penalty=1.0))
    assert all(len(model.requests) == 2 for model in models.values())


@pytest.mark.slow
def test_ray_and_this_process_translate_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local_ray: Any
) -> None:
    monkeypatch.setattr(translation, "BLOCK_ROWS", 2)
    words = {letter: f"{letter}2" for letter in "abcde"}
    shards = []
    for executor in ("local", "ray"):
        store = Store(tmp_path / executor)
        corpus = corpus_of([(letter, letter) for letter in "abcde"], store)
        model = Dictionary("f", words)
        written = translation.translation(corpus, "source", model, store, "plain", Decoding())
        execution = Execution(executor=executor)  # type: ignore[arg-type]
        (lines,) = written.by_shard(execution, "translate")
        assert lines == [f"{letter}2" for letter in "abcde"]
        folder = written.folder
        shards.append(
            {name: folder.read(name) for name in folder.names() if name.endswith(".parquet")}
        )
    assert shards[0] == shards[1] and len(shards[0]) == 3


def diversified(storage: Path, **changes: Any) -> Experiment:
    operator = {
        "operator": "data_diversification",
        "seeds": [1, 2],
        "decoding": {"max_length": 12},
        **changes,
    }
    return tiny.experiment("nmt", storage, augment=[operator], baseline=True)


def test_models_are_the_plain_baseline_in_both_directions(tmp_path: Path) -> None:
    experiment, store = diversified(tmp_path), Store(tmp_path)
    (models,) = experiment.models
    forward, backward = models["forward"], models["backward"]
    assert isinstance(forward, Experiment) and isinstance(backward, Experiment)
    assert forward.seeds == backward.seeds == (1, 2) and forward.augment == ()
    assert (forward.corpus.languages_of("train"), backward.corpus.languages_of("train")) == (
        ("qaa", "qab"),
        ("qab", "qaa"),
    )
    baseline = Graph(store).plan(expand(experiment)["baseline"]).address
    (models,) = Graph(store).models(experiment)
    assert list(models) == ["forward-1", "forward-2", "backward-1", "backward-2"]
    assert [model.name for model in models.values()][:2] == [
        f"runs/{baseline}/seed-{seed}" for seed in (1, 2)
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"views": ["plain", "rot-1"]},
            r"unknown view 'rot-1'.*such as system: \{augment: \[\{operator: cipher",
        ),
        ({"seeds": [1, 1]}, r"seeds \[1, 1\] repeat"),
        (
            {"system": {"model.hiden_size": 4}},
            "its forward: unknown key 'model.hiden_size': did you mean 'hidden_size'",
        ),
        (
            {"directions": ["forward"], "backward": [{"checkpoint": "there"}]},
            "backward has models, and directions",
        ),
        ({"forward": [{}]}, "a trained model is a run or a checkpoint"),
    ],
)
def test_mistakes_are_reported_before_anything_is_trained(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=message):
        diversified(tmp_path, **changes)


@pytest.mark.trains
def test_one_model_a_direction_translates_its_views(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variant with CipherDAug, killed while it translates and continued: no model is trained
    twice."""
    system = {
        "augment": [{"operator": "cipher", "keys": [1, 2]}],
        "regime": {"name": "coregularised", "warmup_steps": 1},
        "training.max_updates": 3,
    }
    experiment = diversified(tmp_path, seeds=[1], views=["plain", "rot-1", "rot-2"], system=system)
    store = Store(tmp_path)
    translate: Callable[..., Any] = TASK.translator
    calls: list[str] = []

    def dying(run: Run, threads: int) -> Translator:
        calls.append(run.folder.name)
        if len(calls) == 3:
            raise KeyboardInterrupt
        translator: Translator = translate(run, threads)
        return translator

    monkeypatch.setattr(TASK, "translator", dying)
    with pytest.raises(KeyboardInterrupt):
        make.prepare(experiment, store)
    (models,) = Graph(store).models(experiment)
    outcomes = [Path(Folder(store.root, model.name).path(OUTCOME)) for model in models.values()]
    stamps = [outcome.stat().st_mtime_ns for outcome in outcomes]

    run = make.prepare(experiment, store)
    assert [outcome.stat().st_mtime_ns for outcome in outcomes] == stamps
    forward, backward = (model.name for model in models.values())
    assert calls == [forward, forward, forward, forward, backward, backward, backward]
    part = texts.rows_of(
        pipeline.plan(run.corpus("train").address, experiment.augment, store, models=[models])[0]
    )
    sources, targets = (run.corpus("train").column(side) for side in ("source", "target"))
    by_copy = {
        copy: [row for row in part if row["lineage"]["copy"] == copy] for copy in range(1, 7)
    }
    translator_run = Run.read(Folder(store.root, forward))
    for copy, view in ((1, "plain"), (2, "rot-1"), (3, "rot-2")):
        assert {row["source"] for row in by_copy[copy]} <= set(
            sources
        )  # plain text, whatever was read
        kept = [sources.index(row["source"]) for row in by_copy[copy]]
        enciphered = render_texts(translator_run, [sources[row] for row in kept], view)
        assert (enciphered == [sources[row] for row in kept]) == (view == "plain")
        outputs = TASK.translator(translator_run, 1)(sources, view, experiment.augment[0].decoding)
        assert [outputs[row] for row in kept] == [row["target"] for row in by_copy[copy]]
    assert {row["target"] for copy in (4, 5, 6) for row in by_copy[copy]} <= set(targets)
    assert run.data_factor == (60 + len(part)) / 60 and list(run.records) == [
        "data_diversification"
    ]
    assert train(run)
