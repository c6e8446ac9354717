"""The tables of Kambhatla, Born and Sarkar (2022): what they print, and what stands for their
rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sacrebleu import corpus_bleu

import search_spaces.papers
from augury.analysis.correlation import correlation, random_baseline
from augury.analysis.system import System, open_systems
from augury.core.config import merge
from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.spec import parse
from augury.sweeping import printed, published
from augury.sweeping.driver import run_experiment
from augury.sweeping.published import Published
from search_spaces.papers.cipherdaug.table10 import formula
from tests import tiny
from trainables.nmt import TASK
from trainables.nmt.architecture import ModelConfig, resolve


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
def test_every_corpus_of_table_3_has_its_printed_column(
    corpus: str | None, baseline: float, two_keys: float
) -> None:
    values = means(table("table3", corpus=corpus))
    assert (values["Transformer"], values["CipherDAug - 2 keys"]) == (baseline, two_keys)


def test_an_unknown_corpus_is_refused() -> None:
    with pytest.raises(UserError, match="iwslt17-fr-en"):
        table("table3", corpus="iwslt17-fr-de")
    with pytest.raises(UserError, match="single corpus"):
        table("table3", "toy", "iwslt17-fr-en")


@pytest.mark.parametrize(
    ("name", "corpus", "rows"),
    [
        ("table3", None, set()),
        ("table3", "iwslt17-fr-en", {"BPE-Dropout"}),
        ("table3", "iwslt17-en-fr", {"BPE-Dropout"}),
        ("table4", None, {"R-DROP"}),
        ("table12", None, {f"data-diverse, {data}" for data in ("base", "bwd.", "fwd.", "bidir.")}),
        ("table13", None, {"R-DROP"}),
    ],
)
def test_values_of_other_papers_are_not_those_of_this_one(
    name: str, corpus: str | None, rows: set[str]
) -> None:
    of_table = table(name, corpus=corpus)
    assert {row for row, of_row in of_table.printed.rows.items() if of_row.borrowed} == rows


@pytest.mark.parametrize(
    ("paper", "sizes", "stated"),
    [
        ("cipherdaug", 6, ("patience", "15 validation steps")),
        ("noisy_nmt", 11, ("fuzzy match, new pairs, En→Fr", "7290")),
        ("xnli_adversarial", 4, ("PGD steps K", "3")),
    ],
)
def test_table_1_and_numbers_in_the_text_are_written_down(
    paper: str, sizes: int, stated: tuple[str, str]
) -> None:
    file = Path(search_spaces.papers.__path__[0]) / paper / "published.tsv"
    assert len(printed.read(file, "table1", {}).rows) == sizes
    rows = printed.read(file, "in_text", {}).rows
    name, value = stated
    assert rows[name].cells["value"] == value and len(rows) >= 47


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
            changes = {
                key: value
                for key, value in paper_table.space.rows[row].items()
                if key != "vocabulary.size"
            }
            settings[scale].add(repr((paper_table.space.base, changes)))
    assert {scale: len(different) for scale, different in settings.items()} == {
        "toy": 1,
        "small": 1,
        "paper": 1,
    }


@pytest.mark.parametrize("scale", ["toy", "small"])
def test_deviations_state_the_settings_as_they_are(scale: str) -> None:
    """They are text in a file."""
    space = table("table3", scale).space
    shared, sizes, naive = (
        " ".join(table(name, scale).deviations) for name in ("table3", "table6", "table2")
    )
    longest = space.base["training"]["max_epochs"]
    last = space.rows["Data Diverse"]["training.max_epochs"]
    assert f"at most {longest} epochs; the last model of data diversification" in shared
    assert f"up to seven times as long, {last}" in shared
    rows = table("table6", scale).space.rows
    small, large = (rows[f"Transformer-512, {k}"]["vocabulary.size"] for k in ("12k", "20k"))
    assert f"12k and 20k for {small} and {large} entries" in sizes
    budget = table("table2", scale).space.rows["2 keys, eq. 1"]["training.max_epochs"]
    assert f"naive training: at most {budget} epochs" in naive


def test_naive_training_has_both_equations_and_up_to_20_keys() -> None:
    rows = table("table2").space.rows
    keys = {row: changes["augment"][0]["keys"] for row, changes in rows.items() if "eq." in row}
    assert keys["20 keys, eq. 1"] == list(range(1, 21)) and keys[
        "5 keys + RAML + Switchout, eq. 2"
    ] == [1, 2, 3, 4, 5]
    assert {changes["regime"]["equation"] for row, changes in rows.items() if "eq. 2" in row} == {2}


def test_validation_is_at_the_interval_of_the_released_script() -> None:
    """641,000 samples are four passes over 160,239 pairs, of about 210 updates each."""
    for name in ("table2", "table3", "table5"):
        space = table(name).space
        training = parse(merge(space.base, space.rows["Transformer"])).training
        assert training.validate_every == 4 * 210
        patience, averaged = (
            count * training.validate_every for count in (training.patience, training.average_last)
        )
        assert patience > training.warmup_updates and (patience, averaged) == (12_600, 4_200)


def test_without_dropout_nothing_is_drawn() -> None:
    space = table("table11").space
    for row, changes in space.rows.items():
        sizes = resolve(parse(merge(space.base, changes)).model)
        rate = float(row.rpartition(" ")[2])
        assert (sizes.dropout, sizes.attention_dropout) == (rate, 0.1 if rate else 0)


def test_naive_training_has_the_entries_of_table_1_with_any_number_of_keys() -> None:
    space = table("table2").space
    for row in (f"{keys} keys, eq. 1" for keys in (2, 5, 10, 20)):
        assert TASK.entries(parse(merge(space.base, space.rows[row])), Store(".")) == 20_000


@pytest.mark.parametrize(
    ("name", "corpus", "limits"),
    [
        ("table3", None, (175, 1.5)),
        ("table3", "iwslt17-fr-en", (None, None)),
        ("table5", None, (None, None)),
        ("table5", "ted-en-sk", (None, None)),
        ("table3", "wmt14-en-de", (250, 1.5)),
    ],
)
def test_corpora_with_raw_counts_are_not_filtered(
    name: str, corpus: str | None, limits: tuple[int | None, float | None]
) -> None:
    kept = parse(table(name, corpus=corpus).space.base).corpus.preparation
    assert (kept.max_length, kept.max_ratio) == limits


def test_the_scale_of_the_released_code_has_the_settings_of_its_script() -> None:
    """train_cipherdaug.sh and multi_preprocess.sh; fairseq's own ε of Adam."""
    of_table = table("table2", "released_code")
    assert of_table.comparable and of_table.deviations
    for row, keys in (("CipherDAug - 2 keys", 2), ("20 keys, eq. 2", 20), ("Transformer", 0)):
        experiment = parse(merge(of_table.space.base, of_table.space.rows[row]))
        training = experiment.training
        assert (training.max_tokens, training.accumulation, training.workers) == (5000, 4, 1)
        assert (training.warmup_updates, training.patience, training.clip_norm) == (6000, 25, 0.1)
        assert (training.weight_decay, training.adam_eps) == (1e-4, 1e-8)
        assert experiment.model.embeddings.size == 256
        assert TASK.entries(experiment, Store(".")) == 16_000 + keys
        assert experiment.prefix() == ["__en__"] * bool(keys)
    regime = parse(merge(of_table.space.base, of_table.space.rows["CipherDAug - 2 keys"])).regime
    assert (regime.beta, regime.warmup_steps, regime.warmup_views) == (5, 500, "cipher")


