"""What ROT-k costs per sentence, in one thread.

    python benchmarks/encipher.py [--sentences 290000] [--text FILE] [--key 1] [--repeats 5] [--json]

    list loop        for each character: is it in the list of letters? then look its image up
    dictionary loop  for each character: look it up in a dictionary
    str.translate    for each sentence, from a Python list to a Python list
    column           augury.text.rot: the whole Arrow column, to an Arrow column

The list loop is what the script of the CipherDAug authors does; it deals its sentences to four processes,
here all contenders have one. The text is a file with a sentence per line; by default the German side of
Multi30k if AUGURY_DATA names the directory that has it, else the built-in corpus. It is repeated until it has
enough sentences. The loops are too slow for all of them and get only the first (--part); every figure is
per sentence. All must give the same text. They take turns, in an order that rotates, so that a busy machine
disturbs them alike; the ratio is the median over the rounds of the ratio of CPU seconds in the same round.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from augury.corpora.builtin import generate
from augury.text.alphabet import build_alphabet, count_letters
from augury.text.rot import Rot

BUILTIN_SENTENCES = 29_000  # as many as Multi30k has

Clock = tuple[float, float]  # CPU and wall seconds per sentence


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
    """Everything that is timed, after a check that all of it writes the same text."""
    image = cipher.alphabet.rotation(cipher.key)
    some = lines[:part]
    column = pa.array(lines)
    expected = cipher.column(column).to_pylist()
    assert expected == [cipher.text(line) for line in lines]
    assert expected[:part] == list_loop(some, image) == dictionary_loop(some, image)
    return [
        Contender("list loop", len(some), lambda: list_loop(some, image)),
        Contender("dictionary loop", len(some), lambda: dictionary_loop(some, image)),
        Contender("str.translate", len(lines), lambda: [cipher.text(line) for line in lines]),
        Contender("column", len(lines), lambda: cipher.column(column)),
    ]


def measure(contenders: list[Contender], repeats: int) -> dict[str, list[Clock]]:
    """Seconds per sentence of every contender in every round."""
    samples: dict[str, list[Clock]] = {contender.name: [] for contender in contenders}
    for repeat in range(repeats):
        turn = repeat % len(contenders)
        for name, sentences, run in contenders[turn:] + contenders[:turn]:
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            samples[name].append((cpu / sentences, wall / sentences))
    return samples


def summary(samples: dict[str, list[Clock]]) -> dict[str, dict[str, float]]:
    baseline = next(iter(samples.values()))
    return {
        name: {
            "sentences_per_second": 1 / statistics.median(wall for _, wall in clocks),
            "sentences_per_cpu_second": 1 / statistics.median(cpu for cpu, _ in clocks),
            "times_list_loop": statistics.median(
                other / cpu for (cpu, _), (other, _) in zip(clocks, baseline, strict=True)
            ),
        }
        for name, clocks in samples.items()
    }


def read_lines(file: Path | None) -> tuple[str, list[str]]:
    """Where the text is from, and its sentences."""
    directory = os.environ.get("AUGURY_DATA")
    if file is None and directory is None:
        return "built-in corpus", [pair.source for pair in generate("train", BUILTIN_SENTENCES)]
    file = file or Path(directory or "") / "multi30k" / "train.de.gz"
    data = file.read_bytes()
    text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode()
    return str(file), text.removesuffix("\n").split("\n")


def main() -> None:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("--sentences", type=int, default=290_000, help="how many (default 290000)")
    parser.add_argument("--part", type=int, default=5_000, help="sentences that the loops get (default 5000)")
    parser.add_argument("--text", type=Path, help="a sentence per line, plain or .gz")
    parser.add_argument("--key", type=int, default=1, help="places that each letter moves (default 1)")
    parser.add_argument("--repeats", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args()

    text, lines = read_lines(arguments.text)
    lines = list(itertools.islice(itertools.cycle(lines), arguments.sentences))
    cipher = Rot(build_alphabet(count_letters(pa.array(lines))), arguments.key)
    results = summary(measure(contenders(lines, arguments.part, cipher), arguments.repeats))
    setting = {
        "text": text,
        "sentences": len(lines),
        "characters": sum(map(len, lines)),
        "letters": sum(map(len, cipher.alphabet.cycles)),
        "key": arguments.key,
        "repeats": arguments.repeats,
    }
    if arguments.json:
        versions = {"numpy": np.__version__, "pyarrow": pa.__version__}
        print(json.dumps({**setting, **versions, "contenders": results}, indent=2))
        return
    print(", ".join(f"{name} {value}" for name, value in setting.items()))
    print(f"{'thousand sentences per':17}{'second':>12}{'CPU second':>12}{'x list loop':>13}")
    for name, row in results.items():
        wall, cpu = row["sentences_per_second"] / 1e3, row["sentences_per_cpu_second"] / 1e3
        print(f"{name:22}{wall:12.1f}{cpu:12.1f}{row['times_list_loop']:13.1f}")


if __name__ == "__main__":
    main()
