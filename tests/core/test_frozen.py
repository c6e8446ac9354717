"""Frozen dataclasses that are quick to define: all that `dataclass(frozen=True)` does."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import cloudpickle
import pytest

from augury.core.frozen import frozen

T = TypeVar("T")
Decorator = Callable[..., Any]


class Decorated(NamedTuple):
    """The classes of this test, by one of the two decorators."""

    Point: Any
    Named: Any
    Settings: Any
    Equal: Any
    Single: Any
    Nothing: Any
    Derived: Any
    Identified: Any
    Box: Any


def decorated(freeze: Decorator, options: Callable[..., Decorator]) -> Decorated:
    @freeze
    class Point:
        """Fields of all kinds."""

        x: int
        label: str = "p"
        tags: list[str] = field(default_factory=list, compare=False)
        hidden: int = field(default=0, repr=False)
        weight: float = field(default=1.0, hash=False)
        KIND: ClassVar[str] = "point"

        @cached_property
        def double(self) -> int:
            return 2 * self.x

    @freeze
    class Named:
        """A class that sets a field after `__init__`."""

        name: str
        length: int = field(init=False)
        size: int = field(init=False, default=3)

        def __post_init__(self) -> None:
            object.__setattr__(self, "length", len(self.name))

    @options(kw_only=True)
    class Settings:
        """Fields that only keywords set."""

        rate: float = 0.1
        steps: int

    @freeze
    class Equal:
        """A class with methods of its own."""

        value: int

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "equal"

    @freeze
    class Single:
        """One field."""

        value: Any

    @freeze
    class Nothing:
        """No field."""

    @options(kw_only=True)
    class Derived(Point):
        """A field more than its base."""

        z: int

    @options(eq=False)
    class Identified:
        """Equal to itself alone."""

        value: int

    @freeze
    class Box(Generic[T]):
        """A generic class."""

        content: T

    return Decorated(Point, Named, Settings, Equal, Single, Nothing, Derived, Identified, Box)


def standard(**options: bool) -> Decorator:
    return dataclass(frozen=True, **options)  # type: ignore[call-overload, no-any-return]


QUICK, STANDARD = decorated(frozen, frozen), decorated(standard(), standard)


@frozen
class Stored:
    """A class that pickle finds by its name."""

    name: str
    values: list[int] = field(default_factory=list)


def outcome(action: Callable[[], Any]) -> Any:
    """Return what an action returns, or its error."""
    try:
        return action()
    except Exception as error:
        return type(error), str(error)


def instances(of: Decorated) -> list[Any]:
    return [
        of.Point(1),
        of.Point(1, "q", ["a"], 5, 0.5),
        of.Named("four"),
        of.Settings(steps=3),
        of.Equal(1),
        of.Single((1, 2)),
        of.Nothing(),
        of.Derived(1, z=2),
        of.Box[int](7),
    ]


@pytest.mark.parametrize(
    "ask",
    [
        repr,
        hash,
        asdict,
        lambda item: [(part.name, part.init, part.kw_only) for part in fields(item)],
        lambda item: item == copy.copy(item),
        lambda item: vars(copy.deepcopy(item)),
        lambda item: vars(replace(item)),
        lambda item: item == replace(item),
        lambda item: item == 1,
        lambda item: item == (1,),
        lambda item: type(item).__match_args__,
    ],
)
def test_instances_answer_as_those_of_a_dataclass(ask: Callable[[Any], Any]) -> None:
    for quick, standard in zip(instances(QUICK), instances(STANDARD), strict=True):
        assert outcome(lambda item=quick: ask(item)) == outcome(lambda item=standard: ask(item))


def test_they_are_equal_to_those_that_those_of_a_dataclass_are() -> None:
    def equal(of: Decorated) -> list[bool]:
        point = of.Point(1)
        others = [of.Point(1), of.Point(2), of.Point(1, tags=["a"]), of.Point(1, weight=2.0)]
        others += [of.Derived(1, z=2), of.Single(1), of.Nothing()]
        nan = float("nan")
        return [point == other for other in others] + [
            of.Derived(1, z=2) == of.Derived(1, z=2),
            of.Derived(1, z=2) == of.Derived(1, z=3),
            of.Single(nan) == of.Single(nan),
            of.Single(1) == of.Single(2),
            of.Nothing() == of.Nothing(),
            of.Identified(1) == of.Identified(1),
            hash(of.Point(1)) == hash(of.Point(1, tags=["a"], weight=2.0)),
            hash(of.Point(1)) == hash(of.Point(1, hidden=1)),
        ]

    assert equal(QUICK) == equal(STANDARD)


@pytest.mark.parametrize("name", ["x", "label", "tags", "KIND", "double", "unknown"])
@pytest.mark.parametrize("of", ["Point", "Derived"])
def test_nothing_is_set_or_deleted_after_init(of: str, name: str) -> None:
    def errors(classes: Decorated) -> list[Any]:
        item = getattr(classes, of)(1, **({"z": 2} if of == "Derived" else {}))
        _ = item.double
        return [
            outcome(lambda: setattr(item, name, 3)),
            outcome(lambda: delattr(item, name)),
            vars(item),
        ]

    assert errors(QUICK) == errors(STANDARD)
    assert errors(QUICK)[0][0] is FrozenInstanceError


@pytest.mark.parametrize("name", ["name", "length", "size"])
def test_fields_outside_of_init_are_frozen_too(name: str) -> None:
    with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
        setattr(QUICK.Named("four"), name, 5)


def test_a_plain_subclass_sets_names_of_its_own_only() -> None:
    def errors(of: Decorated) -> list[Any]:
        item = type("Plain", (of.Point,), {})(1)
        steps = [lambda: setattr(item, "more", 2), lambda: setattr(item, "x", 2)]
        steps += [lambda: delattr(item, "x"), lambda: delattr(item, "more"), lambda: vars(item)]
        return [outcome(step) for step in steps]

    assert errors(QUICK) == errors(STANDARD)


@pytest.mark.parametrize(
    "create",
    [
        lambda of: of.Point(),
        lambda of: of.Point(1, y=2),
        lambda of: of.Settings(1),
        lambda of: of.Settings(rate=1),
        lambda of: of.Named("four", 4),
        lambda of: replace(of.Point(1), y=2),
        lambda of: replace(of.Named("four"), length=2),
        lambda of: [vars(replace(of.Point(1), x=2)), vars(replace(of.Named("four"), name="a"))],
    ],
)
def test_arguments_are_checked_as_by_a_dataclass(create: Callable[[Decorated], Any]) -> None:
    assert outcome(lambda: create(QUICK)) == outcome(lambda: create(STANDARD))


def test_the_repr_of_what_contains_itself_ends() -> None:
    def represent(of: Decorated) -> str:
        content: list[Any] = []
        content.append(of.Single(content))
        return repr(content[0])

    assert represent(QUICK) == represent(STANDARD)


@pytest.mark.parametrize("pickler", [pickle, cloudpickle])
def test_a_copy_by_pickle_is_equal_and_frozen(pickler: Any) -> None:
    item = Stored("a", [1, 2])
    again = pickler.loads(pickler.dumps(item))
    assert again == item and again.values is not item.values
    with pytest.raises(FrozenInstanceError):
        again.name = "b"


def test_a_class_that_travels_with_its_instances_works_elsewhere() -> None:
    """As those of a plug-in file do, on Ray."""
    elsewhere = """
