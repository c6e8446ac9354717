"""Command lines in texts: what of them Augury would be given."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator

from augury.cli import verbs


def parsed(text: str) -> Iterator[tuple[str, argparse.Namespace]]:
    """Yield the verb and the arguments of every `augury VERB ...` of shell commands; SystemExit where one is wrong."""
    for line in text.replace("\\\n", " ").splitlines():
        if "augury " not in line:
            continue
        words: list[str] = []
        for word in [*_words(line), "|"]:
            if set(word) <= set("|&<>"):
                if verb_and_rest := _given(words):
                    verb, *rest = verb_and_rest
                    yield verb, verbs.parser(verb, rest).parse_args(rest)
                words = []
            else:
                words.append(word)


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&<>")
    lexer.whitespace_split = True
    return list(lexer)


def _given(words: list[str]) -> list[str]:
    """Return the verb of a command and what follows it; nothing for another program's command."""
    at = next((place for place, word in enumerate(words) if word.rpartition("/")[2] == "augury"), len(words))
    return words[at + 1 :]
