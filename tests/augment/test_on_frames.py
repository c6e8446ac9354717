"""Operators on rows of a user's own, in one process and on a dataset of Ray."""

from __future__ import annotations

import unicodedata
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import augury
from augury.core.errors import UserError

TRAIN = pd.DataFrame({"source": ["ein Haus", "das Boot"], "target": ["a house", "the boat"]})
TEXT = pd.DataFrame(
    {
        "source": ["das Haus ist alt und grau", "ein Boot", "ein Boot", "so ein schöner Tag"],
        "target": ["the house is old and grey", "a boat", "a ship", "such a fine day"],
        "page": [7, 8, 9, 9],
    }
)
SETTINGS: dict[str, dict[str, Any]] = {
    "cipher": {"keys": [1, 2]},
    "eda": {"copies": 2, "language": "en"},
}


def rows(table: pa.Table | pd.DataFrame) -> list[tuple[Any, ...]]:
    frame = table.to_pandas() if isinstance(table, pa.Table) else table
    return sorted(map(tuple, frame.itertuples(index=False)))


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("ids", [None, ["a", "b", "c", "d"]])
def test_a_dataset_of_ray_gets_the_rows_of_one_process(
    local_ray: Any, name: str, ids: list[str] | None
) -> None:
    frame = TEXT if ids is None else TEXT.assign(id=ids)
    operator = augury.operator(name, **SETTINGS[name]).fit(TRAIN)
    whole = operator.batch(pa.Table.from_pandas(frame, preserve_index=False))
    dataset = local_ray.data.from_pandas(frame).repartition(2)
    made = dataset.map_batches(operator.batch, batch_format="pyarrow", batch_size=2)
    assert rows(made.to_pandas()) == rows(whole)
    assert len(whole) == 2 * len(TEXT) and set(whole.column("page").to_pylist()) == {7, 8, 9}


def test_rows_of_one_id_stay_apart() -> None:
    texts = {"source": ["one", "two", "three"], "target": ["eins", "zwei", "drei"]}
    rows = pa.table({"id": ["d", "d", "d-2"], **texts})
    made = augury.operator("control", kind="duplicate").batch(rows)
    assert made.select([*texts]).to_pydict() == texts


def test_a_batch_without_texts_is_refused() -> None:
    with pytest.raises(UserError, match="no column of texts among sentence: call it text"):
        augury.operator("eda", language="en").batch(pa.table({"sentence": ["a b c"]}))


def test_numbers_are_no_texts() -> None:
    with pytest.raises(UserError, match="column 'text' has values that are no texts"):
        augury.apply(pd.DataFrame({"text": ["a b c", 2]}), "eda", language="en")


def test_labels_of_any_type_stay() -> None:
    frame = pd.DataFrame({"text": ["a good film", "a bad film"], "label": [1, 0], "views": [7, 8]})
    copies = augury.apply(frame, "eda", language="en", copies=1)
    assert copies["label"].tolist() == [1, 0] and copies["views"].tolist() == [7, 8]


def test_syllables_are_composed_as_in_corpora() -> None:
    frame = pd.DataFrame({"source": [unicodedata.normalize("NFD", "한국어 영화")], "target": ["x"]})
    cipher = augury.operator("cipher", keys=[1]).fit(
        pd.concat([frame.astype("string[pyarrow]")] * 2)
    )
    assert len(cipher.rows(frame)["source"][0]) == len("한국어 영화")


def test_letters_are_those_of_the_split_that_it_was_fitted_on() -> None:
    cipher = augury.operator("cipher", keys=[1]).fit(TRAIN)
    made = cipher.batch(pa.table({"source": ["Haus ßt"], "target": ["x"], "id": ["n7"]}))
    letters = sorted({*"".join(TRAIN["source"])} - {" "})
    following = dict(zip(letters, [*letters[1:], letters[0]], strict=True))
    expected = "".join(following.get(letter, letter) for letter in "Haus ßt")
    assert made.column("source").to_pylist() == [expected]
    assert made.column("parent").to_pylist() == ["n7"]
