"""Records that a language model writes: causal models whose weights say what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from augury.augment import generation, operator, pipeline, planning
from augury.augment.generate import TEACHER, WRITER, Generate
from augury.augment.models import ReadyModel
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.store import Store
from augury.corpora.corpus import Corpus, read_shard
from augury.corpora.ingest import ingest
from augury.corpora.spec import CorpusSpec, LabelledSpec, NliSpec
from augury.experiments.graph import Graph
from augury.experiments.ready_models import ready_model
from tests import tiny
from tests.language_models import (
    END,
    always,
    save_bigrams,
    save_classifier,
)

PAIRS = [
    ("ein Haus steht hier", "a house stands here"),
    ("der Hund schläft", "the dog sleeps"),
    ("die Katze frisst", "the cat eats"),
    ("wir gehen heim", "we go home"),
]
SENTENCES = [("good film", "positive"), ("bad film", "negative"), ("fine book", "positive")]
WORDS = ["the", "dog", "cat", "house", "runs", "sits", "here", "now"]
LOCAL = Execution(executor="local")


def parallel(folder: Path, pairs: Sequence[tuple[str, str]] = PAIRS) -> Corpus:
    for name, side in (("de", 0), ("en", 1)):
        (folder / name).write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    spec = {
        "source_language": "de",
        "target_language": "en",
        "train": {"source": str(folder / "de"), "target": str(folder / "en")},
        "filter": {"max_ratio": None},
    }
    return ingest(CorpusSpec.model_validate(spec), "train", Store(folder / "store"))


def labelled(folder: Path) -> Corpus:
    rows = "".join(f"{text}\t{label}\n" for text, label in SENTENCES)
    (folder / "train.tsv").write_text(f"text\tlabel\n{rows}", encoding="utf-8")
    spec = {
        "language": "en",
        "labels": ["negative", "positive"],
        "train": {"file": str(folder / "train.tsv")},
    }
    return ingest(LabelledSpec.model_validate(spec), "train", Store(folder / "store"))


def nli(folder: Path) -> Corpus:
    (folder / "nli.tsv").write_text(
        "premise\thypothesis\tlabel\na dog runs\tan animal moves\tentailment\n"
        "a cat sits\tit stands\tcontradiction\n"
    )
    spec = {"language": "en", "train": {"file": str(folder / "nli.tsv")}}
    return ingest(NliSpec.model_validate(spec), "train", Store(folder / "store"))


def chatter(folder: Path) -> str:
    """A model that goes on after `:` with any words."""
    anything = {word: 1 / 9 for word in [*WORDS, END]}
    return save_bigrams(
        folder, {":": {word: 1 / 8 for word in WORDS}} | dict.fromkeys(WORDS, anything)
    )


def generated(
    corpus: Corpus, execution: Execution = LOCAL, **settings: Any
) -> tuple[planning.Part, list[dict[str, Any]]]:
    """The part that an operator makes from a corpus, and its records."""
    parsed = operator.parse({"operator": "generate", "max_tokens": 8, **settings})
    assert isinstance(parsed, Generate)
    ready = parsed.models({"corpus": {}})
    models = {
        role: ready_model(model) for role, model in ready.items() if isinstance(model, ReadyModel)
    }
    assert models.keys() == ready.keys()
    store = Store(corpus.folder.root)
    done = pipeline.augment(corpus, [parsed], store, models=[models], execution=execution)
    (part,) = done.parts
    tables = [read_shard(part.folder, shard) for shard in part.folder.manifest()["shards"]]
    table = pa.concat_tables(tables).replace_schema_metadata()
    assert table.schema.equals(corpus.shard(corpus.shards[0]).schema.remove_metadata())
    return part, table.to_pylist()


def lost(part: planning.Part) -> dict[str, int]:
    assert part.health is not None
    return dict(part.health.lost)


def test_an_answer_fills_a_column_and_all_else_is_the_parent(tmp_path: Path) -> None:
    model = save_bigrams(tmp_path / "model", always("a new house is here", after=":"))
    part, records = generated(
        parallel(tmp_path),
        model=model,
        prompt="translate",
        filters={"length_ratio": None, "repeated": False},
    )
    assert [(row["source"], row["target"]) for row in records] == [
        (source, "a new house is here") for source, _ in PAIRS
    ]
    first = records[0]
    assert first["id"] == "train-00000001/generate-1" and first["origin"] == "generate"
    assert first["lineage"]["parents"] == ["train-00000001"] and first["lineage"]["copy"] == 1
    assert (first["source_language"], first["target_language"]) == ("de", "en")
    assert part.health is not None
    assert part.health.made == 4 and part.health.repeated == pytest.approx(0.75)
    (answers,) = part.folder.manifest()["made_from"]
    manifest = Store(part.folder.root).folder(*answers.split("/")).manifest()
    assert manifest["seconds"] > 0 and part.model_names == {
        WRITER: ready_model(ReadyModel(checkpoint=model)).name
    }


def test_several_columns_are_read_by_groups(tmp_path: Path) -> None:
    words = "German ein Baum English a tree"
    model = save_bigrams(tmp_path / "model", always(words, after=":"))
    _, records = generated(
        parallel(tmp_path),
        model=model,
        prompt="{{ target }} :",
        answer="German (?P<source>.+) English (?P<target>.+)",
    )
    assert [(row["source"], row["target"]) for row in records] == [("ein Baum", "a tree")]


def test_other_labels_are_asked_for_and_kept(tmp_path: Path) -> None:
    """The model writes of the label that it read last."""
    following = {
        **always("worse than that", after="negative"),
        **always("rather good one", after="positive"),
    }
    model = save_bigrams(tmp_path / "model", following)
    settings = {"model": model, "prompt": "{{ text }} {{ label }}", "fills": ["text"]}
    for label, expected in (
        ("other", [("worse than that", "negative"), ("rather good one", "positive")]),
        ("own", [("rather good one", "positive"), ("worse than that", "negative")]),
    ):
        _, records = generated(labelled(tmp_path), label=label, **settings)
        assert [(row["text"], row["label"]) for row in records] == expected  # repeated: once


def test_a_hypothesis_is_written_for_a_label(tmp_path: Path) -> None:
    model = save_bigrams(tmp_path / "model", always("something was seen", after=":"))
    _, records = generated(
        nli(tmp_path), model=model, prompt="hypothesis", filters={"repeated": False}
    )
    assert [(row["premise"], row["hypothesis"], row["label"]) for row in records] == [
        ("a dog runs", "something was seen", "entailment"),
        ("a cat sits", "something was seen", "contradiction"),
    ]


def test_labels_are_written_too(tmp_path: Path) -> None:
    following = {"good": {"positive": 1.0}, "bad": {"unsure": 1.0}}
    model = save_bigrams(tmp_path / "model", following)
    part, records = generated(
        labelled(tmp_path),
        model=model,
        prompt="{{ text.split()[0] }}",
        fills=["label"],
        filters={"repeated": False},
    )
    assert [row["label"] for row in records] == ["positive"]
    assert lost(part) == {"unknown label": 1, "empty": 1}


def test_shots_are_other_records_of_the_same_label(tmp_path: Path) -> None:
    corpus = labelled(tmp_path)
    prompts = generation.Prompts(
        "{{ text }}|{% for e in examples %}{{ e.text }},{% endfor %}",
        ({"text": "given"},),
        shots=2,
        label="own",
        labels=("negative", "positive"),
        share=1.0,
        seed=1,
        copy=1,
    )
    (block,) = corpus.blocks()
    assert prompts.texts(block, corpus) == [
        "good film|given,fine book,",
        "bad film|given,",
        "fine book|given,good film,",
    ]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Corpus]:
    """A model that writes anything, and pairs for it."""
    folder = tmp_path_factory.mktemp("many")
    return chatter(folder / "model"), fresh(folder / "corpus")


DRAWN = {"prompt": "{{ source }} :", "fills": ["target"], "filters": {"length_ratio": None}}


def fresh(folder: Path) -> Corpus:
    """The same pairs in another storage."""
    folder.mkdir()
    return parallel(folder, [(f"{number} Hunde", f"{number} dogs") for number in range(40)])


def test_blocks_and_batches_do_not_matter(
    many: tuple[str, Corpus], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, corpus = many
    part, records = generated(corpus, model=model, copies=2, **DRAWN)
    monkeypatch.setattr("augury.augment.generate.BLOCK_ROWS", 7)
    monkeypatch.setattr("augury.decoding.sampling.BATCH_TOKENS", 40)
    others, same = generated(fresh(tmp_path / "other"), model=model, copies=2, **DRAWN)
    assert same == records and len(records) > 30 and others.folder.name == part.folder.name


@pytest.mark.slow
def test_workers_of_ray_write_the_same(
    many: tuple[str, Corpus], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local_ray: Any
) -> None:
    model, corpus = many
    _, records = generated(corpus, model=model, copies=2, **DRAWN)
    monkeypatch.setattr("augury.augment.generate.BLOCK_ROWS", 7)
    ray = Execution(executor="ray")
    _, same = generated(fresh(tmp_path / "other"), ray, model=model, copies=2, **DRAWN)
    assert same == records


def test_more_copies_add_to_fewer_and_seeds_differ(many: tuple[str, Corpus]) -> None:
    model, corpus = many
    one, two, other = (
        [
            (row["id"], row["target"])
            for row in generated(corpus, model=model, **DRAWN, **changed)[1]
        ]
        for changed in ({}, {"copies": 2}, {"seed": 2})
    )
    assert two[: len(one)] == one and len(two) > len(one)
    assert all(name.endswith("-2") for name, _ in two[len(one) :])
    assert not {*one} >= {*other}


def test_a_share_of_the_records_is_asked_for(many: tuple[str, Corpus]) -> None:
    model, corpus = many
    part, some = generated(corpus, model=model, share=0.3, **DRAWN)
    _, every = generated(corpus, model=model, **DRAWN)
    assert 4 <= len(some) <= 20 and part.health and part.health.requested < 25
    assert {row["id"] for row in some} < {row["id"] for row in every}


def test_answers_are_kept_for_other_patterns_and_filters(many: tuple[str, Corpus]) -> None:
    model, corpus = many
    store = Store(corpus.folder.root)
    generated(corpus, model=model, max_tokens=7, **DRAWN)
    before = store.addresses("generated")
    generated(corpus, model=model, max_tokens=7, **{**DRAWN, "filters": {"copied": False}})
    generated(corpus, model=model, max_tokens=7, **DRAWN, answer="(?P<target>the.*)")
    assert store.addresses("generated") == before
    generated(corpus, model=model, max_tokens=7, **DRAWN, examples=[{"source": "x"}])
    assert len(store.addresses("generated")) == len(before) + 1


def test_a_teacher_decides(tmp_path: Path) -> None:
    model = save_bigrams(tmp_path / "model", always("so it was", after=":"))
    teacher = save_classifier(tmp_path / "teacher", {"Positive": 0.7, "Negative": 0.3})
    settings = {"model": model, "prompt": "{{ text }} :", "fills": ["text"]}
    for least, kept in ((0.0, ["positive", "positive"]), (0.8, [])):
        filters = {"teacher": teacher, "min_probability": least, "repeated": False}
        part, records = generated(labelled(tmp_path), filters=filters, **settings)
        assert [row["label"] for row in records] == kept
        assert lost(part) == {"teacher": 3 - len(kept)}


def test_the_plain_baseline_can_judge(tmp_path: Path) -> None:
    """It is a run of the graph."""
    generate = {"operator": "generate", "model": "a/model", "prompt": "example"}
    judged = {**generate, "filters": {"teacher": "baseline"}}
    labels = tiny.experiment("classification", tmp_path, baseline=True, augment=[judged])
    (models,) = Graph(Store(tmp_path)).models(labels)
    assert models[WRITER].name == "a/model@main"
    assert models[TEACHER].name.startswith("runs/")


def test_a_prompt_that_is_too_long_and_an_answer_of_another_form_are_counted(
    tmp_path: Path,
) -> None:
    following = {"Hund": {"?": 1.0}, "Katze": {"cat": 1.0}, "?": {END: 1.0}, "cat": {END: 1.0}}
    model = save_bigrams(tmp_path / "model", following, positions=12)
    pairs = [("der Hund", "dog"), ("die Katze", "a cat"), ("ein großer alter Hund", "old dog")]
    part, records = generated(
        parallel(tmp_path, pairs),
        model=model,
        prompt="{{ source }}",
        answer=r"(?P<target>\w+)",
    )
    assert [row["target"] for row in records] == ["cat"]
    assert lost(part) == {"answer of another form": 2}
    part, _ = generated(
        parallel(tmp_path, pairs),
        model=model,
        prompt="{{ source }}",
        answer=r"(?P<target>\w+)",
        max_tokens=9,
    )
    assert lost(part) == {"answer of another form": 1, "prompt too long": 1}


def test_a_text_whose_prompt_cannot_be_filled_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="record train-00000001: UndefinedError"):
        generated(
            parallel(tmp_path), model="a/model", prompt="{{ source.words }}", fills=["target"]
        )
