"""`augury init`: the files it writes epoch the preflight, for all kinds of texts."""

from __future__ import annotations

import json
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
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    for role, size in (("train", 120), ("valid", 20), ("test", 20)):
        pairs = list(builtin.generate(role, size, lexicon=400))  # type: ignore[arg-type]
        Path(f"{role}.de").write_text("".join(f"{pair.source}\n" for pair in pairs))
        Path(f"{role}.en").write_text("".join(f"{pair.target}\n" for pair in pairs))
        Path(f"{role}.tsv").write_text(
            "de\ten\n" + "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)
        )
        examples = list(builtin_nli.examples(role, size, "qaa", lexicon=24))  # type: ignore[arg-type]
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
NLI = ["--task", "nli", "--train", "train.jsonl", "--valid", "valid.jsonl"]


@pytest.mark.parametrize(
    ("flags", "tests"),
    [
        (
            [
                *ALIGNED,
                "--test",
                "news",
                "test.de",
                "test.en",
                "--test",
                "more",
                "test.tsv",
                "--columns",
                "de",
                "en",
            ],
            ["news", "more"],
        ),
        (["--train", "train.tsv", "--columns", "de", "en"], []),
        ([*NLI, "--language", "qaa", "--test", "jsonl", "test.jsonl"], ["jsonl"]),
        ([*SENTIMENT, "--columns", "text", "mood", "--language", "qaa"], []),
    ],
)
def test_written_files_epoch_the_preflight(
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
    assert (result["file"], result["systems"], result["runs"]) == (
        "mine.yaml",
        ["baseline", "mine"],
        6,
    )
    assert result["test_sets"] == tests and len(result["cautions"]) == (not tests) + (
        "--task" in flags
    )
    assert main(["config", "mine.yaml"]) == 0


def test_answers_replace_flags(
    texts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter(["train.dee train.en", "train.de train.en", "", "news test.de test.en", ""])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    assert main(["init", "mine.yaml"]) == 0
    assert "did you mean 'train.de'" in capsys.readouterr().err  # then it prompts again
    corpus = yaml.safe_load(Path("mine.yaml").read_text())["corpus"]
    assert (corpus["source_language"], corpus["target_language"], corpus["every"]) == (
        "de",
        "en",
        10,
    )
    assert corpus["tests"] == {"news": {"source": "test.de", "target": "test.en"}}
    assert next(answers, None) is None


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "--train is missing"),
        (["--task", "nmtt"], "did you mean 'nmt'"),
        (["--task", "seq2seq"], "take task nli or nmt"),
        ([*ALIGNED, "--model", "a"], "leave out --model"),
        ([*SENTIMENT, "--columns", "mood", "text", "--language", "qaa"], "different values"),
        (["--source", "train.de", "--target", "train.eng"], "did you mean 'train.en'"),
        ([*ALIGNED, "--test", "news"], "give a name and then the text"),
        (["--train", "train.tsv", "--columns", "de", "fr"], "no column 'fr'"),
        (["--train", "train.tsv"], "--columns is missing"),
        ([*ALIGNED, "--source-language", "german"], "did you mean 'de'"),
        (NLI[:-2], "--valid is missing"),
        (NLI, "--language is missing"),
        (["--task", "nli", "--train", "train.de", "train.en"], "a text is one table"),
        ([*ALIGNED[:-1]], "as in --valid valid.de valid.en"),
        (["--source", "train.de"], "--train train.de train.en"),
        ([*ALIGNED, "--test", "news", "test.en"], "--test news test.en test.de"),
    ],
)
def test_invalid_flags_are_rejected_and_nothing_is_written(
    texts: Path, flags: Sequence[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "mine.yaml", *flags]) == 2
    assert message in capsys.readouterr().err and not Path("mine.yaml").exists()


def test_a_file_is_only_overwritten_with_force(
    texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.yaml").write_text("precious\n")
    assert main(["init", "mine.yaml", *ALIGNED]) == 2
    assert Path("mine.yaml").read_text() == "precious\n" and "--force" in capsys.readouterr().err
    assert main(["init", "mine.yaml", *ALIGNED, "--force"]) == 0
    assert Path("mine.yaml").read_text() != "precious\n"


def test_end_of_input_writes_nothing(
    texts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def end_of_input(prompt: str) -> Any:
        raise EOFError

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", end_of_input)
    assert main(["init", "mine.yaml"]) == 2 and not Path("mine.yaml").exists()
