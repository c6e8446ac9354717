"""Parse the Augury command lines in shell examples."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator

from augury.cli import verbs


def parsed(text: str) -> Iterator[tuple[str, argparse.Namespace]]:
    """Yield the verb and the arguments of every `augury VERB ...` in shell commands; SystemExit if
    one is invalid.

    Unquoted parentheses, which a shell does not accept in an argument, are a ValueError.
    """
    for verb, *rest in words(text):
        yield verb, verbs.parser(verb, rest).parse_args(rest)


def words(text: str) -> Iterator[list[str]]:
    """Yield the words after `augury` of every such command in shell commands."""
    for line in text.replace("\\\n", " ").splitlines():
        if "augury " not in line:
            continue
        command: list[str] = []
        for token in [*_tokens(line), "|"]:
            if set(token) <= set("|&<>"):
                if argv := _augury_arguments(command):
                    yield argv
                command = []
            else:
                command.append(token)


def _tokens(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&<>()")
    lexer.whitespace_split = True
    tokens = list(lexer)
    if {"(", ")"}.intersection(tokens):
        raise ValueError(f"unquoted parenthesis: {line}")
    return tokens


def _augury_arguments(command: list[str]) -> list[str]:
    """Return the arguments of an `augury` command; empty for other programs."""
    index = next(
        (i for i, token in enumerate(command) if token.rpartition("/")[2] == "augury"), len(command)
    )
    return command[index + 1 :]