def test_sizes_of_embeddings_and_vocabularies_are_not_those_of_the_released_code() -> None:
    for name in ("table5", "table6", "table7", "table9", "table10"):
        with pytest.raises(UserError, match="released_code"):
            table(name, "released_code")


def test_table_2_measures_what_it_prints_the_development_set() -> None:
    paper_table = table("table2")
    experiment = parse(merge(paper_table.space.base, paper_table.space.rows["+ RAML"]))
    assert experiment.test_sets == ["dev"] and experiment.corpus.tests["dev"].validation
    assert (
        means(paper_table)["+ RAML"] == 35.11 and means(table("table3"))["RAML"] == 35.99
    )  # dev and test differ


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> list[System]:
    """Tiny runs of the baseline, of CipherDAug with two keys and of ALONE embeddings, and their
    test sentences."""
    cipher = {
        "augment": [{"operator": "cipher", "keys": [1, 2]}],
        "regime": {"name": "coregularised", "warmup_epochs": 1},
    }
    alone = {"model": {**tiny.OF_TASK["nmt"]["model"], "embeddings": ALONE}}
    experiment = tiny.experiment(
        "nmt",
        tmp_path_factory.mktemp("systems"),
        corpus={**tiny.PARALLEL, "tests": {"test": {"builtin": 40}}},
        systems={"baseline": {}, "two keys": cipher, "alone": alone},
    )
    runs, failures, _ = run_experiment(experiment)
    assert not failures
    return open_systems([folder for seeds in runs.values() for folder in seeds.values()])


