"""`augury init`: the files it writes pass the preflight, for all kinds of texts."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from pyarrow import parquet

from augury.corpora import builtin
from tests.cli.conftest import Augury

ROOT = Path(__file__).parents[2]


def lines(file: str, texts: Iterable[str]) -> None:
    Path(file).write_text("".join(f"{text}\n" for text in texts))


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Small texts of every kind in the working directory."""
    monkeypatch.chdir(tmp_path)
    for role, size in (("train", 120), ("valid", 20), ("test", 20)):
        split: Any = role
        pairs = list(islice(builtin.pairs(split, lexicon=400), size))
        lines(f"{role}.de", [german for german, _ in pairs])
        lines(f"{role}.en", [english for _, english in pairs])
        lines(f"{role}.tsv", ["de\ten", *map("\t".join, pairs)])
        Path("folder").mkdir(exist_ok=True)
        examples = list(islice(builtin.inferences(split, "qaa", lexicon=24), size))
        names = ("sentence1", "sentence2", "gold_label")
        rows = [dict(zip(names, example, strict=True)) for example in examples]
        lines(f"{role}.jsonl", map(json.dumps, rows))
        labelled = [f"{premise}\t{label}" for premise, _, label in examples]
        lines(f"{role}-labelled.tsv", ["text\tmood", *labelled])
    return tmp_path


ALIGNED = ["--source", "train.de", "--target", "train.en", "--valid", "valid.de", "valid.en"]
SENTIMENT = ["--task", str(ROOT / "docs" / "examples" / "sentiment.py")]
SENTIMENT += ["--train", "train-labelled.tsv", "--valid", "valid-labelled.tsv"]
NEWS = ["--test", "news", "test.de", "test.en"]
LABELLED = ["--language", "qaa"]
NLI = ["--task", "nli", "--train", "train.jsonl", "--valid", "valid.jsonl"]


def content(section: str = "") -> Any:
    """Return the experiment that is written, or one of its sections."""
    written = yaml.safe_load(Path("mine.yaml").read_text())
    return written[section] if section else written


