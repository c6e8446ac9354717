"""The tables of Kambhatla, Born and Sarkar (2022): what they print, and what stands for their rows."""

from __future__ import annotations

from collections import defaultdict

import pytest

from augury.analysis.system import System, open_systems
from augury.core.errors import UserError
from augury.experiments.running import run_experiment
from augury.sweeping import published
from augury.sweeping.published import Published
from tests import tiny


def table(name: str, scale: str = "paper", corpus: str | None = None) -> Published:
    return published.find(f"cipherdaug/{name}", scale, corpus)


def means(table: Published) -> dict[str, float]:
    return {row: values["mean"] for row in table.printed.rows if (values := table.values(row))}


@pytest.mark.parametrize(
    ("name", "count", "best"),
    [
        ("table2", 18, ("CipherDAug - 2 keys", 37.60)),
        ("table3", 11, ("CipherDAug - 2 keys", 37.53)),
        ("table4", 8, ("CipherDAug-2 keys", 37.53)),
        ("table5", 10, ("CipherDAug - 2 keys", 32.62)),
        ("table6", 8, ("CipherDAug-2keys, 512", 37.53)),
        ("table7", 2, ("sep", 37.65)),
        ("table9", 6, ("CipherDAug", 37.53)),
        ("table11", 8, ("CipherDAug, dropout 0.3", 37.53)),
        ("table12", 8, ("CipherDAug+, bidir.", 37.95)),
        ("table13", 14, ("CipherDAug-2 keys", 37.53)),
    ],
)
def test_what_is_printed(name: str, count: int, best: tuple[str, float]) -> None:
    values = means(table(name))
    assert len(values) == count and max(values.items(), key=lambda item: item[1]) == best


@pytest.mark.parametrize(
    ("corpus", "baseline", "two_keys"),
    [
        (None, 34.64, 37.53),
        ("iwslt14-en-de", 28.57, 30.65),
        ("iwslt17-fr-en", 38.18, 40.35),
        ("iwslt17-en-fr", 39.37, 41.44),
        ("wmt14-en-de", 27.3, 27.9),
    ],
)
def test_every_corpus_of_table_3_has_its_printed_column(corpus: str | None, baseline: float, two_keys: float) -> None:
    values = means(table("table3", corpus=corpus))
    assert (values["Transformer"], values["CipherDAug - 2 keys"]) == (baseline, two_keys)


def test_an_unknown_corpus_is_refused() -> None:
    with pytest.raises(UserError, match="iwslt17-fr-en"):
        table("table3", corpus="iwslt17-fr-de")
    with pytest.raises(UserError, match="single corpus"):
        table("table3", "toy", "iwslt17-fr-en")


def test_systems_that_tables_share_are_the_same_runs() -> None:
    settings: dict[str, set[str]] = defaultdict(set)
    for name, row in [
        ("table3", "CipherDAug - 2 keys"),
        ("table4", "CipherDAug-2 keys"),
        ("table6", "CipherDAug-2keys, 512"),
        ("table7", "joint"),
        ("table9", "CipherDAug"),
        ("table13", "CipherDAug-2 keys"),
    ]:
        for scale in ("toy", "small", "paper"):
            paper_table = table(name, scale)
            changes = {key: value for key, value in paper_table.space.rows[row].items() if key != "vocabulary.size"}
            settings[scale].add(repr((paper_table.space.base, changes)))
    assert {scale: len(different) for scale, different in settings.items()} == {"toy": 1, "small": 1, "paper": 1}


def test_naive_training_has_both_equations_and_up_to_20_keys() -> None:
    rows = table("table2").space.rows
    keys = {row: changes["augment"][0]["keys"] for row, changes in rows.items() if "eq." in row}
    assert keys["20 keys, eq. 1"] == list(range(1, 21)) and keys["5 keys + RAML + Switchout, eq. 2"] == [1, 2, 3, 4, 5]
    assert {changes["regime"]["equation"] for row, changes in rows.items() if "eq. 2" in row} == {2}


@pytest.fixture(scope="module")
def two_keys(tmp_path_factory: pytest.TempPathFactory) -> System:
    """A tiny run of CipherDAug with two keys, and its test sentences."""
    experiment = tiny.experiment(
        "nmt",
        tmp_path_factory.mktemp("two_keys"),
        corpus={**tiny.PARALLEL, "tests": {"test": {"builtin": 40}}},
        augment=[{"operator": "cipher", "keys": [1, 2]}],
        regime={"name": "coregularised", "warmup_passes": 1},
    )
    runs, failures = run_experiment(experiment)
    assert not failures
    (system,) = open_systems([folder for seeds in runs.values() for folder in seeds.values()])
    return system


@pytest.mark.trains
@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("table1", ["src", "tgt", "s∪t", "1(src)", "2(src)", "total"]),
        ("table8", ["Hallucinations"]),
        ("figure3", ["plain", "rot-1", "rot-2"]),
        ("figure5", [f"rot-{key}, layer {layer}" for key in (1, 2) for layer in (0, 1, 2)] + ["random numbers"]),
    ],
)
def test_tables_that_are_measured_on_runs_have_their_columns(name: str, columns: list[str], two_keys: System) -> None:
    measure = table(name, "toy").measure
    assert measure is not None and list(measure(two_keys)) == columns


@pytest.mark.trains
def test_the_subwords_of_the_texts_are_those_of_the_vocabulary(two_keys: System) -> None:
    measure = table("table1", "toy").measure
    assert measure is not None
    values = measure(two_keys)
    assert max(values["src"], values["tgt"]) <= values["s∪t"] <= values["src"] + values["tgt"]
    assert 0 < values["1(src)"] < values["total"] == len(two_keys.pieces)
