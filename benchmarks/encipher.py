"""What ROT-k costs: per sentence, in one thread, and as a stage that makes a view of a corpus.

    python benchmarks/encipher.py [--sentences 290000] [--text FILE] [--key 1] [--repeats 5] [--json]
    python benchmarks/encipher.py --stage [--stage-sentences 2900000] [--repeats 5] [--json]

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

--stage times a whole stage, `augury.augment.pipeline.augment`: a fresh Python starts, reads a corpus (Parquet) from
a store, fits the alphabet, reads it again, writes the view of one key and ends; with executor ray, Ray starts and
ends too. Every sentence of the corpus ends in the number of its row, so that no two are equal. Writing it is not
timed; it lies in a temporary directory, so that reading it touches no disk. The loops get --part sentences, evenly
spaced, and what they take is scaled to all. The stage's text must be theirs, and the same bytes from both executors.
Peak memory, also of a tenth of the sentences, and CPU seconds are those of the stage's process; Ray's are not seen.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.augment.cipher import Cipher
from augury.augment.pipeline import AUGMENTED, FITS, VIEWS, augment, plan
from augury.core.execution import Execution, connect
from augury.core.store import Store
from augury.corpora.builtin import generate
from augury.corpora.corpus import KIND, PARALLEL, SHARD_ROWS, Corpus, CorpusWriter, read_shard
from augury.text.alphabet import build_alphabet, count_letters
from augury.text.rot import Rot

BUILTIN_SENTENCES = 29_000  # as many as Multi30k has
LOOPS = "list loop", "dictionary loop"

T = TypeVar("T")
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
        Contender(LOOPS[0], len(some), lambda: list_loop(some, image)),
        Contender(LOOPS[1], len(some), lambda: dictionary_loop(some, image)),
        Contender("str.translate", len(lines), lambda: [cipher.text(line) for line in lines]),
        Contender("column", len(lines), lambda: cipher.column(column)),
    ]


def measure(contenders: list[Contender], repeats: int) -> dict[str, list[Clock]]:
    """Seconds per sentence of every contender in every round."""
    samples: dict[str, list[Clock]] = {contender.name: [] for contender in contenders}
    for name, sentences, run in turns(contenders, repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        run()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        samples[name].append((cpu / sentences, wall / sentences))
    return samples


def turns(contenders: list[T], repeats: int) -> Iterator[T]:
    """Every contender once a round, in an order that rotates."""
    for first in range(repeats):
        turn = first % len(contenders)
        yield from contenders[turn:] + contenders[:turn]


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


class Run(NamedTuple):
    """One run of the stage, or of a loop, which has no start and no memory of its own; seconds and MiB."""

    sentences: int
    wall: float
    cpu: float | None
    start: float | None = None  # of the wall, before the stage itself begins
    peak: float | None = None


def numbered(lines: list[str], rows: np.ndarray) -> pa.Array:
    numbers = pa.array(rows).cast(pa.string())
    return pc.binary_join_element_wise(pa.array(lines).take(pa.array(rows % len(lines))), numbers, " ")


def write_corpus(lines: list[str], sentences: int, store: Store) -> Corpus:
    writer = CorpusWriter(store.folder(KIND, str(sentences)))
    for first in range(0, sentences, SHARD_ROWS):
        rows = np.arange(first, min(first + SHARD_ROWS, sentences))
        text, count = numbered(lines, rows), len(rows)
        writer.add(
            pa.table(
                {
                    "id": pa.array(rows).cast(pa.string()),
                    "source": text,
                    "target": text,
                    "source_language": ["de"] * count,
                    "target_language": ["en"] * count,
                    "origin": ["original"] * count,
                    "views": [[]] * count,
                    "lineage": [None] * count,
                },
                schema=PARALLEL,
            )
        )
    return writer.finish({})


def stage(root: str, address: str, executor: Any, key: int) -> None:
    """What a process that is timed does; it prints what only it knows."""
    if executor == "ray":
        connect()
    began = time.time()
    store = Store(root)
    augment(Corpus.load(store, address), [Cipher(keys=(key,))], store, execution=Execution(executor=executor))
    # Not getrusage, whose peak begins with that of the process that started this one.
    peak = re.findall(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    print(json.dumps({"began": began, "cpu": time.process_time(), "peak": int(peak[0]) / 1024}))


def run_stage(corpus: Corpus, executor: str, key: int) -> Run:
    for kind in (VIEWS, FITS, AUGMENTED):
        shutil.rmtree(Path(corpus.folder.root) / kind, ignore_errors=True)
    task = [corpus.folder.root, corpus.address, executor]
    started, wall = time.time(), time.perf_counter()
    command = [sys.executable, __file__, "--key", str(key), "--run", *task]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    wall = time.perf_counter() - wall
    last = json.loads(told.splitlines()[-1])
    if executor == "ray":  # most of it works in processes of its own
        last |= {"cpu": None, "peak": None}
    return Run(corpus.rows, wall, last["cpu"], last["began"] - started, last["peak"])


def view_digest(corpus: Corpus, key: int, rows: np.ndarray, expected: list[str]) -> str:
    """The digest of the view's shards, after a check that it has the texts that are expected in some rows."""
    folder = plan(corpus.address, [Cipher(keys=(key,))], Store(corpus.folder.root))[0].folder
    texts = pa.chunked_array(read_shard(folder, shard).column("text").combine_chunks() for shard in corpus.shards)
    assert texts.take(pa.array(rows)).to_pylist() == expected
    digest = blake2b()
    for shard in corpus.shards:
        digest.update(folder.read(shard))
    return digest.hexdigest()