@pytest.mark.parametrize(
    ("flags", "tests"),
    [
        (
            [*ALIGNED, *NEWS, "--test", "more", "test.tsv", "--columns", "de", "en"],
            ["news", "more"],
        ),
        (["--train", "train.tsv"], ["test"]),
        ([*NLI, "--language", "qaa", "--test", "jsonl", "test.jsonl"], ["jsonl"]),
        ([*SENTIMENT, "--columns", "text", "mood", "--language", "qaa"], ["test"]),
        # The name of a test set may be that of a directory, such as the one of its files.
        ([*LABELLED, "--train", "train.jsonl", "--test", "folder", "test.jsonl"], ["folder"]),
    ],
)
def test_written_files_pass_the_preflight(
    texts: Path, flags: list[str], tests: list[str], monkeypatch: pytest.MonkeyPatch, augury: Augury
) -> None:
    """Without the hub there is a warning about the pretrained model of a classifier, and the next
    command is one that needs none."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    result = augury("init", "mine.yaml", *flags, "--json").json
    baseline, system = result["systems"]
    assert (result["file"], baseline, result["runs"]) == ("mine.yaml", "baseline", 6)
    assert system in ("CipherDAug", "EDA") and result["test_sets"] == tests
    warnings = [warning for warning in result["warnings"] if "in the training set" not in warning]
    pretrained = "train.de" not in flags and "train.tsv" not in flags
    assert len(warnings) == pretrained
    words = shlex.split(result["next" if pretrained else "sweep"])
    if pretrained:
        assert words[-3:] == ["--model", "tiny", "--force"]
        assert shlex.split(augury(*words[1:], "--json").json["next"])[-1] == "mine.yaml"
    else:
        assert words[1:-1] == ["sweep", "augmentations", "mine.yaml", "--budget"]
    augury("config", "mine.yaml")


def test_rows_of_a_single_table_are_held_out_and_its_labels_listed(
    texts: Path, augury: Augury
) -> None:
    """120 sentences without a header line, of which the draft is of a model from nothing."""
    lines("all.tsv", Path("train-labelled.tsv").read_text().splitlines()[1:])
    shown = augury("init", "mine.yaml", *LABELLED, "--train", "all.tsv", "--model", "tiny").out
    corpus, columns = content("corpus"), {"columns": {"text": "text", "label": "label"}}
    assert corpus["form"] == "sentences" and content("model") == {"architecture": "tiny"}
    assert corpus["labels"] == ["contradiction", "entailment", "neutral"]
    text = {"file": "all.tsv", **columns, "header": ["text", "label"]}
    assert corpus["train"] == {**text, "portion": [0, 0.8]}
    assert corpus["valid"] == {**text, "portion": [0.8, 0.9]}
    assert corpus["tests"] == {"test": {**text, "portion": [0.9, 1]}}
    rows = [line.split() for line in shown.splitlines() if line.startswith(("train ", "valid "))]
    assert rows[0][2] == "120" and int(rows[0][3]) + int(rows[1][3]) < 120


@pytest.mark.parametrize(
    ("columns", "task"),
    [
        (["premise", "hypothesis", "label"], "nli"),
        (["Text", "LABEL"], "classification"),
        (["de", "en"], "nmt"),
        (None, "nmt"),
    ],
)
def test_the_task_is_that_of_the_columns(
    columns: Sequence[str] | None, task: str, texts: Path, augury: Augury
) -> None:
    """Without names they are told by their content."""
    labels, count = ["Entailment", "NEUTRAL", " contradiction"], len(columns or "ab")
    rows = [list(pair) for pair in islice(builtin.pairs("train", lexicon=400), 60)]
    if task != "nmt":
        rows = [[*row[: count - 1], labels[place % 3]] for place, row in enumerate(rows)]
    lines("table.tsv", ["\t".join(row) for row in ([columns, *rows] if columns else rows)])
    flags = ["--language", "de", "--model", "tiny"] if task != "nmt" else []
    assert "--task" in augury("init", "mine.yaml", "--train", "table.tsv", *flags).error
    assert content("task") == task
    if task == "nmt":
        assert languages() == ("de", "en")


def languages() -> tuple[str, str]:
    corpus = content("corpus")
    return corpus["source_language"], corpus["target_language"]


def test_the_language_is_that_of_the_text(texts: Path, augury: Augury) -> None:
    Path("train.de").rename("german.txt")
    Path("train.en").rename("english.txt")
    done = augury("init", "mine.yaml", "--source", "german.txt", "--target", "english.txt")
    assert languages() == ("de", "en") and "--target-language" in done.error


def test_a_draft_fits_texts_without_spaces(texts: Path, augury: Augury) -> None:
    thai = ["หมากินปลา", "แมวนอนบนโต๊ะ", "ฉันชอบอ่านหนังสือมาก"]
    rows = [f"{thai[row % 3]}{'กขคง'[row % 4]}{row}\t{'ab'[row % 2]}" for row in range(120)]
    lines("thai.tsv", ["text\tlabel", *rows])
    augury("init", "#1.yaml", "--train", "thai.tsv", "--language", "th", "--model", "tiny")
    assert yaml.safe_load(Path("#1.yaml").read_text())["name"] == "1"
    assert "noise" in Path("#1.yaml").read_text()


def test_a_target_in_japanese_and_empty_rows_need_no_change(texts: Path, augury: Augury) -> None:
    # Of such a target sacreBLEU has no tokeniser here; held-out rows are drawn from all.
    english = Path("train.en").read_text().splitlines()
    lines("train.en", ["" if row % 5 == 0 else line for row, line in enumerate(english)])
    flags = ["--source-language", "de", "--target-language", "ja"]
    augury("init", "mine.yaml", "--source", "train.de", "--target", "train.en", *flags)
    assert languages() == ("de", "ja")


CLASSIFY = ["--task", "classification", "--train", "train-labelled.tsv", "--columns"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "--train is missing"),
        (["--task", "nmtt"], "did you mean 'nmt'"),
        (["--task", "classification", "--train", "train.tsv"], "--columns is missing"),
        ([*CLASSIFY, "text", "label"], "no column 'label'"),
        (["--source", "train.de", "--target", "train.eng"], "did you mean 'train.en'"),
        ([*ALIGNED, "--source-language", "german"], "did you mean 'de'"),
        (NLI, "--language is missing"),
        (["--source", "train.de"], "--target"),
        ([*ALIGNED, "--test", "valid", "train.de", "train.en"], "'valid'"),
        ([*ALIGNED, "--test", "a b", "train.de", "train.en"], "'a b'"),
    ],
)
def test_invalid_flags_are_rejected_and_nothing_is_written(
    texts: Path, flags: Sequence[str], message: str, augury: Augury
) -> None:
    assert message in augury("init", "mine.yaml", *flags, code=2).error
    assert not Path("mine.yaml").exists()


def test_a_file_is_written_where_it_may_be(texts: Path, augury: Augury) -> None:
    """In another folder it finds its texts; Linux lets nobody make files in /sys."""
    augury("init", "experiments/mine.yaml", *ALIGNED, "--model", "tiny")
    corpus = yaml.safe_load(Path("experiments/mine.yaml").read_text())["corpus"]
    assert corpus["valid"]["source"] == "../valid.de"
    Path("mine.yaml").write_text("precious\n")
    assert "--force" in augury("init", "mine.yaml", *ALIGNED, code=2).error
    assert Path("mine.yaml").read_text() == "precious\n"
    assert "/sys/my.yaml" in augury("init", "/sys/my.yaml", *ALIGNED, code=2).error


def test_a_text_that_fails_its_check_leaves_the_file_to_mend(texts: Path, augury: Augury) -> None:
    """The first row with an unknown label is in line 122."""
    with Path("train-labelled.tsv").open("a") as file:
        file.write("of another label\tmaybe\n")
    flags = ["--task", "nli", *LABELLED, "--train", "pairs.tsv", "--model", "tiny"]
    rows = Path("train-labelled.tsv").read_text().splitlines()[1:]
    lines("pairs.tsv", ["premise\thypothesis\tlabel", *(f"so {row[:9]}\t{row}" for row in rows)])
    message = augury("init", "mine.yaml", *flags, code=2).error
    assert "pairs.tsv, line 122" in message and "config mine.yaml" in message
    drafted, column = Path("mine.yaml").read_text(), "label: label}"
    mended = drafted.replace(column, f"{column}, labels: {{maybe: null}}")
    Path("mine.yaml").write_text(mended)
    augury("config", "mine.yaml")


def test_rows_without_a_label_are_left_out(texts: Path, augury: Augury) -> None:
    """In every text, which is said."""
    rows = Path("train-labelled.tsv").read_text().splitlines()
    lines("all.tsv", rows)
    lines("some.tsv", [*rows, "no label\t", "none in a database\tNULL"])
    flags = [*LABELLED, "--train", "all.tsv", "--test", "some.tsv", "--model", "tiny"]
    said = augury("init", "mine.yaml", *flags).error
    assert "some.tsv: rows without a label (NULL) are left out" in said
    corpus = content("corpus")
    assert (
        corpus["tests"]["test"]["labels"] == {"": None, "NULL": None}
        and "labels" not in corpus["train"]
    )


def test_every_table_has_its_own_columns(texts: Path, augury: Augury) -> None:
    """By name, or without a header line."""
    _, *rows = Path("test-labelled.tsv").read_text().splitlines()
    swapped = ["\t".join(reversed(row.split("\t"))) for row in rows]
    lines("named.tsv", ["label\tsentence", *swapped])
    lines("bare.tsv", rows * 3)
    tests = ["--test", "named", "named.tsv", "--test", "bare", "bare.tsv"]
    flags = [*LABELLED, "--train", "train-labelled.tsv", *tests, "--model", "tiny"]
    augury("init", "mine.yaml", *flags)
    corpus, bare = content("corpus"), {"columns": {"text": "text", "label": "label"}}
    assert corpus["train"]["columns"]["label"] == "mood" and "header" not in corpus["train"]
    assert corpus["tests"] == {
        "named": {"file": "named.tsv", "columns": {"text": "sentence", "label": "label"}},
        "bare": {"file": "bare.tsv", **bare, "header": ["text", "label"]},
    }


def test_a_directory_of_parquet_files_is_one_text(texts: Path, augury: Augury) -> None:
    """In the order of their names, those of subfolders too."""
    rows = [json.loads(line) for line in Path("train.jsonl").read_text().splitlines()]
    for name, part in (("a.parquet", rows[:50]), ("b/c.parquet", rows[50:])):
        (texts / "parts" / name).parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.Table.from_pylist(part), texts / "parts" / name)
    flags = ["--valid", "valid.jsonl", "--test", "test.jsonl", *LABELLED, "--model", "tiny"]
    facts = {
        name: augury("init", "mine.yaml", "--train", name, *flags, "--force", "--json").json
        for name in ("parts", "train.jsonl")
    }
    kept, expected = (shown["texts"][0] for shown in facts.values())
    assert content("task") == "nli" and kept["rows_in"] == 120
    assert (kept["rows"], kept["labels"]) == (expected["rows"], expected["labels"])
