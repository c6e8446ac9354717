"""The tables of Kambhatla, Born and Sarkar (2022): what they print, and what stands for their
rows."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sacrebleu import corpus_bleu

from augury.analysis.correlation import correlation, random_baseline
from augury.analysis.system import System, open_systems
from augury.core.config import merge
from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.spec import parse
from augury.reporting.papers.table import Published, find, label, read_blocks
from augury.reporting.results import SystemResult, load_groups
from augury.sweeping.driver import run_experiment
from search_spaces.papers import cipherdaug
from search_spaces.papers.cipherdaug import formula
from tests import tiny
from trainables.nmt.config import ModelSettings
from trainables.nmt.translators import FromNothing

PAPER = Path(cipherdaug.__file__).with_suffix(".tsv")
PRINTED = ("hey, warum nicht?", "wir alle lieben baseball, oder?")


def table(name: str, scale: str = "paper", corpus: str | None = None) -> Published:
    return find(f"cipherdaug/{name}", f"{scale}/{corpus}" if corpus else scale)


def resolved(of_table: Published, row: str) -> Any:
    return parse(merge(of_table.space.base, of_table.space.rows[row]))


def test_an_unknown_corpus_is_refused_and_the_one_of_a_row_can_be_run() -> None:
    with pytest.raises(UserError, match="iwslt17-fr-en"):
        table("table3", corpus="iwslt17-fr-de")
    of_corpus = table("table1", corpus="ted-en-sk")
    assert "TED En→Sk" in of_corpus.space.rows and "TED En→Sk" not in of_corpus.reasons


def test_systems_that_tables_share_are_the_same_runs() -> None:
    rows = {
        "table3": "CipherDAug - 2 keys",
        "table4": "CipherDAug-2 keys",
        "table6": "CipherDAug-2keys, 512",
        "table7": "joint",
        "table9": "CipherDAug",
        "table13": "CipherDAug-2 keys",
    }
    for scale in ("toy", "small", "paper"):
        shared = {resolved(table(name, scale), row).model_dump_json() for name, row in rows.items()}
        assert len(shared) == 1


def test_naive_training_has_both_equations_up_to_20_keys_and_the_entries_of_table_1() -> None:
    of_table = table("table2")
    for keys, equation in itertools.product((2, 5, 10, 20), (1, 2)):
        experiment = resolved(of_table, f"{keys} keys, eq. {equation}")
        assert experiment.augment[0].keys == tuple(range(1, keys + 1))
        assert experiment.regime.equation == equation
        assert FromNothing(experiment).entries(Store(".")) == 20_000
    assert resolved(of_table, "+ RAML").corpus.tests["dev"].validation


@pytest.mark.parametrize(
    ("name", "corpus", "limits", "gpus", "tokens"),
    [
        ("table2", None, (175, 1.5), 2, 5000 * 4),  # as the released script reads on one GPU
        ("table3", "iwslt17-en-fr", (None, None), 2, 5000 * 4),  # raw counts: not filtered
        ("table3", "wmt14-en-de", (250, 1.5), 8, 8 * 4096),
        ("table5", None, (None, None), 2, 5000 * 4),
    ],
)
def test_filters_batches_and_validations_are_those_of_the_paper(
    name: str, corpus: str | None, limits: tuple[int | None, float | None], gpus: int, tokens: int
) -> None:
    """A validation is after 641,000 samples of the released script, four passes over 160,239 pairs
    of about 210 updates each."""
    of_table = table(name, corpus=corpus)
    kept = parse(of_table.space.base).corpus.preparation
    assert (kept.max_length, kept.max_ratio) == limits
    for row in of_table.space.rows:
        training = resolved(of_table, row).training
        assert training.workers == gpus
        assert training.workers * training.accumulation * training.max_tokens == tokens
        if corpus is None:
            assert training.validate_every == 4 * 210
            assert training.patience * training.validate_every == 12_600 > training.warmup_updates
            assert training.average_last * training.validate_every == 4_200


def printed_sizes() -> list[tuple[str, str, str]]:
    """Table, row and column of every size that the paper prints of a row that is run."""
    columns = {"table4": ["Θ"], "table6": ["Emb Θ", "Train Θ"], "table9": ["Emb Θ", "Train Θ"]}
    return [
        (name, row, column)
        for name, of_table in columns.items()
        for row in table(name).space.rows
        for column in of_table
    ]


def model_of(of_table: Published, row: str) -> tuple[Any, int]:
    config = resolved(of_table, row)
    return config.transformer, FromNothing(config).entries(Store("."))


@pytest.mark.parametrize(("name", "row", "column"), printed_sizes())
def test_a_printed_size_is_that_of_the_configuration_or_declared(
    name: str, row: str, column: str
) -> None:
    """Rounded or cut at its last digit; those of Table 4 are multiples of the baseline's."""
    of_table, (model, count) = table(name), model_of(table(name), row)
    blocks = read_blocks(PAPER)
    lines = {label(line): line for line in blocks[name]}
    text = lines[row][column]
    computed = float(tiny.parameters_of(model, count))
    if column == "Emb Θ":
        of_piece, shared = model.embeddings.counts(model.sizes.hidden_size)
        computed = of_piece * count or shared
    elif text.endswith("x"):
        computed /= tiny.parameters_of(*model_of(of_table, str(of_table.space.reference)))
    digits = text.rstrip("Mx")
    unit = (1e6 if text.endswith("M") else 1) / 10 ** len(digits.partition(".")[2])
    last = round(float(digits) * 10 ** len(digits.partition(".")[2]))
    agrees = last in (math.floor(computed / unit), round(computed / unit))
    note = (name, lines[row]["row"], column, "contradiction")
    keys = ("table", "row", "column", "kind")
    declared = [line for line in blocks["notes"] if tuple(line[key] for key in keys) == note]
    assert agrees != bool(declared)


