"""Measure the speed and the driver's peak memory of preparing a corpus, by number of pairs.

    python -m benchmarks.preparation [--rows 10000 100000 300000 1000000]
        [--stages read deduplicate operator tokenise] [--executor local] [--json]
    python -m benchmarks.preparation --stages dispatch --executor ray
        --rows 1000000 10000000 100000000

    read         `augury.corpora.ingest`: files, cleaning, filter, Parquet
    deduplicate  the same with `filter.deduplicate`
    operator     `augury.augment.pipeline`: fits a cipher and writes the view of one key
    tokenise     `augury.text.tokens`: the ids of source and target, vocabulary of 4,000
    vocabulary   `augury.text.pieces.training` on all pairs, 8,000 entries
    dispatch     tasks that do nothing, one for 20,000 rows: what the executor costs the driver

Every stage is a new Python process, the driver, which does all of the work; with executor ray,
tasks of all stages but vocabulary run in others, and the figures are the driver's. Peak is the
largest resident size (VmHWM). Base is the size before the stage, after the start of Ray. Seconds
and CPU seconds begin there.
`main` is the CPU time of the first thread, which more cores do not shorten; with executor ray, that
of all threads, as they share Python's lock. `B/row` is the growth of the peak per row since the
smallest number of rows: 0 is flat. `files` and `MB` are what the stage leaves in the store.

The text is generated into a temporary directory: pairs of two sentences of the built-in corpus, of
which every twentieth repeats an earlier one. It is read from the page cache.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

STAGES = ("read", "deduplicate", "operator", "tokenise", "vocabulary", "dispatch")
USUAL = STAGES[:4]
BLOCK_ROWS = 20_000
SENTENCES = 20_000
REPEATED = 20
SIDES = ("source", "target")


def write_text(directory: Path, rows: int) -> None:
    """Write aligned files of distinct pairs, but for every twentieth, which repeats an earlier
    one."""
    from augury.corpora.builtin import generate

    pairs = list(generate("train", SENTENCES))
    for side in SIDES:
        sentences = [getattr(pair, side) for pair in pairs]
        with (directory / side).open("w", encoding="utf-8") as file:
            for row in range(rows):
                number = row // 2 if row % REPEATED == REPEATED - 1 else row
                second, first = divmod(number, SENTENCES)
                file.write(f"{sentences[first]} {sentences[(first + second) % SENTENCES]}\n")


def stage(directory: Path, rows: int, name: str, executor: Any) -> dict[str, Any]:
    """Run a stage in this process and return its figures."""
    if executor == "ray":
        from augury.core.ray_connection import connect

        connect()
    idle = name == "dispatch"
    work, folders = dispatch(rows, executor) if idle else prepared(directory, name, executor)
    base = memory("VmRSS")
    wall, cpu, main = time.perf_counter(), time.process_time(), time.thread_time()
    work()
    main, cpu = time.thread_time() - main, time.process_time() - cpu
    wall = time.perf_counter() - wall
    sizes = [path.stat().st_size for folder in folders() for path in folder.rglob("*.*")]
    return {
        "seconds": round(wall, 3),
        "cpu": round(cpu, 3),
        "main": round(cpu if executor == "ray" else main, 3),
        "base": base,
        "peak": memory("VmHWM"),
        "files": len(sizes),
        "bytes": sum(sizes),
    }


Work = tuple[Callable[[], object], Callable[[], list[Path]]]
"""The work of a stage, ready to be timed, and the function that returns what it has made."""


def dispatch(rows: int, executor: Any) -> Work:
    """Return tasks that do nothing."""
    from augury.core.execution import Execution
    from augury.core.progress import Stage

    backend = Execution(executor=executor).choose(0, "dispatch")
    items = [{"item": item} for item in range(rows // BLOCK_ROWS)]

    def work() -> None:
        with Stage("dispatch", len(items)) as progress:
            backend.map(lambda: lambda row: {"rows": 1}, items, progress)

    return work, lambda: []


def prepared(directory: Path, name: str, executor: Any) -> Work:
    """Return the work of a stage that reads the text or its corpus."""
    from augury.core.execution import Execution
    from augury.core.store import Store
    from augury.corpora.corpus import KIND as CORPORA
    from augury.corpora.corpus import Corpus
    from augury.corpora.ingest import corpus_address, ingest
    from augury.corpora.spec import CorpusSpec

    store = Store(directory / "store")
    spec = {
        "source_language": "de",
        "target_language": "en",
        "train": {side: str(directory / side) for side in SIDES},
        "filter": {"max_ratio": 3.0, "deduplicate": name != "read"},
    }
    corpus_spec = CorpusSpec.model_validate(spec)
    if name in ("read", "deduplicate"):
        folder = store.folder(CORPORA, corpus_address(corpus_spec, "train"))
        execution = Execution(executor=executor)
        return (
            lambda: ingest(corpus_spec, "train", store),
            lambda: [Path(folder.path())],
        )
    corpus = Corpus(store.folder(CORPORA, corpus_address(corpus_spec, "train")))
    execution = Execution(executor=executor)
    if name == "operator":
        from augury.augment.cipher import Cipher
        from augury.augment.pipeline import VIEWS, augment

        operators = [Cipher(keys=(1,))]
        return (
            lambda: augment(corpus, operators, store, execution=execution),
            lambda: [Path(store.folder(VIEWS, "").path())],
        )

    from augury.experiments.task import Task
    from augury.text.pieces import training
    from augury.text.pieces.settings import VocabularyConfig
    from augury.text.pieces.vocabulary import VocabularyTokenizer
    from augury.text.tokens import KIND as TOKENS
    from augury.text.tokens import Text, tokenise

    texts = {side: Text(corpus.folder, (side,), side) for side in SIDES}
    if name == "vocabulary":
        folder = store.folder("vocabularies", "all")
        groups = {side: text.lines for side, text in texts.items()}
        return (
            lambda: training.train(
                groups, VocabularyConfig(size=8_000), languages=["de", "en"], folder=folder
            ),
            lambda: [Path(folder.path())],
        )
    tokenizer = VocabularyTokenizer(store.folder("vocabularies", "first"))
    first = {side: list(islice(text.lines(), 5_000)) for side, text in texts.items()}
    training.train(
        {side: lambda side=side: first[side] for side in SIDES},
        VocabularyConfig(size=4_000),
        languages=["de", "en"],
        folder=tokenizer.folder,
    )
    folders = {side: store.folder(TOKENS, text.address("first")) for side, text in texts.items()}
    backend = execution.choose(corpus.rows * len(texts) / Task.ROWS_PER_SECOND, "tokenise")
    return (
        lambda: tokenise(texts, folders, tokenizer, backend),
        lambda: [Path(folder.path()) for folder in folders.values()],
    )


def memory(field: str) -> float:
    """Return a size of this process in MiB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    found = re.search(rf"{field}:\s*(\d+) kB", status)
    assert found
    return round(int(found[1]) / 1024, 1)


