"""What holds for all operators on all tasks: ids, blocks, executors and seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from augury.augment import operator, pipeline
from augury.augment.fuzzy_match import load_memory
from augury.augment.operator import Operator
from augury.core.execution import Execution
from augury.core.store import Store
from augury.corpora import corpus as corpora
from augury.corpora.corpus import KINDS, Corpus, sentence_columns
from tests.augment import texts

TEXTS = [
    "Their dog wrote to me about the happy child.",
    "There are two dogs, too.",
    "He knows no dog here, and sees a child.",
    "I hear that you know the big house.",
]
ROWS = 13
FORMS = ("records", "view")


EVERY_TASK: dict[str, Any] = {
    "eda": {"operator": "eda", "copies": 2},
    "eda view": {"operator": "eda", "use": "view"},
    "noise": {"operator": "noise", "copies": 2, "asr": 0.5, "spelling": 0.3},
    "noise view": {"operator": "noise", "use": "view", "spelling": 0.5},
}
TRANSLATION: dict[str, Any] = {
    "cipher": {"operator": "cipher", "keys": [1, 2]},
    "shuffle": {"operator": "control", "kind": "shuffle"},
    "random": {"operator": "control", "kind": "random"},
    "fuzzy": {"operator": "fuzzy_match", "norm": "max"},
    "fuzzy, ten": {"operator": "fuzzy_match", "norm": "max", "candidates": "containment"},
    "fuzzy, one way": {"operator": "fuzzy_match", "norm": "max", "both_directions": False},
}
CASES = [
    *(
        (kind, name)
        for kind in ("parallel", "nli", "labelled", "labelled pairs")
        for name in EVERY_TASK
    ),
    *(("parallel", name) for name in TRANSLATION),
]


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "SHARD_ROWS", 5)


def corpus(kind: str, store: Store) -> Corpus:
    columns = {
        name: [f"{TEXTS[(row + place) % 4]} {row}" for row in range(ROWS)]
        for place, name in enumerate(sentence_columns(KINDS[kind].schema.names))
    }
    return texts.corpus(store, texts.records(kind, **columns), kind=kind)


def made(
    kind: str, settings: Any, folder: Path, executor: Any = "local"
) -> tuple[Corpus, dict[str, pa.Table], dict[str, bytes]]:
    """The corpus, the table of every part, and the bytes of its shards."""
    load_memory.cache_clear()
    store = Store(folder)
    text, execution = corpus(kind, store), Execution(executor=executor)
    parts = pipeline.augment(text, [operator.parse(settings)], store, execution=execution).parts
    tables, shards = {}, {}
    for part in parts:
        tables[part.name] = texts.table_of(part)
        names = part.folder.manifest()["shards"]
        shards |= {f"{part.name}/{name}": part.folder.read(name) for name in names}
    return text, tables, shards


def settings_of(name: str) -> Any:
    return {**EVERY_TASK, **TRANSLATION}[name]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_ids_are_kept_and_blocks_do_not_matter(
    kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(name)
    text, tables, _ = made(kind, settings, tmp_path / "whole")
    monkeypatch.setattr(type(operator.parse(settings)), "BLOCK_ROWS", 2)
    assert made(kind, settings, tmp_path / "blocks")[1].items() == tables.items()
    ids, unchanged = text.column("id"), True
    for part, table in tables.items():
        if "lineage" not in table.column_names:
            assert table.column("id").to_pylist() == ids
            unchanged &= table.column(1).to_pylist() == text.column(KINDS[kind].inputs[0])
            continue
        rows = table.to_pylist()
        parents = [row for block in text.blocks() for row in block.to_pylist()]
        places = [ids.index(row["lineage"]["parents"][0]) for row in rows]
        assert table.schema.equals(KINDS[kind].schema)
        assert len({row["id"] for row in rows}) == len(rows) > 0 and places == sorted(places)
        kept = "target" if name.startswith(("eda", "noise")) else "source"
        kept = kept if kind == "parallel" else "label"
        assert [row[kept] for row in rows] == [parents[place][kept] for place in places]
        assert {row["origin"] for row in rows} == {part}
        changed = [column for column in sentence_columns(table.column_names) if column != kept]
        unchanged &= all(
            row[column] == parents[place][column]
            for row, place in zip(rows, places, strict=True)
            for column in changed
        )
    assert not unchanged


@pytest.mark.parametrize("name", [*EVERY_TASK, "shuffle", "random"])
def test_another_seed_makes_other_texts_and_more_copies_begin_with_the_same(
    name: str, tmp_path: Path
) -> None:
    parsed = operator.parse(settings_of(name))

    def made_with(**changes: Any) -> dict[str, str]:
        changed: Operator = parsed.model_copy(update=changes)
        _, tables, _ = made("parallel", changed, tmp_path / str(changes))
        column = "source" if parsed.makes() == "records" else "text"
        return {
            f"{part} {row['id']}": row[column]
            for part, table in tables.items()
            for row in table.to_pylist()
        }

    first = made_with()
    assert first.keys() == made_with(seed=2).keys() and first != made_with(seed=2)
    copies = getattr(parsed, "copies", None)
    if copies and parsed.makes() == "records":
        more = made_with(copies=copies + 1)
        assert more.items() >= first.items() and len(more) == len(first) + ROWS


@pytest.mark.parametrize("name", EVERY_TASK)
def test_equal_sentences_of_a_pair_change_apart_and_a_view_is_the_first_copy(
    name: str, tmp_path: Path
) -> None:
    store, parsed = Store(tmp_path), operator.parse(settings_of(name))
    text = texts.corpus(store, texts.records("nli", premise=TEXTS, hypothesis=TEXTS), kind="nli")
    records, views = (parsed.model_copy(update={"copies": 2, "use": use}) for use in FORMS)
    (made, view) = pipeline.augment(text, [records, views], store).parts
    rows = texts.rows_of(made)
    assert any(row["premise"] != row["hypothesis"] for row in rows)
    assert [row["premise"] for row in rows[::2]] != [row["premise"] for row in rows[1::2]]
    for side in ("premise", "hypothesis"):
        rendered = texts.table_of(view).column(side).to_pylist()
        assert rendered == [row[side] for row in rows[::2]]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), [case for case in CASES if case[0] != "labelled"])
def test_ray_and_this_process_write_the_same_bytes(
    kind: str, name: str, tmp_path: Path, local_ray: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # workers do not see smaller shards, whose size is that of row groups too
    monkeypatch.setattr(type(operator.parse(settings_of(name))), "BLOCK_ROWS", 4)
    written = [
        made(kind, settings_of(name), tmp_path / executor, executor)[2]
        for executor in ("local", "ray")
    ]
    assert written[0] == written[1] and len(written[0]) > 3
