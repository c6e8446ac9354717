"""Arrow's compute functions, under their names in `pyarrow.compute`.

That module writes signatures and documentation of 280 functions when it is imported, which takes a
sixteenth of the time of a short command; here, a function is looked up when it is used. The methods
of arrays and tables that compute, such as `cast`, `filter` and `take`, import that module:
functions of the same name do not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

KEYWORDS = {"and_": "and", "or_": "or"}


def __getattr__(name: str) -> Callable[..., Any]:
    """Return the function of a name; the options of a function follow its arguments, or are named.

    It raises what Arrow raises, which for arguments of the wrong number is ArrowInvalid.
    """
    return _function(name)


@cache
def _function(name: str) -> Callable[..., Any]:
    try:
        return _looked_up(name)
    except (ImportError, AttributeError):  # a later version of Arrow may keep them elsewhere
        function: Callable[..., Any] = getattr(import_module("pyarrow.compute"), name)
        return function


def _looked_up(name: str) -> Callable[..., Any]:
    """Return a function from the registry, which is private but for `pyarrow.compute`."""
    registry = import_module("pyarrow._compute")
    registered = KEYWORDS.get(name, name)
    try:
        function = registry.get_function(registered)
    except KeyError as error:
        raise AttributeError(f"Arrow has no function '{name}'") from error
    options_class = getattr(registry, function._doc.options_class or "", None)
    last = None if function.arity is ... else function.arity

    def call(*arguments: Any, **named: Any) -> Any:
        values, options = list(arguments[:last]), arguments[last:] if last is not None else ()
        if not (options or named):
            return registry.call_function(registered, values)
        if options_class is None:
            raise TypeError(f"{name} takes no options and no more arguments")
        return registry.call_function(registered, values, options_class(*options, **named))

    return call
