"""`augury score`: required arguments and the output for every metric."""

from __future__ import annotations

import codecs
import gzip
import json
from pathlib import Path

import pytest

from augury.cli import main


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "hyp").write_text("the cat sat on the mat\nthere is a dog in the garden\n")
    (tmp_path / "ref").write_text("the cat is on the mat\nthere is a dog in my garden\n")
    return [str(tmp_path / "hyp"), str(tmp_path / "ref")]


def test_metrics_that_depend_on_the_language_require_it(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    metrics = ["bleu", "chrf", "chrf++", "ter"]
    assert main(["score", *files, "--metrics", *metrics, "--samples", "20", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert [score["name"] for score in scores] == metrics
    assert all("|bs:20|seed:12345|" in score["signature"] for score in scores)
    assert scores[3]["value"] == pytest.approx(200 / 13)
    assert main(["score", *files, "--metrics", "chrf", "multi_bleu"]) == 2
    assert "--language" in capsys.readouterr().err
    assert (
        main(["compare", files[0], files[1], "--references", files[1], "--metrics", "multi_bleu"])
        == 2
    )
    assert "--language" in capsys.readouterr().err
    assert main(["compare", files[0], files[1], "--references", files[1], "--json"]) == 0


def test_sources_reach_a_metric_that_reads_them(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    documented = page.partition("class Copied")[0].rpartition("```python\n")[2]
    documented += "class Copied" + page.partition("class Copied")[2].partition("```")[0]
    (tmp_path / "copied.py").write_text(documented)
    (tmp_path / "src").write_text("the cat sat on the mat\nein Hund\n")
    flags = ["--metrics", str(tmp_path / "copied.py"), "--sources", str(tmp_path / "src"), "--json"]
    assert main(["score", *files, *flags]) == 0
    assert json.loads(capsys.readouterr().out)["scores"][0]["value"] == 50
    assert main(["compare", files[0], files[1], "--references", files[1], *flags]) == 0
    (scores,) = (
        row["scores"] for row in json.loads(capsys.readouterr().out)["tables"][0]["rows"][:1]
    )
    assert [score["value"] for score in scores.values()] == [50]
    assert main(["score", *files, *flags[:2]]) == 2
    assert "--sources" in capsys.readouterr().err


def test_hypotheses_from_standard_input_and_several_references(
    files: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hypotheses, reference = files
    (tmp_path / "second").write_text("a cat sat\na dog is in the garden\n")
    both = [reference, str(tmp_path / "second")]
    results = []
    for arguments in ([hypotheses, *both], ["--references", *both], ["-", *both]):
        with open(hypotheses) as stream:
            monkeypatch.setattr("sys.stdin", stream)
            assert main(["score", *arguments, "--samples", "2", "--json"]) == 0
        results.append(json.loads(capsys.readouterr().out)["scores"])
    assert results[0] == results[1] == results[2]
    assert results[0][0]["signature"].startswith("nrefs:2|")
    assert main(["score", hypotheses]) == 2
    assert "no references" in capsys.readouterr().err


def test_files_with_a_byte_order_mark_or_compressed_are_read(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = Path(files[1]).read_bytes()
    (tmp_path / "marked").write_bytes(codecs.BOM_UTF8 + content)
    (tmp_path / "ref.gz").write_bytes(gzip.compress(content))
    for name in ("marked", "ref.gz"):
        assert (
            main(
                [
                    "score",
                    str(tmp_path / name),
                    files[1],
                    "--metrics",
                    "bleu",
                    "--samples",
                    "2",
                    "--json",
                ]
            )
            == 0
        )
        assert json.loads(capsys.readouterr().out)["scores"][0]["value"] == pytest.approx(100)