def measure_stage(lines: list[str], sentences: int, part: int, key: int, repeats: int) -> dict[str, list[Run]]:
    """Every contender's runs, in an order that rotates; those of the loops are scaled to all sentences."""
    rows = np.linspace(0, sentences - 1, part).astype(int)
    some = numbered(lines, rows).to_pylist()
    image = build_alphabet(count_letters(pa.array(lines[:sentences]))).rotation(key)
    expected = dictionary_loop(some, image)
    digests: set[str] = set()

    def scaled(loop: Callable[[Iterable[str], dict[str, str]], list[str]]) -> Run:
        wall, cpu = time.perf_counter(), time.process_time()
        texts = loop(some, image)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        assert texts == expected
        return Run(sentences, wall * sentences / part, cpu * sentences / part)

    def staged(corpus: Corpus, executor: str) -> Run:
        run = run_stage(corpus, executor, key)
        if corpus is whole:
            digests.add(view_digest(corpus, key, rows, expected))
            assert len(digests) == 1
        return run

    with tempfile.TemporaryDirectory() as root:
        whole, tenth = (write_corpus(lines, count, Store(root)) for count in (sentences, sentences // 10))
        contenders: dict[str, Callable[[], Run]] = {
            LOOPS[0]: lambda: scaled(list_loop),
            LOOPS[1]: lambda: scaled(dictionary_loop),
            "stage, local": lambda: staged(whole, "local"),
            "stage, local, a tenth": lambda: staged(tenth, "local"),
            "stage, ray": lambda: staged(whole, "ray"),
        }
        runs: dict[str, list[Run]] = {name: [] for name in contenders}
        for name in turns(list(contenders), repeats):
            runs[name].append(contenders[name]())
    return runs


def stage_summary(runs: dict[str, list[Run]]) -> dict[str, dict[str, float | None]]:
    """Medians, and how much quicker than the list loop for as many sentences; None where something is not known."""

    def median(values: Iterable[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return statistics.median(known) if known else None

    def times(run: Run, loop: Run, clock: str) -> float | None:
        mine, other = getattr(run, clock), getattr(loop, clock)
        return None if mine is None else other / loop.sentences / (mine / run.sentences)

    def row(runs: list[Run], loops: list[Run]) -> dict[str, float | None]:
        pairs = list(zip(runs, loops, strict=True))
        return {
            "wall_seconds": median(run.wall for run in runs),
            "start_seconds": median(run.start for run in runs),
            "cpu_seconds": median(run.cpu for run in runs),
            "times_list_loop": median(times(*pair, "wall") for pair in pairs),
            "times_list_loop_cpu": median(times(*pair, "cpu") for pair in pairs),
            "peak_mebibytes": median(run.peak for run in runs),
        }

    return {name: row(each, runs[LOOPS[0]]) for name, each in runs.items()}


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
    parser.add_argument("--stage", action="store_true", help="time the stage instead")
    parser.add_argument("--stage-sentences", type=int, default=2_900_000, help="of the corpus (default 2900000)")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        root, address, executor = arguments.run
        stage(root, address, executor, arguments.key)
    elif arguments.stage:
        report_stage(arguments)
    else:
        report_sentences(arguments)


def report_stage(arguments: argparse.Namespace) -> None:
    text, lines = read_lines(arguments.text)
    sentences, part = arguments.stage_sentences, min(arguments.part, arguments.stage_sentences)
    results = stage_summary(measure_stage(lines, sentences, part, arguments.key, arguments.repeats))
    setting = {"text": text, "sentences": sentences, "part": part, "key": arguments.key, "repeats": arguments.repeats}
    if arguments.json:
        print(json.dumps({**setting, **versions(), "contenders": results}, indent=2))
        return
    print(", ".join(f"{name} {value}" for name, value in setting.items()))
    titles = "wall s", "start s", "CPU s", "x list loop", "by CPU", "peak MiB"
    print(f"{'':22}" + "".join(f"{title:>12}" for title in titles))
    for name, row in results.items():
        print(f"{name:22}" + "".join(f"{'-' if value is None else f'{value:.1f}':>12}" for value in row.values()))


def report_sentences(arguments: argparse.Namespace) -> None:
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
        print(json.dumps({**setting, **versions(), "contenders": results}, indent=2))
        return
    print(", ".join(f"{name} {value}" for name, value in setting.items()))
    print(f"{'thousand sentences per':17}{'second':>12}{'CPU second':>12}{'x list loop':>13}")
    for name, row in results.items():
        wall, cpu = row["sentences_per_second"] / 1e3, row["sentences_per_cpu_second"] / 1e3
        print(f"{name:22}{wall:12.1f}{cpu:12.1f}{row['times_list_loop']:13.1f}")


def versions() -> dict[str, str]:
    return {"numpy": np.__version__, "pyarrow": pa.__version__}


if __name__ == "__main__":
    main()
