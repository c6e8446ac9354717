"""The contract of an operator stays small."""

from __future__ import annotations

from augury.augment import operator
from augury.augment.operator import MakesRecords, Operator, UsesModels


def test_the_contract_is_six_methods_and_one_is_needed() -> None:
    methods = [name for name, value in vars(Operator).items() if callable(value) and name[0] != "_"]
    assert methods == ["parts", "name", "makes", "reads", "check_text", "bind"]
    assert Operator.__abstractmethods__ == {"bind"}


def test_built_in_operators_say_by_their_bases_what_they_do() -> None:
    classes = {name: operator.schema(name) for name in operator.names()}
    using = {name for name, schema in classes.items() if issubclass(schema, UsesModels)}
    assert using == {
        "back_translation",
        "data_diversification",
        "forward_translation",
        "generate",
        "reorder",
        "semantic",
    }
    assert all(issubclass(classes[name], MakesRecords) for name in using)