ALONE = {"name": "alone", "intermediate_size": 24, "codebooks": 4, "codes": 8}


@pytest.fixture(scope="module")
def two_keys(systems: list[System]) -> System:
    return systems[1]


def measure(name: str, *systems: Any) -> Mapping[str, float]:
    """The quantities of a table, of a system or of the reference and a system."""
    of_table = table(name, "toy")
    measured = of_table.measure if len(systems) == 1 else of_table.measure_with_reference
    assert measured is not None
    return measured(*systems)


@pytest.mark.trains
@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("table1", ["src", "tgt", "s∪t", "1(src)", "2(src)", "total"]),
        ("table8", ["Hallucinations"]),
        ("figure3", ["plain", "rot-1", "rot-2"]),
        ("figure6", ["plain", "rot-1", "rot-2"]),
        ("figure7", ["plain", "rot-1", "rot-2"]),
        ("figure8", ["plain", "rot-1", "rot-2"]),
        ("table10", ["parameters and filters", "trained", "formula"]),
    ],
)
def test_tables_that_are_measured_on_runs_have_their_columns(
    name: str, columns: list[str], two_keys: System
) -> None:
    assert list(measure(name, two_keys)) == columns


@pytest.mark.trains
def test_the_subwords_of_the_texts_are_those_of_the_vocabulary(two_keys: System) -> None:
    values = measure("table1", two_keys)
    assert max(values["src"], values["tgt"]) <= values["s∪t"] <= values["src"] + values["tgt"]
    assert 0 < values["1(src)"] < values["total"] == len(two_keys.pieces)


@pytest.mark.parametrize(
    ("corpus", "gpus", "tokens"),
    [
        (None, 2, 5000 * 4),  # as the released script reads on one GPU
        ("iwslt17-en-fr", 2, 5000 * 4),
        ("wmt14-en-de", 8, 8 * 4096),
    ],
)
def test_an_update_reads_as_many_tokens_on_the_gpus_that_the_paper_states(
    corpus: str | None, gpus: int, tokens: int
) -> None:
    space = table("table3", corpus=corpus).space
    for row in space.rows.values():
        training = parse(merge(space.base, row)).training
        assert training.workers == gpus
        assert training.workers * training.accumulation * training.max_tokens == tokens


def test_figure_5_has_every_pair_of_layers_of_views_and_of_the_baseline(
    systems: list[System],
) -> None:
    baseline, two_keys, _ = systems
    values = measure("figure5", baseline, two_keys)
    states = {
        "baseline plain": baseline.states(),
        **{view: two_keys.states(view) for view in two_keys.views},
    }
    pairs = [("baseline plain", view) for view in two_keys.views] + [
        ("plain", view) for view in two_keys.views
    ]
    expected = {
        f"{first} (rows) by {second} (columns) | layer {row} | layer {column}": correlation(
            states[first][row], states[second][column]
        )
        for first, second in pairs
        for row in range(3)
        for column in range(3)
    }
    noise = random_baseline(40, 16, 16)
    assert values == pytest.approx(
        {"truncated mean of noise": noise.truncated_mean, "PWCCA of noise": noise.pwcca}
        | {name: value.pwcca for name, value in expected.items()}
    )
    alone = measure("figure5", baseline)
    assert (
        alone["plain (rows) by plain (columns) | layer 1 | layer 1"] == pytest.approx(1)
        and len(alone) == 2 + 9
    )


def test_figure_6_scores_the_outputs_of_every_view(two_keys: System) -> None:
    values = measure("figure6", two_keys)
    for view in two_keys.views:
        assert values[view] == pytest.approx(
            corpus_bleu(two_keys.outputs(view), [two_keys.references]).score
        )


def test_figures_6_to_8_print_what_the_paper_prints() -> None:
    assert table("figure6").values("Transformer") == {"plain": 34.71}
    printed = {
        name: tuple(table(name).values("CipherDAug-2 keys").values())
        for name in ("figure6", "figure7", "figure8")
    }
    assert printed == {
        "figure6": (37.53, 37.41, 37.35),
        "figure7": (2, 26, 15),
        "figure8": (7, 14, 14),
    }


