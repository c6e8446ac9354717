"""`augury init`: the files it writes pass the preflight, for all kinds of texts."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.cli import main
from augury.corpora import builtin, builtin_nli

ROOT = Path(__file__).parents[2]


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Small texts of every kind in the working directory."""
    monkeypatch.chdir(tmp_path)
    for role, size in (("train", 120), ("valid", 20), ("test", 20)):
        pairs = list(builtin.generate(role, size, lexicon=400))  # type: ignore[arg-type]
        Path(f"{role}.de").write_text("".join(f"{pair.source}\n" for pair in pairs))
        Path(f"{role}.en").write_text("".join(f"{pair.target}\n" for pair in pairs))
        Path(f"{role}.tsv").write_text(
            "de\ten\n" + "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)
        )
        Path("folder").mkdir(exist_ok=True)
        split: Any = role
        examples = list(builtin_nli.examples(split, size, "qaa", lexicon=24))
        rows = [
            {"sentence1": row.premise, "sentence2": row.hypothesis, "gold_label": row.label}
            for row in examples
        ]
        Path(f"{role}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        Path(f"{role}-labelled.tsv").write_text(
            "text\tmood\n" + "".join(f"{row.premise}\t{row.label}\n" for row in examples)
        )
    return tmp_path


ALIGNED = ["--source", "train.de", "--target", "train.en", "--valid", "valid.de", "valid.en"]
SENTIMENT = ["--task", str(ROOT / "docs" / "examples" / "sentiment.py")]
SENTIMENT += ["--train", "train-labelled.tsv", "--valid", "valid-labelled.tsv"]
NEWS = ["--test", "news", "test.de", "test.en"]
LABELLED = ["--language", "qaa"]
SWAPPED = ["--columns", "mood", "text"]
NLI = ["--task", "nli", "--train", "train.jsonl", "--valid", "valid.jsonl"]


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
        ([*LABELLED, "--train", "train-labelled.tsv"], ["test"]),
        (["--task", "classification", *LABELLED, "--train", "train.jsonl"], ["test"]),
        ([*LABELLED, "--train", "train.jsonl", "--test", "test.jsonl"], ["test"]),
        # The name of a test set may be that of a directory, such as the one of its files.
        ([*LABELLED, "--train", "train.jsonl", "--test", "folder", "test.jsonl"], ["folder"]),
    ],
)
def test_written_files_pass_the_preflight(
    texts: Path,
    flags: list[str],
    tests: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without the hub there is a caution about the pretrained model of a classifier."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert main(["init", "mine.yaml", *flags, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    baseline, system = result["systems"]
    assert (result["file"], baseline, result["runs"]) == ("mine.yaml", "baseline", 6)
    assert system in ("CipherDAug", "EDA")
    cautions = [caution for caution in result["cautions"] if "in the training set" not in caution]
    pretrained = "train.de" not in flags and "train.tsv" not in flags
    assert result["test_sets"] == tests and len(cautions) == pretrained
    if not pretrained:
        race = ["sweep", "augmentations", "mine.yaml", "--budget"]
        assert shlex.split(result["sweep"])[1:-1] == race
    assert main(["config", "mine.yaml"]) == 0


def test_without_the_pretrained_model_the_next_command_needs_none(
    texts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert main(["init", "mine.yaml", *NLI, "--language", "qaa", "--json"]) == 0
    words = shlex.split(json.loads(capsys.readouterr().out)["next"])
    assert words[-3:] == ["--model", "tiny", "--force"]
    assert main([*words[1:], "--json"]) == 0
    assert shlex.split(json.loads(capsys.readouterr().out)["next"])[-1] == "mine.yaml"


def test_rows_of_a_single_table_are_held_out_and_its_labels_listed(
    texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """120 sentences without a header line, of which the draft is of a model from nothing."""
    lines = Path("train-labelled.tsv").read_text().splitlines(keepends=True)
    Path("all.tsv").write_text("".join(lines[1:]))
    assert main(["init", "mine.yaml", *LABELLED, "--train", "all.tsv", "--model", "tiny"]) == 0
    content = yaml.safe_load(Path("mine.yaml").read_text())
    corpus, columns = content["corpus"], {"text_column": "text", "label_column": "label"}
    assert corpus["form"] == "sentences" and content["model"] == {"architecture": "tiny"}
    assert corpus["labels"] == ["contradiction", "entailment", "neutral"]
    text = {"file": "all.tsv", **columns, "header": ["text", "label"]}
    assert corpus["train"] == {**text, "portion": [0, 0.8]}
    assert corpus["valid"] == {**text, "portion": [0.8, 0.9]}
    assert corpus["tests"] == {"test": {**text, "portion": [0.9, 1]}}
    config = capsys.readouterr().out
    rows = [line.split() for line in config.splitlines() if line.startswith(("train ", "valid "))]
    assert rows[0][2] == "120" and int(rows[0][3]) + int(rows[1][3]) < 120


@pytest.mark.parametrize(
    ("columns", "task"),
    [
        (["premise", "hypothesis", "label"], "nli"),
        (["sentence1", "sentence2", "gold_label"], "nli"),
        (["text", "mood"], "classification"),
        (["de", "en"], "nmt"),
        (["quelle", "ziel"], "nmt"),
        (None, "nmt"),
    ],
)
def test_the_task_is_that_of_the_columns(
    columns: Sequence[str] | None, task: str, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without names they are told by their content."""
    labels, count = ["entailment", "neutral", "contradiction"], len(columns or "ab")
    pairs = list(builtin.generate("train", 60, lexicon=400))
    rows = [[pair.source, pair.target] for pair in pairs]
    if task != "nmt":
        rows = [[*row[: count - 1], labels[place % 3]] for place, row in enumerate(rows)]
    lines = ["\t".join(row) for row in ([columns, *rows] if columns else rows)]
    Path("table.tsv").write_text("\n".join(lines) + "\n")
    flags = ["--language", "de", "--model", "tiny"] if task != "nmt" else []
    assert main(["init", "mine.yaml", "--train", "table.tsv", *flags]) == 0
    content = yaml.safe_load(Path("mine.yaml").read_text())
    assert content["task"] == task and "--task" in capsys.readouterr().err
    if task == "nmt":
        assert (content["corpus"]["source_language"], content["corpus"]["target_language"]) == (
            "de",
            "en",
        )


def test_the_language_is_that_of_the_text(texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.de").rename("german.txt")
    Path("train.en").rename("english.txt")
    assert main(["init", "mine.yaml", "--source", "german.txt", "--target", "english.txt"]) == 0
    corpus = yaml.safe_load(Path("mine.yaml").read_text())["corpus"]
    assert (corpus["source_language"], corpus["target_language"]) == ("de", "en")
    assert "--target-language" in capsys.readouterr().err


def test_rows_of_aligned_files_are_held_out(texts: Path) -> None:
    assert main(["init", "mine.yaml", "--train", "train.de", "train.en"]) == 0
    corpus = yaml.safe_load(Path("mine.yaml").read_text())["corpus"]
    assert (corpus["source_language"], corpus["target_language"]) == ("de", "en")
    aligned = {"source": "train.de", "target": "train.en"}
    assert corpus["train"] == {**aligned, "portion": [0, 0.8]}
    assert corpus["valid"] == {**aligned, "portion": [0.8, 0.9]}
    assert corpus["tests"] == {"test": {**aligned, "portion": [0.9, 1]}}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "--train is missing"),
        (["--task", "nmtt"], "did you mean 'nmt'"),
        (["--task", "seq2seq"], "or nli or nmt"),
        (
            ["--task", "classification", *LABELLED, "--train", "train.tsv"],
            "--columns is missing: name those for text label",
        ),
        (
            ["--task", "classification", "--train", "train-labelled.tsv", "--columns", "text"],
            "give 2 or 3 columns, text label, or sentence1 sentence2 label",
        ),
        (
            ["--train", "train-labelled.tsv", "--task", "classification", *LABELLED, *SWAPPED],
            "last",
        ),
        (["--train", "train-labelled.tsv", "--columns", "text", "label"], "no column 'label'"),
        (["--train", "train-labelled.tsv", "--columns", "text", "text"], "'text' several times"),
        ([*LABELLED, "--train", "train.tsv", "--columns", "de", "de"], "'de' several times"),
        (["--source", "train.de", "--target", "train.eng"], "did you mean 'train.en'"),
        ([*ALIGNED, "--test", "news"], "no file 'news'"),
        ([*ALIGNED, *["--test", "train.tsv"] * 2], "several test sets are called test"),
        (["--train", "train.tsv", "--columns", "de", "fr"], "no column 'fr'"),
        ([*ALIGNED, "--source-language", "german"], "did you mean 'de'"),
        (NLI, "--language is missing"),
        (["--task", "nli", "--train", "train.de", "train.en"], "a text is one table"),
        ([*ALIGNED[:-1]], "--valid valid.de"),
        (["--source", "train.de"], "--target"),
        ([*ALIGNED, "--test", "news", "test.en"], "--test news test.en"),
    ],
)
def test_invalid_flags_are_rejected_and_nothing_is_written(
    texts: Path, flags: Sequence[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "mine.yaml", *flags]) == 2
    assert message in capsys.readouterr().err and not Path("mine.yaml").exists()


def test_a_file_in_another_folder_finds_its_texts(texts: Path) -> None:
    assert main(["init", "experiments/mine.yaml", *ALIGNED, "--model", "tiny"]) == 0
    corpus = yaml.safe_load(Path("experiments/mine.yaml").read_text())["corpus"]
    assert corpus["valid"]["source"] == "../valid.de"


def test_a_file_is_only_overwritten_with_force(
    texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.yaml").write_text("precious\n")
    assert main(["init", "mine.yaml", *ALIGNED]) == 2
    assert Path("mine.yaml").read_text() == "precious\n" and "--force" in capsys.readouterr().err
    assert main(["init", "mine.yaml", *ALIGNED, "--force"]) == 0
    assert Path("mine.yaml").read_text() != "precious\n"


def test_a_directory_that_may_not_be_written_is_named_alone(
    texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Linux lets nobody make files in /sys."""
    assert main(["init", "/sys/my.yaml", *ALIGNED]) == 2
    message = capsys.readouterr().err
    assert "/sys/my.yaml" in message and "--storage" not in message


def test_a_text_that_fails_its_check_leaves_the_file_to_mend(
    texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first row without a label is in line 122."""
    with Path("train-labelled.tsv").open("a") as file:
        file.write("no label\t\n")
    flags = [*LABELLED, "--train", "train-labelled.tsv", "--model", "tiny"]
    assert main(["init", "mine.yaml", *flags]) == 2
    message = capsys.readouterr().err
    assert "train-labelled.tsv, line 122" in message and "config mine.yaml" in message
    drafted, column = Path("mine.yaml").read_text(), "label_column: mood"
    Path("mine.yaml").write_text(drafted.replace(column, f"{column}, names: {{'': null}}"))
    assert main(["config", "mine.yaml"]) == 0


def test_every_table_has_its_own_columns(texts: Path) -> None:
    """By name, or without a header line."""
    lines = Path("test-labelled.tsv").read_text().splitlines(keepends=True)
    Path("named.tsv").write_text("label\tsentence\n")
    with Path("named.tsv").open("a") as file:
        file.writelines("\t".join(reversed(line.rstrip().split("\t"))) + "\n" for line in lines[1:])
    Path("bare.tsv").write_text("".join(lines[1:] * 3))
    tests = ["--test", "named", "named.tsv", "--test", "bare", "bare.tsv"]
    flags = [*LABELLED, "--train", "train-labelled.tsv", *tests, "--model", "tiny"]
    assert main(["init", "mine.yaml", *flags]) == 0
    corpus = yaml.safe_load(Path("mine.yaml").read_text())["corpus"]
    assert corpus["train"]["label_column"] == "mood" and "header" not in corpus["train"]
    assert corpus["tests"] == {
        "named": {"file": "named.tsv", "text_column": "sentence", "label_column": "label"},
        "bare": {
            "file": "bare.tsv",
            "text_column": "text",
            "label_column": "label",
            "header": ["text", "label"],
        },
    }
