"""Texts as the views of a run: by what its operators learned from its training text, in its own
pieces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.evaluate import render_texts
from augury.experiments.make import prepare
from augury.experiments.run import Run
from augury.experiments.task import find_task
from augury.text.tokens import Tokens
from tests import tiny

LETTERS = {"operator": "cipher", "keys": [1, 2], "alphabet": "abcdefghijklmnopqrstuvwxyzßäöü"}
DROP = {"operator": "word_drop", "use": "view"}
EDA = {"operator": "eda", "copies": 2, "use": "view"}
GERMAN = {
    "source_language": "de",
    "target_language": "en",
    "train": {"builtin": 60},
    "valid": {"builtin": 12},
}
TEXTS = ["hey, warum nicht?", "zwölf große übungen", "über 20% der straßen!"]


def prepared(storage: Path, *operators: dict[str, Any], **changes: Any) -> Run:
    return prepare(tiny.experiment("nmt", storage, augment=operators, **changes), Store(storage))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    storage = tmp_path_factory.mktemp("rendering")
    return prepared(storage, LETTERS, EDA, DROP, regime="multi_source", corpus=GERMAN)


def test_ciphers_are_those_of_the_paper(run: Run) -> None:
    assert run.experiment.views == ("plain", "rot-1", "rot-2", "eda-1", "eda-2")
    assert render_texts(run, TEXTS, "plain") == render_texts(run, TEXTS, "source") == TEXTS
    assert render_texts(run, TEXTS, "rot-1") == [
        "ifz, xbsvn ojdiu?",
        "ßxümg hspäf acvohfo",
        "acfs 20% efs tusbäfo!",
    ]
    assert render_texts(run, TEXTS, "rot-2") == [
        "jgß, yctwo pkejv?",
        "äyanh itqög bdwpigp",
        "bdgt 20% fgt uvtcögp!",
    ]


def test_a_text_is_rendered_alike_in_any_company(run: Run) -> None:
    several = render_texts(run, TEXTS, "eda-1")
    assert several != TEXTS and several == [render_texts(run, [text], "eda-1")[0] for text in TEXTS]


def test_what_was_learned_from_the_training_text_renders_it_as_training_reads_it(
    tmp_path: Path,
) -> None:
    run = prepared(tmp_path, {"operator": "cipher", "keys": [1]}, regime="multi_source")
    task, sources = find_task("nmt"), run.corpus("train").column("source")
    (tag,) = {ids[0] for ids in task.encode(run, sources, "rot-1")}
    for view in ("source", "rot-1"):
        stored = Tokens(run.stored_folder(run.tokens[view]))
        trained_on = [stored[row].tolist() for row in range(len(stored))]
        assert task.encode(run, sources, view, tagged=False) == trained_on
        assert task.encode(run, sources, view) == [[tag, *ids] for ids in trained_on]
    assert task.encode(run, [""], "rot-1") == [[]]


def test_unknown_views_are_refused(run: Run, tmp_path: Path) -> None:
    for name, message in (
        (
            "rot1",
            r"unknown view 'rot1': did you mean 'rot-1'\? there are plain, rot-1, rot-2, "
            r"eda-1, eda-2",
        ),
        (
            "word_drop",
            r"view 'word_drop' changes token ids anew in every epoch.*there are plain, rot-1",
        ),
    ):
        with pytest.raises(UserError, match=message):
            render_texts(run, TEXTS, name)
    with pytest.raises(UserError, match="unknown view 'rot-1': no operator makes views here"):
        prepared(tmp_path).experiment.resolve_view("rot-1")


def test_pairs_of_texts_are_no_single_text(tmp_path: Path) -> None:
    operators = [{"operator": "eda", "copies": 1, "use": "view"}]
    regime = {"name": "coregularised", "over": "ciphers"}
    run = prepare(
        tiny.experiment("nli", tmp_path, augment=operators, regime=regime), Store(tmp_path)
    )
    with pytest.raises(UserError, match="task nli reads premise and hypothesis"):
        render_texts(run, ["a\tb"], "eda-1")
