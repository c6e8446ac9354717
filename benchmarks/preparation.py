"""How fast is a corpus prepared, and what is the driver's peak memory, by number of pairs?

    python -m benchmarks.preparation [--rows 10000 100000 300000 1000000]
        [--stages read deduplicate operator tokenise] [--executor local] [--json]

    read         `augury.corpora.ingest`: files, cleaning, filter, Parquet
    deduplicate  the same with `filter.deduplicate`
    operator     `augury.augment.pipeline`: fits a cipher and writes the view of one key
    tokenise     `augury.text.tokens`: the ids of source and target, vocabulary of 4,000

Every stage is a new Python process, the driver, which does all of the work; with executor ray,
tasks run in others, and the figures are the driver's. Peak is the
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
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks import frame

STAGES = ("read", "deduplicate", "operator", "tokenise")
SENTENCES = 20_000
REPEATED = 20
SIDES = ("source", "target")


def write_text(directory: Path, rows: int) -> None:
    """Write aligned files of distinct pairs, but for every twentieth, which repeats an earlier
    one."""
    from augury.corpora.builtin import pairs

    drawn = islice(pairs("train"), SENTENCES)
    for side, sentences in zip(SIDES, zip(*drawn, strict=True), strict=True):
        with (directory / side).open("w", encoding="utf-8") as file:
            for row in range(rows):
                number = row // 2 if row % REPEATED == REPEATED - 1 else row
                second, first = divmod(number, SENTENCES)
                file.write(f"{sentences[first]} {sentences[(first + second) % SENTENCES]}\n")


def stage(directory: Path, rows: int, name: str, executor: Any) -> frame.Row:
    """Run a stage in this process and return its figures."""
    if executor == "ray":
        from augury.core.ray_connection import connect

        connect()
    work, folders = prepared(directory, name, executor)
    base, wall = memory("VmRSS"), time.perf_counter()
    cpu, main = time.process_time(), time.thread_time()
    work()
    main, cpu = time.thread_time() - main, time.process_time() - cpu
    wall = time.perf_counter() - wall
    sizes = [path.stat().st_size for folder in folders for path in folder.rglob("*.*")]
    return {
        "k rows/s": rows / wall / 1e3,
        "by CPU s": rows / cpu / 1e3,
        "by main s": rows / (cpu if executor == "ray" else main) / 1e3,
        "base MiB": base,
        "peak MiB": memory("VmHWM"),
        "files": len(sizes),
        "MB": sum(sizes) / 1e6,
    }


Work = tuple[Callable[[], object], list[Path]]
"""The work of a stage, ready to be timed, and the folders that it makes."""


def prepared(directory: Path, name: str, executor: Any) -> Work:
    """Return the work of a stage that reads the text or its corpus."""
    from augury.core.execution import Execution
    from augury.core.store import Store
    from augury.corpora.corpus import CORPORA, Corpus
    from augury.corpora.ingest import cached_address, ingest
    from augury.corpora.spec import CorpusSpec

    store = Store(directory / "store")
    spec = {
        "source_language": "de",
        "target_language": "en",
        "train": {side: str(directory / side) for side in SIDES},
        "filter": {"max_ratio": 3.0, "deduplicate": name != "read"},
    }
    corpus_spec = CorpusSpec.model_validate(spec)
    folder = store.folder(CORPORA, cached_address(corpus_spec, "train"))
    if name in ("read", "deduplicate"):
        return lambda: ingest(corpus_spec, "train", store), [Path(folder.path())]
    corpus, execution = Corpus(folder), Execution(executor=executor)
    if name == "operator":
        from augury.augment.cipher import Cipher
        from augury.augment.pipeline import VIEWS, augment

        views = Path(store.folder(VIEWS, "").path())
        return lambda: augment(corpus, [Cipher(keys=(1,))], store, execution=execution), [views]

    from augury.experiments.task import Task
    from augury.text.pieces import training
    from augury.text.pieces.settings import VocabularySettings
    from augury.text.pieces.vocabulary import VocabularyTokenizer
    from augury.text.tokens import TOKENS, Text, tokenise

    texts = {side: Text(corpus.folder, (side,), side) for side in SIDES}
    tokenizer = VocabularyTokenizer(store.folder("vocabularies", "first"))
    first = {side: list(islice(text.lines(), 5_000)) for side, text in texts.items()}
    training.train(
        {side: lambda side=side: first[side] for side in SIDES},
        VocabularySettings(size=4_000),
        languages=["de", "en"],
        folder=tokenizer.folder,
    )
    folders = {side: store.folder(TOKENS, text.address("first")) for side, text in texts.items()}
    backend = execution.choose(corpus.rows * len(texts) / Task.ROWS_PER_SECOND, "tokenise")
    paths = [Path(folder.path()) for folder in folders.values()]
    return lambda: tokenise(texts, folders, tokenizer, backend), paths


def memory(field: str) -> float:
    """Return a size of this process in MiB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    found = re.search(rf"{field}:\s*(\d+) kB", status)
    assert found
    return round(int(found[1]) / 1024, 1)


def measure(rows: int, stages: list[str], executor: str) -> dict[str, frame.Row]:
    """Return the figures of every stage with so many rows."""
    results = {}
    with tempfile.TemporaryDirectory() as directory:
        write_text(Path(directory), rows)
        for name in STAGES:
            # Further stages read the deduplicated corpus.
            if name in stages or (name == "deduplicate" and stages != ["read"]):
                command = [sys.executable, "-m", "benchmarks.preparation"]
                command += ["--run", directory, str(rows), name, executor]
                done = subprocess.run(
                    command, check=True, capture_output=True, text=True, cwd=frame.ROOT
                )
                results[name] = json.loads(done.stdout.splitlines()[-1])
    return results


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument(
        "--rows", type=int, nargs="+", default=[10_000, 100_000, 300_000, 1_000_000]
    )
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument("--executor", choices=["local", "ray"], default="local")
    parser.add_argument("--run", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        directory, rows, name, executor = arguments.run
        print(json.dumps(stage(Path(directory), int(rows), name, executor)))
        return
    results = {}
    fewest, *_ = sizes = sorted(arguments.rows)
    for size in sizes:
        results[size] = measure(size, arguments.stages, arguments.executor)
        print(f"{size:,} rows measured", file=sys.stderr)
    table: list[frame.Row] = []
    for name in arguments.stages:
        for size in sizes:
            row = results[size][name]
            grown = (row["peak MiB"] - results[fewest][name]["peak MiB"]) * 2**20
            per_row = grown / (size - fewest) if size > fewest else None
            table.append({"stage": name, "rows": size, **row, "B/row": per_row})
    frame.report(arguments, {"executor": arguments.executor}, table)


if __name__ == "__main__":
    main()
