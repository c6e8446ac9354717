"""Records that a language model writes: causal models whose weights say what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from augury.augment import operator, pipeline, prompts
from augury.augment.generate import WRITER, Generate
from augury.augment.models import ReadyModel
from augury.augment.operator import check_columns, parse
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.store import Store
from augury.corpora.corpus import LABELLED_PAIRS, PARALLEL, Corpus
from augury.corpora.ingest import ingest
from augury.corpora.spec import CorpusSpec, LabelledSpec
from augury.experiments.ready_models import ready_model
from tests.augment import texts
from tests.language_models import END, always, save_bigrams

PAIRS = [
    ("ein Haus steht hier", "a house stands here"),
    ("der Hund schläft", "the dog sleeps"),
    ("die Katze frisst", "the cat eats"),
    ("wir gehen heim", "we go home"),
]
SENTENCES = [("good film", "positive"), ("bad film", "negative"), ("fine book", "positive")]
WORDS = ["the", "dog", "cat", "house", "runs", "sits", "here", "now"]
LOCAL = Execution(executor="local")


def parallel(folder: Path, pairs: Sequence[tuple[str, str]] = PAIRS, **filters: Any) -> Corpus:
    for name, side in (("de", 0), ("en", 1)):
        (folder / name).write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    spec = {
        "source_language": "de",
        "target_language": "en",
        "train": {"source": str(folder / "de"), "target": str(folder / "en")},
        "filter": {"max_ratio": None, **filters},
    }
    return ingest(CorpusSpec.model_validate(spec), "train", Store(folder / "store"))


def labelled(folder: Path) -> Corpus:
    rows = "".join(f"{text}\t{label}\n" for text, label in SENTENCES)
    (folder / "train.tsv").write_text(f"text\tlabel\n{rows}", encoding="utf-8")
    train = {"file": str(folder / "train.tsv")}
    spec = {"language": "en", "labels": ["negative", "positive"], "train": train}
    return ingest(LabelledSpec.model_validate(spec), "train", Store(folder / "store"))


def chatter(folder: Path) -> str:
    """A model that goes on after `:` with any words."""
    anything = {word: 1 / 9 for word in [*WORDS, END]}
    return save_bigrams(
        folder, {":": {word: 1 / 8 for word in WORDS}} | dict.fromkeys(WORDS, anything)
    )


def generated(
    corpus: Corpus, execution: Execution = LOCAL, **settings: Any
) -> tuple[pipeline.Part, list[dict[str, Any]]]:
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
    table = texts.table_of(part)
    assert table.schema.equals(corpus.shard(corpus.shards[0]).schema.remove_metadata())
    return part, table.to_pylist()


def lost(part: pipeline.Part) -> dict[str, int]:
    return dict(part.health.lost)


def test_an_answer_fills_a_column_and_all_else_is_the_parent(tmp_path: Path) -> None:
    model = save_bigrams(tmp_path / "model", always("a new house is here", after=":"))
    part, records = generated(
        parallel(tmp_path), model=model, prompt="translate", length_ratio=None
    )
    assert [(row["source"], row["target"]) for row in records] == [
        (source, "a new house is here") for source, _ in PAIRS
    ]
    first = records[0]
    assert first["id"] == "train-00000001/generate-1" and first["origin"] == "generate"
    assert first["lineage"]["parents"] == ["train-00000001"] and first["lineage"]["copy"] == 1
    assert (first["source_language"], first["target_language"]) == ("de", "en")
    assert part.health.made == 4 and part.health.measures["repeated"] == pytest.approx(0.75)
    (answers,) = part.folder.manifest()["made_from"]
    manifest = Store(part.folder.root).folder(*answers.split("/")).manifest()
    assert manifest["seconds"] > 0 and part.model_names == {
        WRITER: ready_model(ReadyModel(checkpoint=model)).name
    }


def test_the_label_is_in_the_prompt(tmp_path: Path) -> None:
    """The model writes of the label that it read last."""
    following = {
        **always("worse than that", after="negative"),
        **always("rather good one", after="positive"),
    }
    model = save_bigrams(tmp_path / "model", following)
    _, records = generated(
        labelled(tmp_path), model=model, prompt="{{ text }} {{ label }}", fills="text"
    )
    good, bad = ("rather good one", "positive"), ("worse than that", "negative")
    assert [(row["text"], row["label"]) for row in records] == [good, bad, good]


def test_shots_are_other_records(tmp_path: Path) -> None:
    corpus = labelled(tmp_path)
    shown = operator_with(
        prompt="{{ text }}|{% for e in examples %}{{ e.text }},{% endfor %}",
        fills="text",
        examples=[{"text": "given"}],
        shots=2,
    )
    (block,) = corpus.blocks()
    prompts = shown.questions(corpus, 1, block).texts
    for (text, _), prompt in zip(SENTENCES, prompts, strict=True):
        asked, _, examples = prompt.partition("|given,")
        others = {f"{other}," for other, _ in SENTENCES if other != text}
        assert asked == text and {examples} <= {"".join(order) for order in permutations(others)}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Corpus]:
    """A model that writes anything, and pairs for it."""
    folder = tmp_path_factory.mktemp("many")
    return chatter(folder / "model"), fresh(folder / "corpus")


DRAWN = {"prompt": "{{ source }} :", "fills": "target", "length_ratio": None}


def fresh(folder: Path) -> Corpus:
    """The same pairs in another storage."""
    folder.mkdir()
    return parallel(folder, [(f"{number} Hunde", f"{number} dogs") for number in range(40)])


def test_blocks_and_batches_do_not_matter(
    many: tuple[str, Corpus], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, corpus = many
    part, records = generated(corpus, model=model, copies=2, **DRAWN)
    monkeypatch.setattr("augury.augment.model_outputs.BLOCK_ROWS", 7)
    monkeypatch.setattr("augury.decoding.sampling.BATCH_TOKENS", 40)
    others, same = generated(fresh(tmp_path / "other"), model=model, copies=2, **DRAWN)
    assert same == records and len(records) > 30 and others.folder.name == part.folder.name


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


def operator_with(**settings: Any) -> Any:
    return parse({"operator": "generate", "model": "a", **settings})


def test_a_template_is_filled_with_columns_and_examples() -> None:
    template = "{{ source_language | language }}:{% for e in examples %} {{ e.source }}{% endfor %}"
    assert prompts.columns_of(template) == ["source_language"]
    assert prompts.render(template, PARENT, [{"source": "x"}, {"source": "y"}]) == "German: x y"
    assert prompts.render("{{ '{{ id }}' }}{{ source }}", {**PARENT, "source": "{{ id }}"}, []) == (
        "{{ id }}{{ id }}"
    )


def test_what_a_template_must_not_do_is_an_error() -> None:
    for template, message in (
        ("{{ examples[0].target }}", "record 1: UndefinedError: .*no attribute 'target'"),
        ("{{ source.__class__.__mro__ }}", "SecurityError"),
        ("{% include '/etc/hostname' %}{{ source }}", "cannot be filled"),
    ):
        with pytest.raises(UserError, match=message):
            prompts.render(template, PARENT, [{"source": "x"}])


def test_a_setting_that_is_missing_or_unknown_is_named() -> None:
    with pytest.raises(UserError, match="unknown prompt 'paraphase': did you mean 'paraphrase'"):
        operator_with(prompt="paraphase")
    with pytest.raises(UserError, match="fills: source"):
        operator_with(prompt="{{ source }}")


RECORDS: dict[str, tuple[Any, str]] = {
    "paraphrase": (LABELLED_PAIRS.schema, "sentence1"),
    "translate": (PARALLEL.schema, "target"),
    "noisy": (PARALLEL.schema, "source"),
}


@pytest.mark.parametrize("name", prompts.PROMPTS)
def test_a_named_prompt_is_written_out_and_reads_its_records(name: str) -> None:
    """Written out, it is the same again, as `augury config --resolved` prints it."""
    schema, fills = RECORDS[name]
    operator = operator_with(prompt=name, fills=fills)
    assert parse(operator.to_dict()) == operator and operator.prompt != name
    check_columns(operator, schema.names)
    record = {column: "neutral" if column == "label" else column for column in schema.names}
    prompt = prompts.render(operator.prompt, record, [record])
    assert prompt.endswith(":") and "COLUMN" not in prompt and "\n\n" not in prompt
    assert (f": {fills}" in prompt or f"- {fills}" in prompt) and "nothing else" in prompt


PARENT = {
    "id": "1",
    "source": "der Hund ist in dem Haus und schläft",
    "target": "the dog is in the house and sleeps",
    "source_language": "de",
    "target_language": "en",
    "origin": "train",
}
GERMAN, ENGLISH = "das ist der Hund und die Katze", "this is the dog and the cat"
TWICE = {"length_ratio": 2.0}
UNKNOWN = {**PARENT, "target_language": "qaa"}  # no language of it is told


@pytest.mark.parametrize(
    ("text", "parent", "fills", "settings", "reason"),
    [
        ("", PARENT, "target", {}, "empty"),
        ("The dog is in the  house and sleeps", PARENT, "target", {}, "copied"),
        ("the dog is in the house", PARENT, "target", {}, ""),
        # The target has 34 characters.
        ("x" * 16, UNKNOWN, "target", TWICE, "length ratio"),
        ("x" * 69, UNKNOWN, "target", TWICE, "length ratio"),
        (ENGLISH, PARENT, "target", {}, ""),
        (GERMAN, PARENT, "target", {}, "language"),
        (ENGLISH, PARENT, "source", {}, "language"),
    ],
)
def test_answers_are_left_out_for_one_reason(
    text: str, parent: dict[str, str], fills: str, settings: dict[str, Any], reason: str
) -> None:
    settings = {"length_ratio": None, **settings}
    assert operator_with(prompt="{{ id }}", fills=fills, **settings).fault(parent, text) == reason
