from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from augury.cli import main

GERMAN = "abcdefghijklmnopqrstuvwxyzßäöü"


def stdin(monkeypatch: pytest.MonkeyPatch, content: str | bytes) -> None:
    data = content.encode() if isinstance(content, str) else content
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["augment", "--operator", "ciper", "--source", "a", "--target", "b"],
            "operator 'ciper': did you mean 'cipher'?",
        ),
        (["augment", "--source", "a"], "missing: target, operator"),
        (
            ["augment", "x.yaml", "--filter", "max_ratio=9"],
            "give an experiment file or --filter, not both",
        ),
        (
            [
                "augment",
                "--operator",
                "cipher",
                "--source",
                "a",
                "--target",
                "b",
                "--filter",
                "max_ration=9",
            ],
            "did you mean 'max_ratio'",
        ),
        (
            [
                "augment",
                "--operator",
                "cipher",
                "--source",
                "a",
                "--target",
                "b",
                "--set",
                "no.key=3",
            ],
            "--set no.key=3 overrides an experiment file, but none is given: use the flags of the "
            "operator",
        ),
        (["augment", "x.yaml", "--source", "a"], "give an experiment file or --source, not both"),
        (
            ["augment", "x.yaml", "--target-language", "en"],
            "give an experiment file or --target-language, not both",
        ),
        (["train", "nowhere.yaml"], "no experiment file 'nowhere.yaml'"),
        (["translate", "abc", "--storage", "nowhere"], "no run 'abc'"),
        (["compare", "a", "--references", "b"], "no file 'b'"),
        (["trian", "my.yaml"], "unknown verb 'trian': did you mean 'train'?"),
        (["translate", "caf\udce9"], "is not UTF-8"),
        (["demo", "--task", "mt"], "unknown demo task 'mt': did you mean 'nmt'?"),
    ],
)
def test_invalid_input_is_one_message_and_exit_code_two(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stdin(monkeypatch, "text\n")
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error


def test_misspelt_flags_suggest_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["compare", "a", "b", "--metrix", "bleu"])
    assert stopped.value.code == 2
    assert "did you mean '--metrics'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("reason", "message"), [("", "stopped"), ("stopped after update 9", "stopped after update 9")]
)
def test_ctrl_c_prints_how_to_continue(
    reason: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> bytes:
        raise KeyboardInterrupt(*[reason] if reason else [])

    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=SimpleNamespace(read=interrupted)))
    assert main(["compare", "-", "--references", __file__]) == 130
    error = capsys.readouterr().err
    assert (
        error.startswith(f"augury: {message}. Finished work is kept")
        and "augury compare - --references" in error
    )


def test_input_that_is_not_utf8_names_the_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdin(monkeypatch, b"gut\nschl\xe4cht\n")
    assert main(["compare", "-", "--references", __file__]) == 2
    assert "byte 0xe4 in line 2" in capsys.readouterr().err