def test_sizes_of_wmt14_and_of_the_formulas_of_table_10() -> None:
    """One matrix for source, target and output: with one key the 68M of Section 3.3. 12,000 entries
    of 512 are the 6.1M of Tables 6 and 9; ALONE, by hand, 4.46M with filters."""
    of_table = table("table3", corpus="wmt14-en-de")
    for row, count in (("Transformer", 36_000), ("CipherDAug - 1 key", 48_000)):
        model, found = model_of(of_table, row)
        assert (found, tiny.parameters_of(model, found)) == (count, 44_138_496 + count * 512)
    model = ModelSettings.model_validate({"architecture": "transformer_iwslt_de_en"})
    assert formula(model, 12_000) == 6_144_000
    changes = table("table10").space.rows["Transformer + ALONE, O trained"]
    alone = ModelSettings.model_validate({"embeddings": changes["model.embeddings"]})
    assert formula(alone, 12_000) == formula(alone, 20_000) == 4_456_960


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SystemResult]:
    """Tiny runs of the baseline, of CipherDAug with two keys and of ALONE embeddings, on sentences
    of the words of Figures 7 and 8."""
    directory, draw = tmp_path_factory.mktemp("systems"), random.Random(1)
    words = " ".join(PRINTED).split()
    corpus: dict[str, Any] = {"source_language": "de", "target_language": "en"}
    for name, count in (("train", 60), ("valid", 12), ("test", 40)):
        lines = [" ".join(draw.sample(words, draw.randint(3, 7))) for _ in range(count)]
        files = {"source": directory / f"{name}.de", "target": directory / f"{name}.en"}
        for file in files.values():
            file.write_text("\n".join(lines))
        corpus[name] = {side: str(file) for side, file in files.items()}
    cipher = {
        "augment": [{"operator": "cipher", "keys": [1, 2]}],
        "regime": {"name": "coregularised", "warmup_epochs": 1},
    }
    alone = {"model": {**tiny.OF_TASK["nmt"]["model"], "embeddings": ALONE}}
    experiment = tiny.experiment(
        "nmt",
        directory,
        corpus={"tests": {"test": corpus.pop("test")}, **corpus},
        vocabulary={"size": 60},
        systems={"baseline": {}, "two keys": cipher, "alone": alone},
    )
    runs, failures, *_ = run_experiment(experiment)
    assert not failures
    return {system.name: system for system in load_groups([*runs.values()], [*runs])}


@pytest.fixture(scope="module")
def systems(results: dict[str, SystemResult]) -> list[System]:
    """Their test sentences."""
    return open_systems([run for result in results.values() for run in result.runs.values()])


ALONE = {"name": "alone", "intermediate_size": 24}


def measure(name: str, *systems: Any) -> Mapping[str, float]:
    """The quantities of a table, of a system or of the reference and a system."""
    of_table = table(name, "toy")
    measured = of_table.declared.measure
    assert measured is not None
    return measured(*systems)


