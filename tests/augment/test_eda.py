from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from augury.augment import operator, pipeline, planning
from augury.augment.eda import Eda
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora import corpus as corpora
from augury.corpora.corpus import PARALLEL, Corpus, CorpusWriter, read_shard
from augury.text.eda.operations import OPERATIONS

NLI = pa.schema(
    [
        *(
            (name, pa.string())
            for name in ("id", "premise", "hypothesis", "label", "language", "origin")
        ),
        ("views", PARALLEL.schema.field("views").type),
        ("lineage", PARALLEL.schema.field("lineage").type),
    ]
)
WORDS = [f"w{number}" for number in range(10)]
SENTENCE = " ".join(WORDS)
LABELS = ["entailment", "neutral", "contradiction"]


def block(
    count: int, premise: str = SENTENCE, hypothesis: str = SENTENCE, language: str = "en"
) -> pa.Table:
    return pa.table(
        {
            "id": [f"train-{number:08d}" for number in range(count)],
            "premise": [premise] * count,
            "hypothesis": [hypothesis] * count,
            "label": [LABELS[number % 3] for number in range(count)],
            "language": [language] * count,
            "origin": ["original"] * count,
            "views": [[]] * count,
            "lineage": [None] * count,
        },
        schema=NLI,
    )


def apply_eda(eda: Eda, records: pa.Table, store: Store) -> operator.OperatorOutput:
    return eda.bind({}, store)(records)


def operation(text: str) -> str:
    """Which operation made a text of `SENTENCE`, where the synonym of every word `w*` is `s`."""
    words = text.split()
    if len(words) > len(WORDS):
        return "insertion"
    if "s" in words:
        return "replacement"
    return "swap" if sorted(words) == WORDS and words != WORDS else "deletion"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def synonyms(tmp_path: Path) -> str:
    path = tmp_path / "synonyms.tsv"
    path.write_text("".join(f"{word}\ts\n" for word in WORDS))
    return str(path)


def test_children_follow_their_parent_and_name_it(store: Store) -> None:
    eda = Eda(copies=2)
    table = apply_eda(eda, block(3), store).table
    assert table.schema == NLI
    rows = table.to_pylist()
    assert [row["id"] for row in rows] == [
        f"train-{parent:08d}/eda-{copy}" for parent in range(3) for copy in (1, 2)
    ]
    assert [row["label"] for row in rows] == [
        LABELS[parent] for parent in range(3) for _ in range(2)
    ]
    assert {row["origin"] for row in rows} == {"eda"} and {row["language"] for row in rows} == {
        "en"
    }
    assert rows[3]["lineage"] == {
        "parents": ["train-00000001"],
        "operator": operator.address(eda),
        "copy": 2,
    }


def test_four_copies_have_the_four_operations_on_either_side(store: Store, synonyms: str) -> None:
    """Swaps that undo each other count as deletions of nothing: premises of ten words have two
    of them."""
    table = apply_eda(Eda(synonyms=synonyms), block(300), store).table
    for side in ("premise", "hypothesis"):
        drawn = [operation(text) for text in table.column(side).to_pylist()]
        counts = Counter(drawn)
        assert counts["replacement"] == counts["insertion"] == 300
        assert counts["swap"] + counts["deletion"] == 600 and counts["swap"] > 280
        # The round begins anywhere: the first copies alone are balanced too, 75 each, four standard
        # deviations 30.
        assert all(45 < Counter(drawn[::4])[name] < 105 for name in OPERATIONS)


def test_premise_and_hypothesis_are_changed_independently(store: Store, synonyms: str) -> None:
    rows = apply_eda(Eda(synonyms=synonyms), block(300), store).table.to_pylist()
    both = Counter((operation(row["premise"]), operation(row["hypothesis"])) for row in rows)
    assert len(both) == 16 and all(
        35 < count < 130 for count in both.values()
    )  # 75 each in expectation
    assert sum(row["premise"] == row["hypothesis"] for row in rows) < 60


def test_more_copies_begin_with_the_same(store: Store) -> None:
    few, many = (
        apply_eda(Eda(copies=copies), block(5), store).table.to_pylist() for copies in (2, 6)
    )
    texts = {row["id"]: (row["premise"], row["hypothesis"]) for row in many}
    assert all((row["premise"], row["hypothesis"]) == texts[row["id"]] for row in few)


