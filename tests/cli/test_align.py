from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path

import pytest

from augury.cli import main
from augury.core.words import words
from augury.corpora import readers, tables
from augury.corpora.builtin import generate
from augury.text.alignment.aligner import align
from augury.text.alignment.symmetrise import symmetrise

SOURCE = "Das Haus.\ndas Buch\n\nein Buch, ja\n"
TARGET = "The house.\nthe book\nnothing\na book, yes\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "text.de").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "text.en.gz").write_bytes(gzip.compress(TARGET.encode()))
    return [str(tmp_path / "text.de"), str(tmp_path / "text.en.gz")]


def test_links_are_printed_line_by_line(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["align", *files]) == 0
    assert capsys.readouterr().out == "0-0 1-1 2-2\n0-0 1-1\n\n0-0 1-1 2-2 3-3\n"
    assert main(["align", *files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["links"][:2] == [
        [[0, 0], [1, 1], [2, 2]],
        [[0, 0], [1, 1]],
    ]


def test_tokenised_text_is_split_at_spaces(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["align", *files, "--tokenised", "--direction", "reverse"]) == 0
    assert capsys.readouterr().out == "0-0 1-1\n0-0 1-1\n\n0-0 1-1 2-2\n"


def test_tokenised_text_causes_a_warning_and_tokens_can_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "a", tmp_path / "b"
    source.write_text("Well , that 's  it .\nno .\n")
    target.write_text("bon , voilà .\nnon .\n", encoding="utf-8")
    tokens = [str(tmp_path / "a.tokens"), str(tmp_path / "b.tokens")]
    for flags, expected, warned in (
        ([], ["Well , that ' s it .\nno .\n", "bon , voilà .\nnon .\n"], True),
        (["--tokenised"], ["Well , that 's it .\nno .\n", "bon , voilà .\nnon .\n"], False),
    ):
        assert main(["align", str(source), str(target), "--write-tokens", *tokens, *flags]) == 0
        assert [Path(path).read_text(encoding="utf-8") for path in tokens] == expected
        out, error = capsys.readouterr()
        links = [
            [tuple(map(int, link.split("-"))) for link in line.split()] for line in out.splitlines()
        ]
        assert (0, 0) in links[0] and max(i for i, _ in links[0]) == len(
            expected[0].split("\n")[0].split()
        ) - 1
        assert ("line 1, 'Well , that 's  it .', has 6 words but 7 tokens" in error) == warned
        assert f"{target} looks tokenised" not in error  # tokenising it does not change it


@pytest.mark.parametrize("aligner", ["fast_align", "eflomal"])
def test_other_aligners(aligner: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if aligner == "eflomal":
        pytest.importorskip("eflomal")
    (tmp_path / "a").write_text("das Haus\n\ndas Buch\nein Buch\n" * 50)
    (tmp_path / "b").write_text("the house\nnothing\nthe book\na book\n" * 50)
    assert main(["align", str(tmp_path / "a"), str(tmp_path / "b"), "--aligner", aligner]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 200 and lines[1::4] == [""] * 50 and lines.count("0-0 1-1") > 100


def test_only_spaces_and_tabs_separate_tokens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text(" 10\u00a0000  x\ty \n", encoding="utf-8")
    (tmp_path / "b").write_text("10\u00a0000 x y\n", encoding="utf-8")
    assert main(["align", str(tmp_path / "a"), str(tmp_path / "b"), "--tokenised"]) == 0
    assert capsys.readouterr().out == "0-0 1-1 2-2\n"


@pytest.mark.parametrize("rows", [20_000, 25])
def test_directions_and_symmetrisations(
    rows: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        readers, "batches", partial(tables.batches, size=rows)
    )  # the rows of a shard
    pairs = list(generate("train", 60))
    paths = [tmp_path / "source", tmp_path / "target"]
    paths[0].write_text("".join(f"{pair.source}\n" for pair in pairs), encoding="utf-8")
    paths[1].write_text("".join(f"{pair.target}\n" for pair in pairs), encoding="utf-8")
    links = align([words(pair.source) for pair in pairs], [words(pair.target) for pair in pairs])
    both = list(zip(links["forward"], links["reverse"], strict=True))
    assert links["forward"] != links["reverse"]
    for flags, expected in (
        (["--direction", "forward"], links["forward"]),
        (["--direction", "reverse"], links["reverse"]),
        ([], [symmetrise(*pair) for pair in both]),
        (
            ["--symmetrisation", "intersection"],
            [symmetrise(*pair, "intersection") for pair in both],
        ),
        (
            ["--direction", "both", "--symmetrisation", "union"],
            [symmetrise(*pair, "union") for pair in both],
        ),
    ):
        assert (
            main(["align", *map(str, paths), "--storage", str(tmp_path / "storage"), *flags]) == 0
        )
        assert capsys.readouterr().out == "".join(
            " ".join(f"{i}-{j}" for i, j in row) + "\n" for row in expected
        )
    assert not [
        path for path in (tmp_path / "storage").rglob("*") if path.is_file()
    ]  # shards are removed


def test_a_cluster_needs_a_storage_that_it_can_reach(
    files: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    assert main(["align", *files, "--executor", "ray"]) == 2
    assert "RAY_ADDRESS=auto is a cluster" in capsys.readouterr().err
    assert main(["align", *files]) == 0  # runs without Ray
    assert capsys.readouterr().out == "0-0 1-1 2-2\n0-0 1-1\n\n0-0 1-1 2-2 3-3\n"


@pytest.mark.parametrize(
    ("target", "flags", "message"),
    [
        ("text.en", [], "no file '{}': did you mean '"),
        ("text.de", [], "are the same file"),
        ("short", [], "text.de has 4 lines and {} has 2: they must be aligned line by line"),
        ("blank", [], "no sentence pair has words on both sides"),
        ("latin", [], "{}, line 2, byte 5: 0xe4 is not UTF-8"),
        ("text.en.gz", ["--write-tokens", "x", "{0}"], "--write-tokens would overwrite {}"),
        ("text.en.gz", ["--write-tokens", "x", "no/y"], "no directory 'no'"),
        ("text.en.gz", ["--aligner", "eflomal", "--executor", "ray"], "eflomal"),
        (
            "text.en.gz",
            ["--direction", "forward", "--symmetrisation", "union"],
            "--symmetrisation union combines both",
        ),
    ],
)
def test_invalid_texts_and_options_are_one_message(
    target: str,
    flags: list[str],
    message: str,
    files: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "short").write_text("a\nb\n")
    (tmp_path / "blank").write_text("\n \n\n\n")
    (tmp_path / "latin").write_bytes(b"gut\nschl\xe4cht\nc\nd\n")
    assert (
        main(
            [
                "align",
                files[0],
                str(tmp_path / target),
                *(flag.format(tmp_path / target) for flag in flags),
            ]
        )
        == 2
    )
    error = capsys.readouterr().err
    assert message.format(tmp_path / target) in error and "Traceback" not in error