def measure(rows: int, stages: list[str], executor: str) -> dict[str, dict[str, Any]]:
    """Return the figures of every stage with so many rows."""
    results = {}
    with tempfile.TemporaryDirectory() as directory:
        needs_text = set(stages) - {"dispatch"}
        if needs_text:
            write_text(Path(directory), rows)
        for name in STAGES:
            # Further stages read the deduplicated corpus.
            if name in stages or (name == "deduplicate" and needs_text - {"read"}):
                command = [sys.executable, __file__, "--run", directory, str(rows), name, executor]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                results[name] = json.loads(done.stdout.splitlines()[-1])
    return {name: results[name] for name in stages}


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    processor = re.search(
        r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8")
    )
    return {
        "processor": processor[1] if processor else "unknown",
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "commit": commit or "unknown",
    }


def table(results: dict[int, dict[str, dict[str, Any]]]) -> str:
    """Return the figures as text."""
    titles = ("rows", "k rows/s", "by CPU s", "by main s", "base MiB", "peak MiB", "B/row")
    titles += ("files", "MB")
    lines = [f"{'':12}" + "".join(f"{title:>11}" for title in titles)]
    fewest = min(results)
    for name in results[fewest]:
        for rows, figures in results.items():
            row = figures[name]
            grown = (row["peak"] - results[fewest][name]["peak"]) * 2**20
            per_row = f"{grown / (rows - fewest):.1f}" if rows > fewest else "-"
            cells = (
                f"{rows:,}",
                f"{rows / row['seconds'] / 1e3:.0f}",
                f"{rows / row['cpu'] / 1e3:.0f}",
                f"{rows / row['main'] / 1e3:.0f}",
                f"{row['base']:.0f}",
                f"{row['peak']:.0f}",
                per_row,
                f"{row['files']:,}",
                f"{row['bytes'] / 1e6:.0f}",
            )
            lines.append(f"{name:12}" + "".join(f"{cell:>11}" for cell in cells))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rows", type=int, nargs="+", default=[10_000, 100_000, 300_000, 1_000_000]
    )
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(USUAL))
    parser.add_argument("--executor", choices=["local", "ray"], default="local")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--run", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        directory, rows, name, executor = arguments.run
        print(json.dumps(stage(Path(directory), int(rows), name, executor)))
        return
    results = {}
    for rows in sorted(arguments.rows):
        results[rows] = measure(rows, arguments.stages, arguments.executor)
        print(f"{rows:,} rows measured", file=sys.stderr)
    if arguments.json:
        print(json.dumps({"executor": arguments.executor, **machine(), "rows": results}, indent=2))
    else:
        print(table(results))


if __name__ == "__main__":
    main()