def test_another_seed_makes_other_texts(store: Store) -> None:
    first, second = (
        apply_eda(Eda(seed=seed), block(20), store).table.column("premise").to_pylist()
        for seed in (1, 2)
    )
    assert sum(a != b for a, b in zip(first, second, strict=True)) > 30


def test_nothing_depends_on_the_block(store: Store) -> None:
    records = block(12, "The dog sees a happy child.", "A man is walking.")
    apply = Eda().bind({}, store)
    output = apply(records)
    for size in (1, 5):
        parts = [apply(records.slice(start, size)) for start in range(0, 12, size)]
        assert (
            pa.concat_tables([part.table for part in parts])
            .combine_chunks()
            .equals(output.table.combine_chunks())
        )
        assert sum((Counter(part.counts) for part in parts), Counter()) == +Counter(output.counts)
    assert apply(records.slice(0, 0)).table.schema == NLI


def test_without_synonyms_half_of_the_copies_stay_and_are_counted(store: Store) -> None:
    """The bundled table is English, as are its stop words."""
    dogs = "dog dog dog dog"
    english = apply_eda(Eda(), block(40, dogs, dogs), store)
    german = apply_eda(Eda(), block(40, dogs, dogs, "de"), store)
    swaps = 40  # of equal words
    assert english.counts["unchanged premises"] - swaps < 40  # deletions that took nothing
    assert german.counts["unchanged premises"] - english.counts["unchanged premises"] == 80
    assert german.counts["unchanged hypotheses"] - english.counts["unchanged hypotheses"] == 80


def test_given_lists_serve_every_language(store: Store, tmp_path: Path) -> None:
    (tmp_path / "synonyms.tsv").write_text("hund\tköter\nder\tjener\n")
    (tmp_path / "stop.txt").write_text("der\n")
    eda = Eda(synonyms=str(tmp_path / "synonyms.tsv"), stop_words=str(tmp_path / "stop.txt"))
    texts = set(
        apply_eda(eda, block(20, "der", "hund", "de"), store).table.column("hypothesis").to_pylist()
    )
    assert texts == {"hund", "köter", "köter hund"}
    assert apply_eda(eda, block(20, "der", "hund", "de"), store).counts["unchanged premises"] == 80


def test_clean_leaves_letters_and_spaces(store: Store) -> None:
    texts = apply_eda(
        Eda(clean=True), block(10, "It's a DOG, No. 3!", "42 ..."), store
    ).table.to_pydict()
    assert set("".join(texts["premise"])) <= set("abcdefghijklmnopqrstuvwxyz ")
    assert set(texts["hypothesis"]) == {"42 ..."}


def test_texts_without_words_stay(store: Store) -> None:
    result = apply_eda(Eda(), block(3, "", " "), store)
    assert result.table.column("premise").to_pylist() == [""] * 12
    assert result.counts == {"unchanged premises": 12, "unchanged hypotheses": 12}


def corpus(
    store: Store, premise: str = "The dog sees a happy child.", language: str = "en"
) -> Corpus:
    writer = CorpusWriter(store.folder("corpora", f"{language}-{len(premise)}"))
    writer.add(block(10, premise, "A man is walking." if language == "en" else premise, language))
    return writer.finish({"kind": "nli", "rejected": {}})


def test_through_the_pipeline_by_shards_of_any_size(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpora, "SHARD_ROWS", 3)
    base = corpus(store)
    (part,) = pipeline.augment(base, [Eda()], store).parts
    manifest = part.folder.manifest()
    assert (len(base.shards), manifest["rows"], manifest["records"]) == (4, 40, "eda")
    rows = pa.concat_tables([read_shard(part.folder, shard) for shard in manifest["shards"]])
    output = apply_eda(Eda(), pa.concat_tables(list(base.blocks())), store)
    assert rows.to_pylist() == output.table.to_pylist()
    assert manifest["counts"] == output.counts