import dataclasses, pickle, sys

item = pickle.load(sys.stdin.buffer)
assert dataclasses.replace(item, steps=3) == item and hash(item) and "steps=3" in repr(item)
try:
    item.steps = 4
except dataclasses.FrozenInstanceError as error:
    print(error, end="")
"""
    process = subprocess.run(
        [sys.executable, "-c", elsewhere],
        input=cloudpickle.dumps(QUICK.Settings(steps=3)),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert process.stdout == b"cannot assign to field 'steps'"


def test_a_dataclass_may_derive_from_it_if_it_is_frozen() -> None:
    @dataclass(frozen=True)
    class More(QUICK.Point):  # type: ignore[misc, name-defined]
        """What a plug-in may write."""

        z: int = 3

    item = More(1)
    assert item == More(1) and item != More(1, z=4) and "z=3" in repr(item)
    with pytest.raises(FrozenInstanceError):
        item.z = 4  # type: ignore[misc]
    with pytest.raises(TypeError, match="frozen"):
        dataclass(type("Thawed", (QUICK.Point,), {}))


def test_it_derives_from_no_dataclass_that_is_not_frozen() -> None:
    @dataclass
    class Thawed:
        """A class whose fields change."""

        x: int

    with pytest.raises(TypeError, match="frozen"):
        frozen(type("Derived", (Thawed,), {}))
