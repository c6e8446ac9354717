"""`augury encipher`: text in, ROT-k text out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from augury.cli.common import lines_of, print_json
from augury.core.errors import UserError
from augury.core.progress import say

if TYPE_CHECKING:
    from augury.text.alphabet import Alphabet

HELP = "Encipher text with ROT-k, line by line."
EXAMPLE = "echo 'hey, warum nicht?' | augury encipher --key 2 --alphabet abcdefghijklmnopqrstuvwxyzßäöü"


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.add_argument("--key", type=int, required=True, help="places to move every letter; negative deciphers")
    letters = parser.add_mutually_exclusive_group()
    letters.add_argument("--alphabet", help="the letters in order (default: those of the text itself)")
    letters.add_argument("--alphabet-from", metavar="FILE", type=Path, help="take the letters of this text")
    parser.add_argument(
        "--mode",
        default="alpha",
        choices=["alpha", "cased", "lower", "block"],
        help="how letters taken from a text form cycles (default: alpha, all in one)",
    )
    parser.add_argument("--min-count", type=int, default=1, help="leave rarer letters as they are (default: 1)")


def run(arguments: argparse.Namespace) -> int:
    import unicodedata

    from augury.text.rot import Rot

    lines = [unicodedata.normalize("NFC", line) for line in lines_of(sys.stdin)]
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

    from augury.text.alphabet import build_alphabet, count_letters, explicit_alphabet

    if arguments.alphabet is not None:
        return explicit_alphabet(arguments.alphabet)
    text = pa.array(lines, pa.string())
    if arguments.alphabet_from is not None:
        if not arguments.alphabet_from.is_file():
            raise UserError(f"no file '{arguments.alphabet_from}' to take the alphabet from")
        with arguments.alphabet_from.open(encoding="utf-8") as file:
            text = pa.array([unicodedata.normalize("NFC", line) for line in lines_of(file)], pa.string())
    alphabet = build_alphabet(count_letters(text), arguments.mode, arguments.min_count)
    if arguments.alphabet_from is None:
        say(f"alphabet of the text itself: {' '.join(alphabet.cycles)}")
    return alphabet
