"""`augury encipher`: encipher text from standard input with ROT-k."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from augury.cli.common import integer, print_json, read_file, read_lines
from augury.core.progress import say

if TYPE_CHECKING:
    from augury.text.ciphers.alphabet import Alphabet

WRITES_TEXT = True
HELP = "Encipher the lines of standard input with ROT-k."
EXAMPLE = (
    "echo 'hey, warum nicht?' | augury encipher --key 2 --alphabet abcdefghijklmnopqrstuvwxyzßäöü"
)


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument(
        "--key",
        type=integer,
        required=True,
        help="number of places to shift letters; negative deciphers",
    )
    letters = parser.add_mutually_exclusive_group()
    letters.add_argument(
        "--alphabet", help="the letters in order (default: the letters of the input)"
    )
    letters.add_argument(
        "--alphabet-from", metavar="FILE", type=Path, help="use the letters of this text"
    )
    parser.add_argument(
        "--mode",
        default="alpha",
        choices=["alpha", "cased", "lower", "block"],
        help="how the letters of a text form cycles (default: alpha, a single cycle)",
    )
    parser.add_argument(
        "--min-count", type=integer, default=1, help="leave rarer letters unchanged (default: 1)"
    )


def run(arguments: argparse.Namespace) -> int:
    import unicodedata

    from augury.text.ciphers.rot import Rot

    lines = [unicodedata.normalize("NFC", line) for line in read_lines(sys.stdin)]
    alphabet = _alphabet(arguments, lines)
    rot = Rot(alphabet, arguments.key)
    enciphered = [rot.text(line) for line in lines]
    if arguments.json:
        print_json({"key": arguments.key, **alphabet.to_json(), "lines": enciphered})
    else:
        sys.stdout.write("".join(f"{line}\n" for line in enciphered))
    return 0


def _alphabet(arguments: argparse.Namespace, lines: list[str]) -> Alphabet:
    import unicodedata

    import pyarrow as pa

    from augury.text.ciphers.alphabet import build_alphabet, count_letters, explicit_alphabet

    if arguments.alphabet is not None:
        return explicit_alphabet(arguments.alphabet)
    text = pa.array(lines, pa.string())
    if arguments.alphabet_from is not None:
        normalised = [
            unicodedata.normalize("NFC", line) for line in read_file(arguments.alphabet_from)
        ]
        text = pa.array(normalised, pa.string())
    alphabet = build_alphabet(count_letters(text), arguments.mode, arguments.min_count)
    if arguments.alphabet_from is None:
        say(f"alphabet of the input: {' '.join(alphabet.cycles)}")
    return alphabet