def test_figures_7_and_8_take_the_sentences_with_the_rarest_subwords(two_keys: System) -> None:
    """Counted anew, from the training text."""
    source = two_keys.run.corpus("train").column("source")
    counts = {
        view: Counter(piece for ids in two_keys.encode(source, view) for piece in ids)
        for view in two_keys.views
    }

    def least(text: str, view: str) -> int:
        (ids,) = two_keys.encode([text], view)
        return min(counts[view][piece] for piece in ids)

    ordered = sorted(
        two_keys.sources, key=lambda text: (least(text, "plain") == 0, least(text, "plain"))
    )
    for name, text in zip(("figure7", "figure8"), ordered, strict=False):
        assert measure(name, two_keys) == {view: least(text, view) for view in two_keys.views}


def german(sentence: str, pieces: dict[str, list[tuple[str, int]]]) -> Any:
    """A system of German whose pieces of one sentence, by view, have these counts."""
    names = [piece for of_view in pieces.values() for piece, _ in of_view]
    ids = {view: [names.index(piece) for piece, _ in of_view] for view, of_view in pieces.items()}

    def encode(texts: list[str], view: str) -> list[list[int]]:
        assert texts == [sentence]
        return [ids[view]]

    def counts(view: str) -> Any:
        counted = np.zeros(len(names), int)
        counted[ids[view]] = [count for _, count in pieces[view]]
        return counted

    corpus = SimpleNamespace(source_language="de")
    run = SimpleNamespace(experiment=SimpleNamespace(corpus=corpus))
    return SimpleNamespace(run=run, views=tuple(pieces), pieces=names, encode=encode, counts=counts)


def test_figures_7_and_8_are_of_the_printed_sentences_in_german() -> None:
    hey = {
        "plain": [("▁hey", 2), (",", 900), ("▁warum", 300)],
        "rot-1": [("▁if", 26), ("z", 800)],
        "rot-2": [("▁jg", 15), ("ß", 40)],
    }
    assert measure("figure7", german("hey, warum nicht?", hey)) == table("figure7").values(
        "CipherDAug-2 keys"
    )
    ball = {
        "plain": [("▁wir", 5000), ("▁baseball", 7)],
        "rot-1": [("▁cbtf", 20), ("cbmm", 14)],
        "rot-2": [("▁dcug", 30), ("dcnn", 14)],
    }
    assert measure("figure8", german("wir alle lieben baseball, oder?", ball)) == {
        "plain": 7,
        "rot-1": 14,
        "rot-2": 14,
    }


def test_figure_4b_scores_the_sentences_of_a_length() -> None:
    references = ["a b c d e"] * 30 + ["f g h i j k l m n o p q"] * 25
    outputs = ["a b c d x"] * 30 + ["f g h i j x l m n o p"] * 25
    system: Any = SimpleNamespace(
        name="one",
        language="en",
        references=references,
        outputs=lambda: outputs,
        run=SimpleNamespace(corpus=empty),
    )
    expected = {
        "0–9": corpus_bleu(outputs[:30], [references[:30]]).score,
        "10–19": corpus_bleu(outputs[30:], [references[30:]]).score,
    }
    assert measure("figure4b", system) == pytest.approx(expected)


def empty(role: str) -> Any:
    return SimpleNamespace(blocks=lambda columns: [])


def test_table_10_counts_what_its_formulas_say(systems: list[System]) -> None:
    baseline, _, alone = systems
    entries = len(baseline.pieces)
    assert measure("table10", baseline) == {
        "parameters and filters": 16 * entries,
        "trained": 16 * entries,
        "formula": 16 * entries,
    }
    network = 16 + 24 * (16 + 16)  # D_O + D_inter (D_O + D_emb)
    assert measure("table10", alone) == {
        "parameters and filters": network + 4 * 8 * 16,
        "trained": network,
        "formula": network + 4 * 8 * 16,
    }


def test_the_formulas_of_table_10_at_the_scale_of_the_paper() -> None:
    """12,000 entries of 512: the 6.1M of Tables 6 and 9; ALONE, by hand, 4.46M with filters and
    4.19M without."""
    model = ModelConfig.model_validate({"architecture": "transformer_iwslt_de_en"})
    assert formula(model, 12_000) == 6_144_000
    changes = table("table10").space.rows["Transformer + ALONE, O trained"]
    alone = ModelConfig.model_validate({"embeddings": changes["model.embeddings"]})
    assert formula(alone, 12_000) == formula(alone, 20_000) == 4_456_960
