"""What is scored, and texts as the views of a run: by what its operators
learned from its training text, in its own pieces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.experiments.record import RunRecord
from augury.experiments.run import Run
from augury.experiments.task import ShowsStates, capable
from augury.experiments.trial import render_texts
from augury.sweeping.driver import run_experiment
from augury.text.tokens import Tokens
from augury.training.trained import FAILURE
from tests import tiny
from trainables.nmt import TASK


@pytest.mark.trains
def test_a_new_test_set_is_scored_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def tested(beam: int = 1, **sizes: int) -> tuple[list[str], dict[str, Any]]:
        """Return the test sets that are translated, and the scores of all."""
        tests = {test: {"builtin": size} for test, size in sizes.items()}
        corpus = {**tiny.PARALLEL, "tests": tests}
        translated.clear()
        sections = {"corpus": corpus, "decoding": {"beam": beam}}
        trained = run_experiment(tiny.experiment("nmt", tmp_path / "results", **sections))
        return [*translated], RunRecord.read(trained.runs["tiny"][1]).tests

    translated: list[str] = []
    outputs = type(TASK).outputs

    def noted(task: Any, run: Run, corpus: Corpus, test: str) -> Sequence[str]:
        translated.append(test)
        return outputs(task, run, corpus, test)

    monkeypatch.setattr(type(TASK), "outputs", noted)
    assert (first := tested(news=6))[0] == ["news"]
    assert (both := tested(talks=5, news=6))[0] == ["talks"]
    assert list(both[1]) == ["talks", "news"] and both[1]["news"] == first[1]["news"]
    assert "'news'" not in caplog.text and tested(talks=5, news=7)[0] == ["news"]
    assert "another text called 'news'" in caplog.text  # whose scores are replaced
    alone = tested(talks=5)  # as of another experiment: the scores of this one stay
    assert alone[0] == [] and [*alone[1]] == ["talks", "news"] and tested(news=7)[0] == []
    (run,) = Store(tmp_path / "results").folder("runs", "").subfolders()
    failed = Store(tmp_path / "results").folder("runs", run).sub("seed-1")
    failed.write_record(FAILURE, {"kind": "Crashed", "error": "before"})
    caplog.clear()
    assert tested(beam=2, talks=5)[0] == ["talks"] and not failed.exists(FAILURE)
    assert "another text" not in caplog.text


LETTERS = {"operator": "cipher", "keys": [1, 2], "alphabet": "abcdefghijklmnopqrstuvwxyzßäöü"}
EDA = {"operator": "eda", "use": "view"}
GERMAN = {
    "source_language": "de",
    "target_language": "en",
    "train": {"builtin": 60},
    "valid": {"builtin": 12},
}
TEXTS = ["hey, warum nicht?", "zwölf große übungen", "über 20% der straßen!"]


def prepared(storage: Path, *operators: dict[str, Any], **changes: Any) -> Run:
    return tiny.prepared("nmt", storage, augment=operators, **changes)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Run:
    storage = tmp_path_factory.mktemp("rendering")
    return prepared(storage, LETTERS, EDA, regime="multi_source", corpus=GERMAN)


def test_ciphers_are_those_of_the_paper(rendered: Run) -> None:
    assert rendered.experiment.views == ("plain", "rot-1", "rot-2", "eda")
    assert (
        render_texts(rendered, TEXTS, "plain") == render_texts(rendered, TEXTS, "source") == TEXTS
    )
    assert render_texts(rendered, TEXTS, "rot-1") == [
        "ifz, xbsvn ojdiu?",
        "ßxümg hspäf acvohfo",
        "acfs 20% efs tusbäfo!",
    ]
    assert render_texts(rendered, TEXTS, "rot-2") == [
        "jgß, yctwo pkejv?",
        "äyanh itqög bdwpigp",
        "bdgt 20% fgt uvtcögp!",
    ]


def test_a_text_is_rendered_alike_in_any_company(rendered: Run) -> None:
    several = render_texts(rendered, TEXTS, "eda")
    assert several != TEXTS and several == [
        render_texts(rendered, [text], "eda")[0] for text in TEXTS
    ]


def test_what_was_learned_from_the_training_text_renders_it_as_training_reads_it(
    tmp_path: Path,
) -> None:
    run = prepared(tmp_path, {"operator": "cipher", "keys": [1]}, regime="multi_source")
    trained, sources = (
        capable("nmt", ShowsStates).trained(run),
        run.corpus("train").column("source"),
    )
    (tag,) = {ids[0] for ids in trained.encode(sources, "rot-1")}
    for view in ("source", "rot-1"):
        stored = Tokens(run.stored_folder(run.tokens[view]))
        trained_on = [stored[row].tolist() for row in range(len(stored))]
        assert trained.encode(sources, view, tagged=False) == trained_on
        assert trained.encode(sources, view) == [[tag, *ids] for ids in trained_on]
    assert trained.encode([""], "rot-1") == [[]]
