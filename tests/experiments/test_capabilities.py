"""Capabilities of tasks: who has them, and what those are told who have not."""

from __future__ import annotations

import pytest

from augury.core.errors import UserError
from augury.experiments.spec import TASKS
from augury.experiments.task import (
    LACKS,
    Drafts,
    Exports,
    Labels,
    Samples,
    ShowsStates,
    Task,
    Translates,
    capable,
    find_task,
)

ABLE = {
    Translates: {"nmt"},
    Samples: {"nmt", "seq2seq"},
    Labels: {"nli", "classification"},
    ShowsStates: {"nmt"},
    Drafts: {"nmt", "nli", "classification"},
    Exports: {"nmt", "nli", "seq2seq", "classification"},
}


@pytest.mark.parametrize("capability", LACKS)
def test_a_task_has_a_capability_or_the_error_lists_those_that_do(capability: type) -> None:
    for name in TASKS.names():
        if name in ABLE[capability]:
            assert capable(name, capability) is find_task(name)
            continue
        with pytest.raises(UserError) as raised:
            capable(name, capability)
        assert name in str(raised.value)
        assert all(able in str(raised.value) for able in ABLE[capability])


def test_the_contract_of_a_task_is_about_ten_methods() -> None:
    methods = [name for name, value in vars(Task).items() if callable(value) and name[0] != "_"]
    assert len(methods) <= 13 and len(Task.__abstractmethods__) == 6