@pytest.fixture
def parallel(tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "train.de", tmp_path / "train.en"
    source.write_text("hey, warum nicht?\nein Haus\n\nwir alle\n", encoding="utf-8")
    target.write_text("hey, why not?\na house\nnothing\nall of us\n", encoding="utf-8")
    return source, target


def test_augment_from_two_files(
    parallel: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = [
        "--source",
        str(parallel[0]),
        "--target",
        str(parallel[1]),
        "--operator",
        "cipher",
        "--storage",
        str(tmp_path / "s"),
    ]
    assert main(["augment", *flags, "--keys", "1", "2", "--alphabet", GERMAN, "--json"]) == 0
    first: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (
        first["rows_in"] == 4
        and first["rows_added"] == 6
        and sum(first["rows_excluded"].values()) == 1
    )
    assert list(first["parts"]) == ["rot-1", "rot-2"]
    assert main(["augment", *flags, "--keys", "1", "2", "3", "--alphabet", GERMAN, "--json"]) == 0
    out, error = capsys.readouterr()
    second = json.loads(out)
    assert second["rows_added"] == 3 and second["address"] != first["address"]
    assert "reused: rot-1, rot-2" in error
    assert main(["augment", *flags, "--keys", "x"]) == 2
    assert "keys" in capsys.readouterr().err


def test_the_first_rows_are_shown_with_what_operators_make_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = tmp_path / "views.yaml"
    corpus = {
        "source_language": "de",
        "target_language": "en",
        **dict.fromkeys(("train", "valid"), {"builtin": 3, "lexicon": 400}),
    }
    operators = [
        {"operator": "control", "kind": "reverse"},
        {"operator": "noise", "casing": 1.0, "copies": 2},
    ]
    content = {"name": "views", "task": "nmt", "corpus": corpus, "augment": operators}
    content["regime"] = "multi_source"
    experiment.write_text(json.dumps(content), encoding="utf-8")
    asked = ["augment", str(experiment), "--storage", str(tmp_path / "s"), "--show", "2"]
    assert main([*asked, "--json"]) == 0
    examples = json.loads(capsys.readouterr().out)["examples"]
    assert len(examples) == 2
    for example in examples:
        (plain,), (reversed_words,) = example["text"], example["reverse"]
        assert [word[::-1] for word in reversed_words["text"].split()] == plain["source"].split()
        assert len(example["noise"]) == 2
        for row in example["noise"]:
            assert row["source"].lower() == plain["source"].lower()
            assert row["target"] == plain["target"]
    assert main(asked) == 0
    assert examples[1]["reverse"][0]["text"] in capsys.readouterr().out


LONG = [("one two three four", "one"), ("a b c d e f", "a b c d e f g"), ("a house", "ein Haus")]


@pytest.mark.parametrize(
    ("flags", "kept", "excluded"),
    [
        ([], 3, {}),
        (["--filter", "max_ratio=1.5"], 2, {"ratio": 1}),
        (["--filter", "max_length=5", "max_ratio=9"], 2, {"too long": 1}),
        (["--filter", "max_length=none", "max_ratio=null"], 3, {}),
    ],
)
def test_limits_on_two_files_are_flags_and_excluded_rows_are_counted(
    flags: list[str],
    kept: int,
    excluded: dict[str, int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, side in zip(("source", "target"), zip(*LONG, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in side))
    files = ["--source", str(tmp_path / "source"), "--target", str(tmp_path / "target")]
    operator = ["--operator", "noise", "--spelling", "0.5", "--storage", str(tmp_path / "s")]
    assert main(["augment", *files, *flags, *operator, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["rows_kept"], result["rows_excluded"]) == (kept, excluded)
    assert main(["augment", *files, *flags, *operator]) == 0
    shown = capsys.readouterr().out
    assert all(
        f"excluded {count}: {reason} (--filter max_" in shown for reason, count in excluded.items()
    )


@pytest.mark.parametrize(
    ("operator", "flags", "sections"),
    [
        (
            "semantic",
            ["--copies", "--threshold"],
            [
                "generator {model, training, max_pieces, ready}: ",
                "teacher {model, training, max_length, ready}: ",
                "sampling {temperature, top_k, top_p, max_length}: ",
            ],
        ),
        (
            "reorder",
            ["--anchor {min,mean,max}", "--fallback"],
            ["parallel {known, train, valid,", "model {...}: ", "training {...}: "],
        ),
        ("cipher", ["--keys", "--mode"], []),
    ],
)
def test_help_lists_an_operators_parameters_and_sections(
    operator: str, flags: list[str], sections: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["augment", "--operator", operator, "--help"])
    shown, _, listed = capsys.readouterr().out.partition(
        f"sections of operator {operator}, for experiment files"
    )
    assert (
        all(flag in shown for flag in flags)
        and "--model" not in shown
        and "--training" not in shown
    )
    assert all(section in listed for section in sections) and bool(listed) == bool(sections)


def test_config_shows_every_setting_and_the_address(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "toy.yaml"
    path.write_text(
        "name: toy\ntask: nmt\naugment: [{operator: cipher, keys: [1]}]\nregime: "
        "coregularised\ncorpus: "
        "{source_language: de, target_language: en, train: {builtin: 60}, valid: {builtin: 9}}\n"
    )
    assert main(["config", str(path)]) == 0
    assert "2 systems (baseline, toy) × 1 seed = 2 runs" in capsys.readouterr().out
    arguments = ["config", str(path), "--resolved", "--json", "--set", f"storage={tmp_path}"]
    assert main([*arguments, "--set", "regime={name: coregularised, beta: 3}"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["toy"]["settings"]["regime"]["beta"] == 3 and len(shown["toy"]["address"]) == 16
    assert shown["toy"]["address"] != shown["baseline"]["address"]
    assert main([*arguments, "--set", "regime.betta=3"]) == 2
    assert "unknown key" in capsys.readouterr().err
