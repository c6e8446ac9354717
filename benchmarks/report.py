"""Run the benchmarks, keep their results, and write docs/speed.md from what is kept: `make bench`.

    python -m benchmarks.report [NAME ...] [--smallest] [--results DIRECTORY]
    python -m benchmarks.report --page [--results DIRECTORY]

Every benchmark runs in a process of its own, one after the other, and leaves a JSON file with its
command, commit, machine and versions in `benchmarks/measured`. `--smallest` measures as little as
possible, to see that a benchmark runs, and keeps nothing unless --results says where. `--page` runs
nothing and writes the page, as every other call does at its end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import frame

RESULTS = Path(__file__).parent / "measured"
PAGE = frame.ROOT / "docs" / "speed.md"
HEAD = """\
# Speed

The latest measurements of `benchmarks/`, written by `make bench`, which takes hours;
`python -m benchmarks.report NAME` repeats one, and the documentation of its module says what is
compared with what. Machines are shared and noisy: read ratios, which come from one run side by
side, and CPU seconds, not wall times. What was tried and failed is in the [log](../LOG.md)."""


class Benchmark(NamedTuple):
    """A benchmark: its question, what its columns mean, and its arguments."""

    question: str
    reading: str
    """How the table is read."""
    smallest: str
    """Arguments of its smallest measurement."""
    usual: str = ""
    """Arguments of `make bench`."""
    rows: str = "rows.*"
    """Where its result holds the rows of the table: keys, and `*` for all, whose names become
    columns."""
    corpora: bool = False
    """Whether it needs AUGURY_DATA."""


BENCHMARKS = {
    "training": Benchmark(
        "How fast is a training step, against a plain loop of `transformers`?",
        "`times_plain_loop_cpu` above 1: fewer CPU seconds for the same batches. Goal: 1.2.",
        "--repeats 1",
        rows="regimes.*.contenders.*",
    ),
    "step_parts": Benchmark(
        "Where does the time of a training step go?",
        "`share` is of a step; the documentation of the module says what each part is.",
        "--steps 1 --precision fp32",
    ),
    "objective": Benchmark(
        "What do the objectives cost?",
        "`cpu_ratio` is relative to plain cross-entropy. Goal of CipherDAug: 1.6.",
        "--repeats 1",
        rows="contenders.*",
    ),
    "adversarial": Benchmark(
        "What does adversarial training cost?",
        "`cpu_ratio` is relative to a plain step. Goal of three steps of PGD: 2.6.",
        "--repeats 1",
        rows="contenders.*",
    ),
    "draws": Benchmark(
        "What do draws from token ids add to a training step?",
        "`share` is relative to a step, at most 0.05; `tokens` relative to those without a draw.",
        "--repeats 1",
    ),
    "decode": Benchmark(
        "How fast is source text made into output text?",
        "`times` above 1: more CPU seconds than augury; CTranslate2 alone is the limit.",
        "--sentences 20 --pairs 300 --updates 2 --beam 2 --repeats 1",
    ),
    "time_to_bleu": Benchmark(
        "How long from text to 25 BLEU?",
        "`times` above 1: more CPU seconds than augury; one seed each.",
        "--pairs 300 --valid 10 --updates 4 --every 2 --vocabulary 300 --sizes 1 16 32 2",
    ),
    "sweep": Benchmark(
        "What does a sweep of short trials cost beyond its trainings?",
        "The makespan relative to these ideals; Ray Tune's own trials: 1.15.",
        "--trials 3 --seconds 0.1",
        rows="executors.*",
    ),
    "startup": Benchmark(
        "How long do commands take to start?",
        "`times goal` above 1 misses the goal.",
        "--repeats 1",
    ),
    "operators": Benchmark(
        "How many rows a second do operators make?",
        "`efficiency` is relative to one core with the same executor; goal: 0.85. Peak memory that "
        "does not grow with rows is flat.",
        "--rows 200 --operators cipher --executors local",
    ),
    "encipher": Benchmark(
        "How fast is a sentence enciphered?",
        "`times list loop` is relative to the script of the CipherDAug authors.",
        "--sentences 200 --part 100 --repeats 1",
    ),
    "cores": Benchmark(
        "How much faster do several cores prepare a text?",
        "`efficiency` is relative to one core, per core; goal: 0.85.",
        "--rows 500 --repeats 1",
    ),
    "preparation": Benchmark(
        "How fast is a corpus prepared, and with what memory?",
        "Seconds, CPU seconds and MiB of the driver by rows and stage.",
        "--rows 500 --stages read",
        rows="rows.*.*",
    ),
    "fuzzy": Benchmark(
        "How does the time to find all fuzzy matches grow?",
        "`exponent` below 1.5 is the goal; comparing all pairs has 2.",
        "--sizes 200 400",
        "--sizes 10000 30000 100000 300000 --languages de fr en --brute 10000",
        corpora=True,
    ),
    "scaling": Benchmark(
        "How long does a large corpus take on a cluster (simulated)?",
        "Seconds and `efficiency` by nodes, from costs that `preparation` measured.",
        "--rows 1000000 --nodes 1",
        rows="plans.*.*",
    ),
    "race": Benchmark(
        "How often does a sweep choose well, and is what it says true (simulated)?",
        "Goals: `helps`, which is false there, at most 0.025, `coverage` from 0.93 to 0.97; the "
        "documentation of the module explains the columns.",
        "--draws 1",
    ),
    "coverage": Benchmark(
        "Do intervals cover the truth (simulated)?",
        "Shares of experiments: 0.95 is right for `coverage`, at most 0.05 for `false positives`, "
        "and 0.8 for `found`; the documentation of the module explains the methods.",
        "--repetitions 2 --samples 20 --seeds 2 --metrics mean --noise 0 --spread 0 --draws 2",
        "--repetitions 300",
    ),
    "soak": Benchmark(
        "Is anything lost where processes are killed?",
        "Seconds from a kill to the next validation; lost, left and raw lines must be 0.",
        "--minutes 0",
        "--minutes 20",
    ),
}


def run(name: str, smallest: bool) -> dict[str, Any]:
    """Run a benchmark and return its result with its origin."""
    benchmark = BENCHMARKS[name]
    arguments = (benchmark.smallest if smallest else benchmark.usual).split()
    command = [sys.executable, "-m", f"benchmarks.{name}", *arguments, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=frame.ROOT, check=False)
    if done.returncode:
        sys.exit(f"{name} ended with {done.returncode}: python -m {' '.join(command[2:])}")
    content = json.loads(done.stdout)
    if isinstance(content, dict) and "origin" in content:
        return content
    return {"origin": frame.origin([name, *arguments]), "result": content}


def rows(content: Any, path: str) -> Iterator[frame.Row]:
    """Yield the rows at a path of a result; nested values but pairs of numbers are left out."""
    if path:
        key, _, rest = path.partition(".")
        if key != "*":
            yield from rows(content[key], rest)
            return
        entries = content.items() if isinstance(content, dict) else ((None, of) for of in content)
        for name, entry in entries:
            for row in rows(entry, rest):
                depth = f"*{rest.count('*') + 1}"
                yield row if name is None else {depth: name, **row}
        return
    yield {key: value for key, value in content.items() if _is_cell(value)}


def _is_cell(value: Any) -> bool:
    pair = isinstance(value, list) and len(value) == 2
    numbers = pair and all(isinstance(part, int | float) for part in value)
    return numbers or value is None or isinstance(value, str | int | float)


def section(name: str, content: dict[str, Any]) -> str:
    """Return the section of the page on a benchmark."""
    benchmark, origin, result = BENCHMARKS[name], content["origin"], content["result"]
    table = list(rows(result, benchmark.rows))
    titles = frame.columns(table)
    lines = [
        "| " + " | ".join("" if title.startswith("*") else title for title in titles) + " |",
        "|" + "|".join("---" if place == 0 else "--:" for place in range(len(titles))) + "|",
    ]
    for row in table:
        lines.append("| " + " | ".join(frame.cell(row.get(title)) for title in titles) + " |")
    machine, versions = origin["machine"], origin["versions"]
    setting = result.get("setting", {}) if isinstance(result, dict) else {}
    of_setting = "".join(f", {key} {frame.cell(value)}" for key, value in setting.items())
    return "\n".join(
        [
            f"## {benchmark.question}",
            "",
            f"{benchmark.reading} `{origin['command']}`{of_setting}.",
            "",
            *lines,
            "",
            f"{origin['date']}, commit {origin['commit']}; {machine['cores']} cores of "
            f"{machine['processor']}, {machine['GiB']} GiB, load {machine['load']}; "
            + ", ".join(f"{package} {version}" for package, version in versions.items())
            + ".",
        ]
    )


def page(results: Path) -> str:
    """Return the page of all kept results, and the names of benchmarks without one."""
    kept = {name: results / f"{name}.json" for name in BENCHMARKS}
    sections = [
        section(name, json.loads(file.read_text(encoding="utf-8")))
        for name, file in kept.items()
        if file.exists()
    ]
    missing = [name for name, file in kept.items() if not file.exists()]
    notes = [f"Not measured yet: {', '.join(missing)}."] if missing else []
    return "\n\n".join([HEAD, *notes, *sections]) + "\n"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="(default: all)")
    parser.add_argument("--smallest", action="store_true", help="measure as little as possible")
    parser.add_argument("--results", type=Path, help="directory of the JSON files")
    parser.add_argument("--page", action="store_true", help="write the page only")
    arguments = parser.parse_args(words)
    if unknown := set(arguments.names) - set(BENCHMARKS):
        parser.error(f"{', '.join(unknown)}: benchmarks are {', '.join(BENCHMARKS)}")
    with tempfile.TemporaryDirectory() as scratch:
        results = arguments.results or (Path(scratch) if arguments.smallest else RESULTS)
        results.mkdir(parents=True, exist_ok=True)
        for name in () if arguments.page else arguments.names or BENCHMARKS:
            if BENCHMARKS[name].corpora and "AUGURY_DATA" not in os.environ:
                print(f"{name}: not run, AUGURY_DATA names no corpora", file=sys.stderr)
                continue
            print(f"{name}: {BENCHMARKS[name].question}", flush=True)
            content = run(name, arguments.smallest)
            print(frame.table(list(rows(content["result"], BENCHMARKS[name].rows))), flush=True)
            file = results / f"{name}.json"
            file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if not arguments.smallest:
        PAGE.write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
