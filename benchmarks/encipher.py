"""Measure the speed of ROT-k: per sentence in one thread, and as a stage that makes a view of a
corpus.

    python benchmarks/encipher.py [--sentences 290000] [--text FILE] [--key 1] [--repeats 5]
        [--json]
    python benchmarks/encipher.py --stage [--stage-sentences 2900000] [--repeats 5] [--json]

    list loop        looks for each character in a list of letters, then looks up its image
    dictionary loop  looks up each character in a dictionary
    str.translate    translates each sentence, from a Python list to a Python list
    column           augury.text.ciphers.rot: translates a whole Arrow column

The list loop is the script of the CipherDAug authors, without its four processes. The text is a
file with one sentence per line; by default the German side of Multi30k if AUGURY_DATA is the
directory of the corpora, else the built-in corpus. It is repeated until it has enough sentences.
The loops are too slow for all of them and get only the first (--part); figures are per sentence.
All outputs must be equal. The contenders run in rotating order, so that other load affects them
equally; ratios are medians over rounds of the ratio of CPU seconds in the same round.

--stage times a whole stage, `augury.augment.pipeline.augment`: a new Python process reads a corpus
(Parquet) from a store, fits the alphabet, reads the corpus again and writes the view of one key;
with executor ray it also starts and stops Ray. Every sentence of the corpus ends with its row
number, so that all are distinct. Writing the corpus is not timed; it is in a temporary directory,
so that it is read from the page cache. The loops get --part sentences, evenly spaced, and their
times are scaled to all. The stage's text must equal theirs and be byte-identical for both
executors. Peak memory, also for a tenth of the sentences, and CPU seconds are those of the stage's
process without Ray's.
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
from augury.augment.pipeline import AUGMENTED, augment
from augury.augment.planning import FITS, VIEWS, plan
from augury.core.execution import Execution, connect
from augury.core.store import Store
from augury.corpora.builtin import generate
from augury.corpora.corpus import KIND, PARALLEL, SHARD_ROWS, Corpus, CorpusWriter, read_shard
from augury.text.ciphers.alphabet import build_alphabet, count_letters
from augury.text.ciphers.rot import Rot

BUILTIN_SENTENCES = 29_000  # the size of Multi30k
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
    """Return all contenders after checking that their outputs are equal."""
    image = cipher.alphabet.rotation(cipher.key)
    subset = lines[:part]
    column = pa.array(lines)
    expected = cipher.column(column).to_pylist()
    assert expected == [cipher.text(line) for line in lines]
    assert expected[:part] == list_loop(subset, image) == dictionary_loop(subset, image)
    return [
        Contender(LOOPS[0], len(subset), lambda: list_loop(subset, image)),
        Contender(LOOPS[1], len(subset), lambda: dictionary_loop(subset, image)),
        Contender("str.translate", len(lines), lambda: [cipher.text(line) for line in lines]),
        Contender("column", len(lines), lambda: cipher.column(column)),
    ]


def measure(contenders: list[Contender], repeats: int) -> dict[str, list[Clock]]:
    """Return the seconds per sentence of every contender in every round."""
    samples: dict[str, list[Clock]] = {contender.name: [] for contender in contenders}
    for name, sentences, run in turns(contenders, repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        run()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        samples[name].append((cpu / sentences, wall / sentences))
    return samples


def turns(contenders: list[T], repeats: int) -> Iterator[T]:
    """Yield every contender once per round, in rotating order."""
    for first in range(repeats):
        turn = first % len(contenders)
        yield from contenders[turn:] + contenders[:turn]


def summary(samples: dict[str, list[Clock]]) -> dict[str, dict[str, float]]:
    baseline = next(iter(samples.values()))
    speeds = {}
    for name, clocks in samples.items():
        ratios = [other / cpu for (cpu, _), (other, _) in zip(clocks, baseline, strict=True)]
        speeds[name] = {
            "sentences_per_second": 1 / statistics.median(wall for _, wall in clocks),
            "sentences_per_cpu_second": 1 / statistics.median(cpu for cpu, _ in clocks),
            "times_list_loop": statistics.median(ratios),
        }
    return speeds


class Run(NamedTuple):
    """One run of the stage or of a loop.

    Seconds and MiB. Loops have no start-up and no memory of their own.
    """

    sentences: int
    wall: float
    cpu: float | None
    start: float | None = None  # wall-clock start-up time before the stage
    peak: float | None = None


def numbered(lines: list[str], rows: np.ndarray) -> pa.Array:
    numbers = pa.array(rows).cast(pa.string())
    return pc.binary_join_element_wise(
        pa.array(lines).take(pa.array(rows % len(lines))), numbers, " "
    )


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
    """Run the stage in this process and print its start time, CPU seconds and peak memory as
    JSON."""
    if executor == "ray":
        connect()
    start = time.time()
    store = Store(root)
    augment(
        Corpus.load(store, address),
        [Cipher(keys=(key,))],
        store,
        execution=Execution(executor=executor),
    )
    # The peak of getrusage includes that of the parent process before exec.
    peak = re.findall(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    print(json.dumps({"start": start, "cpu": time.process_time(), "peak": int(peak[0]) / 1024}))


def run_stage(corpus: Corpus, executor: str, key: int) -> Run:
    for kind in (VIEWS, FITS, AUGMENTED):
        shutil.rmtree(Path(corpus.folder.root) / kind, ignore_errors=True)
    command = [
        sys.executable,
        __file__,
        "--key",
        str(key),
        "--run",
        corpus.folder.root,
        corpus.address,
        executor,
    ]
    launched, wall = time.time(), time.perf_counter()
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    wall = time.perf_counter() - wall
    measured = json.loads(output.splitlines()[-1])
    if executor == "ray":  # most of the work happens in other processes
        measured |= {"cpu": None, "peak": None}
    return Run(corpus.rows, wall, measured["cpu"], measured["start"] - launched, measured["peak"])


def view_digest(corpus: Corpus, key: int, rows: np.ndarray, expected: list[str]) -> str:
    """Return the digest of the view's shards after checking the texts of some rows."""
    folder = plan(corpus.address, [Cipher(keys=(key,))], Store(corpus.folder.root))[0].folder
    texts = pa.chunked_array(
        read_shard(folder, shard).column("text").combine_chunks() for shard in corpus.shards
    )
    assert texts.take(pa.array(rows)).to_pylist() == expected
    digest = blake2b()
    for shard in corpus.shards:
        digest.update(folder.read(shard))
    return digest.hexdigest()