@pytest.mark.trains
def test_vocabularies_and_parameters_of_runs(
    results: dict[str, SystemResult], systems: list[System]
) -> None:
    _, two_keys, alone = systems
    cost = results["alone"].cost
    sizes = measure("table6", alone)
    assert cost and sizes["Train Θ"] == cost.parameters
    assert sizes["|vocab|"] == len(alone.pieces)
    values = measure("table1", two_keys)
    assert list(values) == list(table("table1").declared.columns)
    assert max(values["src"], values["tgt"]) <= values["s∪t"] <= values["src"] + values["tgt"]
    assert values["total"] == len(two_keys.pieces)
    seen = [(two_keys.counts(f"rot-{key}") > 0).sum() for key in (1, 2)]
    assert [values["1(src)"], values["2(src)"]] == seen
    assert list(measure("table8", two_keys)) == ["Hallucinations"]
    assert list(measure("figure3", two_keys)) == ["plain", "rot-1", "rot-2"]


@pytest.mark.trains
def test_figure_5_has_every_pair_of_layers_of_views_and_of_the_baseline(
    systems: list[System],
) -> None:
    baseline, two_keys, _ = systems
    measured = measure("figure5", baseline, two_keys)
    noise = random_baseline(40, 16, 16)
    assert measured["truncated mean of noise"] == pytest.approx(noise.truncated_mean)
    assert measured["PWCCA of noise"] == pytest.approx(noise.pwcca)
    for name, states in (("plain", two_keys.states()), ("baseline plain", baseline.states())):
        for (row, first), (column, second) in itertools.product(
            enumerate(states), enumerate(two_keys.states("rot-2"))
        ):
            cell = f"{name} (rows) by rot-2 (columns) | layer {row} | layer {column}"
            assert measured[cell] == pytest.approx(correlation(first, second).pwcca)
    assert len(measured) == 2 + 2 * 3 * 9 and len(measure("figure5", baseline)) == 2 + 9


@pytest.mark.trains
def test_figures_4b_and_6_score_sentences_of_a_length_and_outputs_of_a_view(
    systems: list[System], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model of a few updates has no score: outputs are references without their first words."""
    two_keys, references = systems[1], systems[1].references
    lost = {"plain": 1, "rot-1": 2, "rot-2": 3}
    outputs = {}
    for view, n in lost.items():
        outputs[view] = [" ".join(reference.split()[n:]) for reference in references]
    monkeypatch.setattr(two_keys, "outputs", lambda view="plain": outputs[view])
    by_view = {view: corpus_bleu(lines, [references]).score for view, lines in outputs.items()}
    assert measure("figure6", two_keys) == pytest.approx(by_view)
    lengths = [len(re.findall(r"\w+|[?,]", reference)) for reference in references]
    short = [place for place, length in enumerate(lengths) if length < 10]
    of_short = [[side[place] for place in short] for side in (outputs["plain"], references)]
    measured = measure("figure4b", two_keys)
    assert measured["0–9"] == pytest.approx(corpus_bleu(of_short[0], [of_short[1]]).score)
    assert list(measured) == ["0–9", "10–19"]


@pytest.mark.trains
def test_figures_7_and_8_take_the_printed_sentences_or_those_with_the_rarest_subwords(
    systems: list[System], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted anew, from the training text; those with the rarest are of other languages."""
    two_keys = systems[1]
    source = two_keys.run.corpus("train").column("source")

    def least(text: str, view: str) -> int:
        counts = Counter(piece for ids in two_keys.encode(source, view) for piece in ids)
        return min(counts[piece] for piece in two_keys.encode([text], view)[0])

    for name, text in zip(("figure7", "figure8"), PRINTED, strict=True):
        assert measure(name, two_keys) == {view: least(text, view) for view in two_keys.views}
    monkeypatch.setattr("augury.corpora.languages.base_language", lambda language: "fr")
    plain = [least(text, "plain") for text in two_keys.sources]
    rarest = sorted(plain, key=lambda count: (count == 0, count))[:2]
    found = [measure(name, two_keys)["plain"] for name in ("figure7", "figure8")]
    assert found == rarest


@pytest.mark.trains
def test_table_10_counts_what_its_formulas_say(systems: list[System]) -> None:
    baseline, _, alone = systems
    names, count = ("parameters and filters", "trained", "formula"), 16 * len(baseline.pieces)
    assert measure("table10", baseline) == dict.fromkeys(names, count)
    network = 16 + 24 * (16 + 16)  # D_O + D_inter (D_O + D_emb)
    filters = 8 * 64 * 16
    counts = (network + filters, network, network + filters)
    assert measure("table10", alone) == dict(zip(names, counts, strict=True))
