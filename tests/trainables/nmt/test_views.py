"""A run decoded from its views: alone, averaged in one beam, by minimum Bayes risk.

And the comparison of all that.
"""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest

from augury.cli import main
from augury.core.config import merge
from augury.decoding import bayes_risk
from augury.decoding.settings import ViewDecoding
from augury.experiments.evaluate import evaluate, evaluated, render_texts
from augury.experiments.graph import Graph
from augury.experiments.run import Run
from augury.experiments.spec import parse
from trainables.nmt import TASK

CIPHERS: dict[str, Any] = {
    "augment": [{"operator": "cipher", "keys": [1, 2]}],
    "regime": {"name": "coregularised", "warmup_steps": 0},
    "vocabulary": {"size": 200, "size_per_key": 40},
    "decoding": {"beam": 3, "max_length": 12},
}
VIEWS = ["plain", "rot-1", "rot-2"]


@pytest.fixture(scope="module")
def run(untrained: Any) -> Run:
    finished: Run = untrained(**CIPHERS)
    finished.folder.finish({}, files=())
    return finished


@pytest.fixture(scope="module")
def texts(run: Run) -> list[str]:
    return [*run.corpus("one").column("source"), ""]


def decoding(**settings: Any) -> ViewDecoding:
    return ViewDecoding(beam=3, max_length=12, **settings)


def test_a_view_alone_and_views_in_one_beam(run: Run, texts: list[str]) -> None:
    plain = TASK.translate(run, texts)
    assert TASK.translate(run, texts, decoding=decoding(views=("rot-1",))) != plain
    enciphered = render_texts(run, texts, "rot-1")
    trained = TASK.trained(run)
    assert trained.encode(texts, "rot-1") == trained.encode(enciphered, "plain")
    alone = decoding(views=("plain",), combine="average")
    assert TASK.translate(run, texts, decoding=alone) == plain
    together, reversed_views = (
        TASK.translate(run, texts, decoding=decoding(views=order, combine="average"))
        for order in (VIEWS, VIEWS[::-1])
    )
    assert together == reversed_views and together[-1] == "" and len(set(together)) > 1


def test_the_choice_among_hypotheses_of_all_views(run: Run, texts: list[str]) -> None:
    settings: dict[str, Any] = {"beam": 1, "max_length": 12}
    greedy = ViewDecoding(**settings, views=VIEWS, combine="mbr")
    each = [ViewDecoding(**settings, views=(view,)) for view in VIEWS]
    best = [TASK.translate(run, texts, decoding=of_view) for of_view in each]
    chosen = TASK.translate(run, texts, decoding=greedy)
    assert chosen == bayes_risk.choose(list(zip(*best, strict=True)))
    assert chosen[-1] == "" and len(set(chosen)) > 1


def test_a_decoding_of_views_scores_a_run_anew_and_trains_none(run: Run) -> None:
    content = {**run.experiment.to_dict(), "storage": run.folder.root}
    averaged = parse(merge(content, {"decoding.views": VIEWS, "decoding.combine": "average"}))
    assert Graph(run.store).plan(averaged).address == run.address
    evaluate(run)
    other = Run.from_dict(run.folder.root, {**run.to_dict(), "experiment": averaged.to_dict()})
    assert evaluated(run) and not evaluated(other)
    plain = run.folder.sub("hypotheses").read("one.txt")
    evaluate(other)
    assert run.folder.sub("hypotheses").read("one.txt") != plain
    evaluate(run)
    assert run.folder.sub("hypotheses").read("one.txt") == plain


def test_translate_from_views(
    run: Run, texts: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "".join(f"{text}\n" for text in texts).encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(lines)))
    views = ["--views", *VIEWS, "--combine", "mbr"]
    assert main(["translate", run.folder.uri, *views]) == 0
    expected = TASK.translate(run, texts, decoding=decoding(views=VIEWS, combine="mbr"))
    assert capsys.readouterr().out.splitlines() == expected