def test_copies_as_views_are_those_of_the_records(store: Store) -> None:
    base = corpus(store)
    records = apply_eda(Eda(copies=2), base.shard(base.shards[0]), store).table.to_pydict()
    parts = pipeline.augment(base, [Eda(copies=2, use="view")], store).parts
    assert [part.name for part in parts] == ["eda-1", "eda-2"]
    for place, part in enumerate(parts):
        assert part.folder.name.startswith("views/") and part.folder.manifest()["view"] == part.name
        assert read_shard(part.folder, *part.folder.manifest()["shards"]).to_pydict() == {
            "id": base.column("id"),
            "premise": records["premise"][place::2],
            "hypothesis": records["hypothesis"][place::2],
        }
    more = pipeline.augment(base, [Eda(copies=3, use="view")], store)
    assert (more.computed, more.reused) == (("eda-3",), ("eda-1", "eda-2"))


def test_words_are_needed_where_none_are_written(store: Store) -> None:
    with pytest.raises(UserError, match="operator eda: 'zh' is written without spaces"):
        pipeline.augment(corpus(store, "两只狗在公园里跑。", "zh"), [Eda()], store)
    segmented = corpus(store, "两 只 狗 在 公园 里 跑 。", "zh")
    pipeline.augment(segmented, [Eda()], store)
    assert len(store.addresses("records")) == 1


def test_copies_that_are_mostly_unchanged_are_reported(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    (part,) = pipeline.augment(corpus(store, "dog", "de"), [Eda()], store).parts
    assert part.folder.manifest()["counts"] == {
        "unchanged premises": 40,
        "unchanged hypotheses": 40,
    }
    message = "eda changes little: 40 unchanged premises, 40 unchanged hypotheses in 40 copies"
    assert message in capsys.readouterr().err
    pipeline.augment(corpus(store), [Eda()], store)
    assert "changes little" not in capsys.readouterr().err


def test_a_language_without_synonyms_is_reported(
    store: Store, synonyms: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for eda, language, warned in (
        (Eda(), "und", True),
        (Eda(synonyms=synonyms), "und", False),
        (Eda(), "en", False),
    ):
        eda.check_text(pipeline.first_records(corpus(store, "a dog runs", language), eda))
        assert ("'und'" in capsys.readouterr().err) == warned


def test_the_address_follows_what_the_files_hold(store: Store, synonyms: str) -> None:
    def address() -> str:
        return planning.plan("abc", [Eda(synonyms=synonyms)], store)[0].folder.name

    first = address()
    assert address() == first
    Path(synonyms).write_text("dog\thound\n")
    assert address() != first


def test_of_translation_the_source_changes_and_the_target_stays(store: Store) -> None:
    records = pa.table(
        {
            "id": ["train-1", "train-2"],
            "source": ["The happy dog sees a child.", "Der Hund sieht ein Kind."],
            "target": ["Un chien.", "A dog."],
            "source_language": ["en", "de"],
            "target_language": ["fr", "en"],
            "origin": ["original"] * 2,
            "views": [[]] * 2,
            "lineage": [None] * 2,
        },
        schema=PARALLEL.schema,
    )
    english, german = (apply_eda(Eda(), records.slice(row, 1), store) for row in (0, 1))
    assert (
        english.table.schema == PARALLEL.schema
        and english.table.column("target").to_pylist() == ["Un chien."] * 4
    )
    assert english.counts["unchanged sources"] <= 1  # a deletion may take nothing
    assert german.counts["unchanged sources"] >= 2  # the synonyms are English
    (view,) = Eda(use="view", copies=1).parts()
    first = view.bind({}, store)(records).table
    assert first.to_pydict() == {
        "id": ["train-1", "train-2"],
        "text": [output.table.column("source")[0].as_py() for output in (english, german)],
    }


def test_records_without_the_columns_are_refused() -> None:
    with pytest.raises(UserError, match="these records have no premise, hypothesis, language"):
        operator.check_columns(Eda(), ["id", "target"])


def test_parameters_out_of_range_are_refused() -> None:
    for wrong in ({"copies": 0}, {"alpha": 0}, {"alpha": 1.5}):
        with pytest.raises(UserError, match=f"{next(iter(wrong))} = "):
            operator.parse({"operator": "eda", **wrong})
    with pytest.raises(UserError, match="unknown key 'synonym': did you mean 'synonyms'"):
        operator.parse({"operator": "eda", "synonym": "table.tsv"})
