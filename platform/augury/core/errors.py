"""User errors, whose messages state what was given, what is allowed and what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(ValueError):
    """Invalid input; the command line prints the message without a traceback."""


def nearest(word: str, options: Iterable[str]) -> str:
    """Return a hint with the option closest to `word` (`did you mean 'beta'?`), or with all
    options."""
    known = sorted(set(options))
    longer = [option for option in known if option.casefold().startswith(word.casefold())]
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6) or longer
    if word and close:
        return f"did you mean '{close[0]}'?"
    return f"allowed: {', '.join(known)}" if known else "nothing is allowed here"


def unknown(kind: str, word: str, options: Iterable[str]) -> UserError:
    """Return the error for a name that is not among `options`."""
    return UserError(f"unknown {kind} '{word}': {nearest(word, options)}")