def measure_stage(
    lines: list[str], sentences: int, part: int, key: int, repeats: int
) -> dict[str, list[Run]]:
    """Return every contender's runs, in rotating order.

    Those of the loops are scaled to all sentences.
    """
    rows = np.linspace(0, sentences - 1, part).astype(int)
    subset = numbered(lines, rows).to_pylist()
    image = build_alphabet(count_letters(pa.array(lines[:sentences]))).rotation(key)
    expected = dictionary_loop(subset, image)
    digests: set[str] = set()

    def time_loop(loop: Callable[[Iterable[str], dict[str, str]], list[str]]) -> Run:
        wall, cpu = time.perf_counter(), time.process_time()
        texts = loop(subset, image)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        assert texts == expected
        return Run(sentences, wall * sentences / part, cpu * sentences / part)

    def time_stage(corpus: Corpus, executor: str) -> Run:
        run = run_stage(corpus, executor, key)
        if corpus is full:
            digests.add(view_digest(corpus, key, rows, expected))
            assert len(digests) == 1
        return run

    with tempfile.TemporaryDirectory() as root:
        full, tenth = (
            write_corpus(lines, count, Store(root)) for count in (sentences, sentences // 10)
        )
        contenders: dict[str, Callable[[], Run]] = {
            LOOPS[0]: lambda: time_loop(list_loop),
            LOOPS[1]: lambda: time_loop(dictionary_loop),
            "stage, local": lambda: time_stage(full, "local"),
            "stage, local, a tenth": lambda: time_stage(tenth, "local"),
            "stage, ray": lambda: time_stage(full, "ray"),
        }
        runs: dict[str, list[Run]] = {name: [] for name in contenders}
        for name in turns(list(contenders), repeats):
            runs[name].append(contenders[name]())
    return runs


def stage_summary(runs: dict[str, list[Run]]) -> dict[str, dict[str, float | None]]:
    """Return medians, and speed-ups over the list loop per sentence; None for unknown values."""

    def median(values: Iterable[float | None]) -> float | None:
        measured = [value for value in values if value is not None]
        return statistics.median(measured) if measured else None

    def speedup(run: Run, loop: Run, clock: str) -> float | None:
        seconds, loop_seconds = getattr(run, clock), getattr(loop, clock)
        return (
            None if seconds is None else loop_seconds / loop.sentences / (seconds / run.sentences)
        )

    def row(runs: list[Run], loops: list[Run]) -> dict[str, float | None]:
        pairs = list(zip(runs, loops, strict=True))
        return {
            "wall_seconds": median(run.wall for run in runs),
            "start_seconds": median(run.start for run in runs),
            "cpu_seconds": median(run.cpu for run in runs),
            "times_list_loop": median(speedup(*pair, "wall") for pair in pairs),
            "times_list_loop_cpu": median(speedup(*pair, "cpu") for pair in pairs),
            "peak_mebibytes": median(run.peak for run in runs),
        }

    return {name: row(of_name, runs[LOOPS[0]]) for name, of_name in runs.items()}


def read_lines(file: Path | None) -> tuple[str, list[str]]:
    """Return the name of the text and its sentences."""
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
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )
    parser.add_argument("--stage", action="store_true", help="time the stage instead")
    parser.add_argument(
        "--stage-sentences",
        type=int,
        default=2_900_000,
        help="number of sentences for the stage (default 2900000)",
    )
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
    setting = {
        "text": text,
        "sentences": sentences,
        "part": part,
        "key": arguments.key,
        "repeats": arguments.repeats,
    }
    if arguments.json:
        print(json.dumps({**setting, **versions(), "contenders": results}, indent=2))
        return
    print(", ".join(f"{name} {value}" for name, value in setting.items()))
    titles = "wall s", "start s", "CPU s", "x list loop", "by CPU", "peak MiB"
    print(f"{'':22}" + "".join(f"{title:>12}" for title in titles))
    for name, row in results.items():
        print(
            f"{name:22}"
            + "".join(f"{'-' if value is None else f'{value:.1f}':>12}" for value in row.values())
        )


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
