"""Measure the speed of ROT-k per sentence, in one thread.

    python -m benchmarks.encipher [--sentences 290000] [--text FILE] [--key 1] [--repeats 5]
        [--json]

    list loop        looks for each character in a list of letters, then looks up its image
    dictionary loop  looks up each character in a dictionary
    str.translate    translates each sentence, from a Python list to a Python list
    table            augury.text.cipher: translates all sentences at once

The list loop is the script of the CipherDAug authors, without its four processes. The text is a
file with one sentence per line; by default the German side of Multi30k if AUGURY_DATA is the
directory of the corpora, else the built-in corpus. It is repeated until it has enough sentences.
The loops are too slow for all of them and get only the first (--part); figures are per sentence.
All outputs must be equal. The contenders run in rotating order, so that other load affects them
equally; ratios are medians over rounds of the ratio of CPU seconds in the same round. What making
the view of a corpus takes, `benchmarks/operators.py` measures.
"""

from __future__ import annotations

import gzip
import itertools
import os
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from augury.corpora.builtin import generate
from augury.text.cipher import Rot, build_alphabet, count_letters
from benchmarks import frame

BUILTIN_SENTENCES = 29_000  # the size of Multi30k
LOOPS = "list loop", "dictionary loop"


class Contender(NamedTuple):
    name: str
    sentences: int
    run: Callable[[], Any]


def list_loop(lines: Iterable[str], image: dict[str, str]) -> list[str]:
    letters = list(image)
    enciphered = []
    for line in lines:
        characters = []
        for character in line:
            if character in letters:
                characters.append(image[character])
            else:
                characters.append(character)
        enciphered.append("".join(characters))
    return enciphered


def dictionary_loop(lines: Iterable[str], image: dict[str, str]) -> list[str]:
    return ["".join([image.get(character, character) for character in line]) for line in lines]


def contenders(lines: list[str], part: int, cipher: Rot) -> list[Contender]:
    """Return all contenders after checking that their outputs are equal."""
    image = cipher.images
    subset = lines[:part]
    expected = cipher.texts(lines)
    assert expected == [cipher.text(line) for line in lines]
    assert expected[:part] == list_loop(subset, image) == dictionary_loop(subset, image)
    return [
        Contender(LOOPS[0], len(subset), lambda: list_loop(subset, image)),
        Contender(LOOPS[1], len(subset), lambda: dictionary_loop(subset, image)),
        Contender("str.translate", len(lines), lambda: [cipher.text(line) for line in lines]),
        Contender("table", len(lines), lambda: cipher.texts(lines)),
    ]


def measure(contenders: list[Contender], repeats: int) -> dict[str, list[frame.Clock]]:
    """Return the seconds per sentence of every contender in every round."""
    samples = frame.in_turn({contender.name: contender.run for contender in contenders}, repeats)
    return {
        contender.name: [
            frame.Clock(clock.cpu / contender.sentences, clock.wall / contender.sentences)
            for clock in samples[contender.name]
        ]
        for contender in contenders
    }


def summary(samples: dict[str, list[frame.Clock]]) -> list[frame.Row]:
    baseline = [clock.cpu for clock in samples[LOOPS[0]]]
    return [
        {
            "name": name,
            "k sentences/s": 1e-3 / statistics.median(clock.wall for clock in clocks),
            "by CPU s": 1e-3 / statistics.median(clock.cpu for clock in clocks),
            "times list loop": 1 / frame.ratio([clock.cpu for clock in clocks], baseline),
        }
        for name, clocks in samples.items()
    ]


def read_lines(file: Path | None) -> tuple[str, list[str]]:
    """Return the name of the text and its sentences."""
    directory = os.environ.get("AUGURY_DATA")
    if file is None and directory is None:
        return "built-in corpus", [pair.source for pair in generate("train", BUILTIN_SENTENCES)]
    name = "Multi30k" if file is None else file.name
    file = file or Path(directory or "") / "multi30k" / "train.de.gz"
    data = file.read_bytes()
    text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode()
    return name, text.removesuffix("\n").split("\n")


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument(
        "--sentences", type=int, default=290_000, help="number of sentences (default 290000)"
    )
    parser.add_argument(
        "--part", type=int, default=5_000, help="number of sentences for the loops (default 5000)"
    )
    parser.add_argument("--text", type=Path, help="text with one sentence per line, plain or .gz")
    parser.add_argument(
        "--key", type=int, default=1, help="number of places to shift letters (default 1)"
    )
    parser.add_argument("--repeats", type=int, default=5, help="rounds (default 5)")
    arguments = parser.parse_args()
    text, lines = read_lines(arguments.text)
    lines = list(itertools.islice(itertools.cycle(lines), arguments.sentences))
    cipher = Rot(build_alphabet(count_letters(lines)), arguments.key)
    rows = summary(measure(contenders(lines, arguments.part, cipher), arguments.repeats))
    setting = {"text": text, "sentences": len(lines), "rounds": arguments.repeats}
    frame.report(arguments, setting, rows)


if __name__ == "__main__":
    main()
