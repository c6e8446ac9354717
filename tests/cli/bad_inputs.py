"""Hundreds of bad inputs to the command line, and what it says of each.

    PYTHONPATH=platform:. python -m tests.cli.bad_inputs [--show CLASS]

Prints how many tries of every group end in which class, and the tries of one class: `refused` with
a message of what to do, `accepted`, `raw` (an exception that nobody has translated, or a traceback)
or `hang`.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import itertools
import json
import lzma
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from augury.cli import main
from tests import tiny

STORED = Path(__file__).parents[1] / "data" / "stored_schema_1"
"""A storage with a run."""
RUN = "tiny/tiny/1"
SECONDS = 60.0
"""A command hangs that does nothing for so long, or computes for so long."""
CLASSES = ("refused", "accepted", "raw", "hang")

LINES = [f"su rizo {word} kumu" for word in "abcdefghijklmnopqrst"]
TEXT = "".join(f"{line}\n" for line in LINES)
NOISE = random.Random(1).randbytes(4000)
LONG = "x" * 300


class Try(NamedTuple):
    """A command, and what it reads from standard input."""

    words: tuple[str, ...]
    input: bytes = TEXT.encode()


class Outcome(NamedTuple):
    """What became of a try."""

    kind: str
    message: str
    seconds: float
    """Processor time."""


class _Hang(BaseException):
    """Raised in a command that gives no answer."""


class _Patience:
    """Raises `_Hang` in a command that hangs; one that goes on slowly, on a busy machine, does
    not."""

    def __init__(self) -> None:
        self.began = self.seen = time.process_time()

    def __enter__(self) -> None:
        self.before = signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, SECONDS, SECONDS)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)

    def _look(self, *_: object) -> None:
        now = time.process_time()
        if now - self.seen < 0.1 or now - self.began > SECONDS:
            raise _Hang
        self.seen = now


def outcome(words: Sequence[str], given: bytes) -> Outcome:
    """Run a command in this process and classify its end."""
    output, errors, start = io.StringIO(), io.StringIO(), time.process_time()
    standard_input, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(given))
    try:
        with (
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(errors),
            _Patience(),
        ):
            code: Any = main(words)
    except SystemExit as end:
        code = end.code
    except _Hang:
        return Outcome("hang", "", SECONDS)
    except BaseException as error:
        return Outcome("raw", f"{type(error).__name__}: {error}", time.process_time() - start)
    finally:
        sys.stdin = standard_input
    message = errors.getvalue().strip()
    return Outcome(_kind(code, message), message, time.process_time() - start)


def _kind(code: Any, message: str) -> str:
    if "Traceback" in message or "--debug shows the traceback" in message:
        return "raw"
    if code == 0:
        return "accepted"
    return "refused" if code in (1, 2) and message else "raw"


def texts() -> dict[str, bytes]:
    """Return the contents of text files that are not as they should be, by names of files."""
    plain = TEXT.encode()
    return {
        "empty": b"",
        "newline": b"\n",
        "spaces": b"  \n" * 20,
        "one-row": b"su rizo\n",
        "one-more": plain + b"one\n",
        "binary": NOISE,
        "nul": plain.replace(b"rizo", b"ri\0zo"),
        "nuls": bytes(4000),
        "bom": b"\xef\xbb\xbf" + plain,
        "utf16": TEXT.encode("utf-16"),
        "utf16-be": TEXT.encode("utf-16-be"),
        "utf32": TEXT.encode("utf-32"),
        "latin1": plain.replace(b"rizo", b"r\xefzo"),
        "surrogates": plain.replace(b"rizo", b"\xed\xa0\x80"),
        "crlf": plain.replace(b"\n", b"\r\n"),
        "cr": plain.replace(b"\n", b"\r"),
        "mixed": plain.replace(b"\n", b"\r\n", 7),
        "separators": plain.replace(b" ", "\u2028".encode()),
        "controls": plain.replace(b" ", b"\x07"),
        "no-end": plain.rstrip(b"\n"),
        "huge-line": b"su " * 1_000_000 + b"\n" + plain,
        "same": b"su rizo\n" * 20,
        "cut.gz": gzip.compress(NOISE)[:2000],
        "noise.gz": b"\x1f\x8b" + NOISE,
        "flipped.gz": _flipped(gzip.compress(plain)),
        "empty.gz": gzip.compress(b""),
        "plain.gz": plain,
        "cut.xz": lzma.compress(NOISE)[:2000],
        "noise.xz": b"\xfd7zXZ\x00" + NOISE,
        "noise.zst": b"\x28\xb5\x2f\xfd" + NOISE,
        "noise.zip": b"PK\x03\x04" + NOISE,
    }


def _flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]


def tables() -> dict[str, bytes]:
    """Return the contents of tables with faults, by names of files."""
    rows = [f"{line},{'affirmative' if n % 2 else 'negative'}" for n, line in enumerate(LINES)]
    csv = "\n".join(["text,label", *rows, ""])
    records = [dict(zip(("text", "label"), row.split(","), strict=True)) for row in rows]
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    frame = pa.Table.from_pylist(records)
    return {
        "empty.csv": b"",
        "header.csv": b"text,label\n",
        "no-header.csv": "\n".join(rows).encode(),
        "one-row.csv": f"text,label\n{rows[0]}\n".encode(),
        "wrong.csv": csv.replace("text,label", "a,b").encode(),
        "duplicate.csv": csv.replace("text,label", "text,text").encode(),
        "unnamed.csv": csv.replace("text,label", ",").encode(),
        "short-row.csv": csv.replace(rows[3], "su").encode(),
        "long-row.csv": csv.replace(rows[3], f"{rows[3]},x,y").encode(),
        "quote.csv": csv.replace(rows[3], f'"{rows[3]}').encode(),
        "crlf.csv": csv.replace("\n", "\r\n").encode(),
        "mixed.csv": csv.replace("\n", "\r\n", 5).encode(),
        "bom.csv": csv.encode("utf-8-sig"),
        "utf16.csv": csv.encode("utf-16"),
        "nul.csv": csv.replace("rizo", "ri\0zo").encode(),
        "binary.csv": NOISE,
        "huge.csv": csv.replace("rizo", "rizo " * 200_000, 1).encode(),
        "one-label.csv": csv.replace("affirmative", "negative").encode(),
        "no-label.csv": csv.replace("affirmative", "").encode(),
        "gzip.csv": gzip.compress(csv.encode())[:100],
        "parquet.csv": _parquet(frame),
        "tabs.tsv": csv.replace(",", "\t").encode(),
        "commas.tsv": csv.encode(),
        "empty.jsonl": b"",
        "array.jsonl": json.dumps(records).encode(),
        "object.json": json.dumps({"rows": records}).encode(),
        "broken.jsonl": lines.replace("}", "", 1).encode(),
        "numbers.jsonl": b'{"text": 1, "label": 2}\n' * 20,
        "nulls.jsonl": b'{"text": null, "label": null}\n' * 20,
        "lists.jsonl": b'{"text": ["a"], "label": {"b": 1}}\n' * 20,
        "scalars.jsonl": b"1\n2\n",
        "missing.jsonl": (lines + '{"text": "su"}\n').encode(),
        "duplicate.jsonl": b'{"text": "su", "text": "ba", "label": "negative"}\n' * 20,
        "surrogate.jsonl": b'{"text": "\\ud800", "label": "negative"}\n' * 20,
        "deep.jsonl": b'{"text": ' + b"[" * 3000 + b"]" * 3000 + b"}\n",
        "noise.parquet": NOISE,
        "empty.parquet": b"",
        "cut.parquet": _parquet(frame)[:-100],
        "flipped.parquet": _flipped(_parquet(frame)),
        "no-rows.parquet": _parquet(frame.slice(0, 0)),
        "numbers.parquet": _parquet(pa.table({"text": range(20), "label": range(20)})),
        "nulls.parquet": _parquet(pa.table({"text": pa.nulls(20), "label": pa.nulls(20)})),
        "lists.parquet": _parquet(pa.table({"text": [["a"]] * 20, "label": ["b"] * 20})),
        "bytes.parquet": _parquet(pa.table({"text": [b"\xff"] * 20, "label": ["b"] * 20})),
        "csv.parquet": csv.encode(),
        "excel.xlsx": b"PK\x03\x04" + NOISE,
        "unknown.ods": NOISE,
    }


def _parquet(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


def experiments(good: str) -> dict[str, bytes]:
    """Return the contents of experiment files with faults, by names of files."""
    plain = good.encode()
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for name, before in itertools.pairwise("abcdefghij"):
        bomb += f"{before}: &{before} [{', '.join([f'*{name}'] * 9)}]\n"
    return {
        "empty.yaml": b"",
        "comment.yaml": b"# nothing\n",
        "scalar.yaml": b"nmt\n",
        "number.yaml": b"1\n",
        "list.yaml": b"- a\n- b\n",
        "tabs.yaml": b"name: x\n\ttask: nmt\n",
        "colon.yaml": b"name: x: y\n",
        "open.yaml": b"name: [x\n",
        "quote.yaml": b'name: "x\n',
        "two.yaml": plain + b"---\n" + plain,
        "twice.yaml": plain + b"name: again\n",
        "binary.yaml": NOISE,
        "nul.yaml": plain + b"x: \0\n",
        "utf16.yaml": good.encode("utf-16"),
        "latin1.yaml": plain + b"x: \xef\n",
        "bom.yaml": b"\xef\xbb\xbf" + plain,
        "crlf.yaml": plain.replace(b"\n", b"\r\n"),
        "python.yaml": b"name: !!python/object/apply:os.getcwd []\n",
        "tag.yaml": b"name: !mine x\n",
        "alias.yaml": b"name: *nowhere\n",
        "bomb.yaml": bomb.encode(),
        "cycle.yaml": b"name: &a [*a]\n",
        "deep.yaml": b"name: " + b"[" * 3000 + b"]" * 3000 + b"\n",
        "keys.yaml": b"1: x\nnull: y\n[a]: z\n",
        "merge.yaml": b"<<: 1\n",
        "date.yaml": plain + b"seeds: 2026-01-01\n",
        "unknown.yaml": plain + b"nonsense: 1\n",
        "itself.yaml": b"extends: itself.yaml\n",
        "nowhere.yaml": b"extends: missing.yaml\n",
        "extends.yaml": b"extends: [1]\n",
        "json.json": b"{",
        "long.yaml": b"name: " + b"x" * 3_000_000 + b"\n",
    }


PLUGINS = {
    "empty.py": b"",
    "syntax.py": b"SPACE = (\nOPERATOR = )\n",
    "indent.py": b"if True:\nOPERATOR = 1\n",
    "binary.py": NOISE,
    "nul.py": b"OPERATOR = 1\0\n",
    "latin1.py": b"OPERATOR = '\xef'\n",
    "utf16.py": "OPERATOR = 1\n".encode("utf-16"),
    "coding.py": b"# -*- coding: nonsense -*-\nOPERATOR = 1\n",
    "raises.py": b"1 / 0\nOPERATOR = SPACE = METRIC = REGIME = TASK = 1\n",
    "no-message.py": b"raise ValueError\n",
    "imports.py": b"import nowhere_to_be_found\n",
    "exits.py": b"import sys\nsys.exit(3)\n",
    "base.py": b"class Odd(BaseException): pass\nraise Odd\n",
    "recursion.py": b"def f(): f()\nf()\n",
    "wrong.py": b"OPERATOR = SPACE = METRIC = REGIME = TASK = ANALYSIS = METRICS = ANALYSES = 1\n",
    "none.py": b"OPERATOR = SPACE = METRIC = REGIME = TASK = ANALYSIS = METRICS = None\n",
    "class.py": b"class OPERATOR: pass\nSPACE = METRIC = REGIME = TASK = OPERATOR\n",
    "text.txt": b"OPERATOR = 1\n",
}
SPACES = {
    "empty.yaml": b"",
    "list.yaml": b"- a\n",
    "broken.yaml": b"keys: [\n",
    "unknown.yaml": b"question: x\nnonsense: 1\n",
    "no-keys.yaml": b"question: x\nbase: good.yaml\n",
    "keys.yaml": b"question: x\nbase: good.yaml\nkeys: 1\nmetric: valid/loss\n",
    "no-base.yaml": b"question: x\nbase: nowhere.yaml\nkeys: {regime.beta: [1]}\n",
    "key.yaml": b"question: x\nbase: good.yaml\nkeys: {nonsense: [1]}\nmetric: valid/loss\n",
    "values.yaml": b"question: x\nbase: good.yaml\nkeys: {training.max_updates: [x]}\n"
    b"metric: valid/loss\n",
    "metric.yaml": b"question: x\nbase: good.yaml\nkeys: {training.max_updates: [2]}\nmetric: 1\n",
    "domain.yaml": b"question: x\nbase: good.yaml\nkeys: {training.max_updates: {gauss: [1]}}\n"
    b"metric: valid/loss\n",
    "arguments.yaml": b"question: x\nbase: good.yaml\n"
    b"keys: {training.learning_rate: {loguniform: [0, 1]}}\nmetric: valid/loss\n",
    "infinite.yaml": b"question: x\nbase: good.yaml\n"
    b"keys: {training.learning_rate: {uniform: [.inf, .nan]}}\nmetric: valid/loss\n",
    "seeds.yaml": b"question: x\nbase: good.yaml\nkeys: {training.max_updates: [2]}\nseeds: [x]\n"
    b"metric: valid/loss\n",
    "many.yaml": b"question: x\nbase: good.yaml\nkeys:\n"
    + b"".join(
        b"  training.%s: [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" % name
        for name in (
            b"max_updates",
            b"max_epochs",
            b"max_tokens",
            b"validate_every",
            b"patience",
            b"average_last",
            b"warmup_updates",
            b"accumulation",
        )
    )
    + b"metric: valid/loss\n",
    "binary.yaml": NOISE,
}
NAMES = (
    "",
    " ",
    ".",
    "..",
    "/",
    "/etc/passwd",
    "a/b",
    "../a",
    "a\0b",
    LONG,
    "a\nb",
    "-",
    "é" * 150,
    "\ud800",
    "C:\\x",
    "*",
    "🙂",
)
STORAGES = (
    "",
    " ",
    "/dev/null",
    "/proc/self/x",
    "/proc/nowhere",
    "/nowhere/below/x",
    "good.yaml",
    "good.yaml/x",
    "a\0b",
    LONG,
    "x" * 5000,
    "~nobody-there/x",
    "s3://",
    "s3:///x",
    "s3://?x",
    "s3://a?scheme=http&endpoint_override=127.0.0.1:1",
    "s3://a b?endpoint_override=127.0.0.1:1",
    "gs://",
    "hdfs://127.0.0.1:1/x",
    "foo://bar",
    "http://127.0.0.1:1/x",
    "file://",
    "file:///nowhere/x/y",
    "://",
    "\ud800",
)
NUMBERS = (
    "",
    "x",
    "-1",
    "0",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1e30",
    "9" * 400,
    "½",
    "٣",
    "1_0",
    "2.5",
    "0x10",
    "\0",
)
FLAGS = (
    ("encipher", "--key"),
    ("encipher", "--key", "1", "--min-count"),
    ("translate", RUN, "--beam"),
    ("translate", RUN, "--n-best"),
    ("translate", RUN, "--length-penalty"),
    ("score", "good.txt", "good.txt", "--language", "de", "--samples"),
    ("sweep", "good-space.yaml", "--dry-run", "--seeds"),
    ("sweep", "good-space.yaml", "--dry-run", "--at-once"),
    ("sweep", "good-space.yaml", "--dry-run", "--budget"),
    ("sweep", "good-space.yaml", "--dry-run", "--samples", "--search", "random"),
    ("sweep", "good-space.yaml", "--dry-run", "--worth"),
    ("gc", "results", "--hours"),
    ("watch", "results", "--once", "--every"),
    ("analyze", RUN, "--which", "outputs", "--sentences"),
    ("config", "good.yaml", "--syntax", "--set"),
)
"""Flags that take a number, or an assignment, with the words before them."""
CHOSEN = (
    ("translate", RUN, "--views"),
    ("translate", RUN, "--tag"),
    ("translate", RUN, "--utility"),
    ("score", "good.txt", "good.txt", "--metrics"),
    ("score", "good.txt", "good.txt", "--language"),
    ("compare", RUN, "--reference"),
    ("compare", RUN, "--format"),
    ("compare", RUN, "--metrics"),
    ("analyze", RUN, "--which"),
    ("analyze", RUN, "--which", "outputs", "--test"),
    ("init", "--force", "new.yaml", "--source", "good.txt", "--target", "good.txt", "--task"),
    ("init", "--force", "new.yaml", "--train", "good.csv", "--columns"),
    ("init", "--force", "new.yaml", "--train", "good.csv", "--language"),
    ("runs", "results", "--state"),
    ("runs", "results", "--task"),
    ("runs", "results", "--tagged"),
    ("augment", "good.yaml", "--operator"),
    ("list",),
    ("reproduce",),
    ("demo", "--task"),
    ("encipher", "--key", "1", "--alphabet"),
    ("encipher", "--key", "1", "--alphabet-from"),
    ("submit", "--follow", "x", "--address"),
)
"""Flags that take names, files or addresses, with the words before them."""
CHOICES = (
    "",
    " ",
    "nonsense",
    "..",
    "a\0b",
    LONG,
    "./nowhere.py",
    "1",
    "binary",
    "http://127.0.0.1:1",
)
TRACKING = (
    "",
    "x://y",
    "http://127.0.0.1:1",
    "http://",
    "mysql://127.0.0.1:1/x",
    "sqlite:////dev/null/x",
    "sqlite:///good.yaml",
    "file:///nowhere/x",
    "databricks",
    "a\0b",
)


def write(directory: Path) -> None:
    """Write good and bad files into a directory, in which the tries run."""
    content = tiny.content(
        "nmt", directory / "results", augment=[{"operator": "cipher", "keys": [1]}]
    )
    good = yaml.safe_dump(content)
    (directory / "good.yaml").write_text(good)
    (directory / "good.txt").write_text(TEXT)
    (directory / "other.txt").write_text(TEXT.upper())
    (directory / "good.csv").write_text("text,label\n" + "su rizo,a\nba kumu,b\n" * 10)
    (directory / "good-space.yaml").write_text(
        "question: Does it matter?\nbase: good.yaml\nkeys: {training.max_updates: [1, 2]}\n"
        "metric: valid/loss\n"
    )
    groups = {"texts": texts(), "tables": tables(), "experiments": experiments(good)}
    groups |= {"plugins": PLUGINS, "spaces": SPACES}
    for name, files in groups.items():
        (directory / name).mkdir()
        for file, data in files.items():
            (directory / name / file).write_bytes(data)
    (directory / "spaces" / "good.yaml").write_text(good)
    (directory / "texts" / "directory").mkdir()
    (directory / "texts" / "loop").symlink_to("loop")
    (directory / "tables" / "nothing.parquet").mkdir()
    os.mkfifo(directory / "texts" / "pipe")


def of_texts(directory: Path) -> Iterator[Try]:
    """Text files in every place that reads some."""
    for path in sorted((directory / "texts").iterdir()):
        name = f"texts/{path.name}"
        pair = json.dumps({"source": name, "target": "other.txt"})
        yield Try(("config", "good.yaml", "--set", f"corpus.train={pair}"))
        yield Try(("init", "--force", "new.yaml", "--source", name, "--target", "other.txt"))
        yield Try(("score", name, "good.txt", "--language", "de"))
        yield Try(("align", name, "other.txt"))
        if path.is_file():
            yield Try(("encipher", "--key", "1"), path.read_bytes())
            yield Try(
                ("translate", RUN, "--storage", "results", "--long", "cut"), path.read_bytes()
            )


def of_tables(directory: Path) -> Iterator[Try]:
    """Tables of labelled sentences and of pairs."""
    labelled = yaml.safe_dump(tiny.content("classification", directory / "results"))
    (directory / "labelled.yaml").write_text(labelled)
    for path in sorted((directory / "tables").iterdir()):
        name = f"tables/{path.name}"
        text = json.dumps({"file": name})
        pair = json.dumps({"file": name, "source_column": "text", "target_column": "label"})
        yield Try(("init", "--force", "new.yaml", "--train", name))
        yield Try(("config", "labelled.yaml", "--set", f"corpus.train={text}"))
        yield Try(("config", "good.yaml", "--set", f"corpus.train={pair}"))


def of_experiments(directory: Path) -> Iterator[Try]:
    """Experiment files."""
    for path in sorted((directory / "experiments").iterdir()):
        name = f"experiments/{path.name}"
        yield Try(("config", name, "--syntax"))
        if not path.name.startswith(("bom", "crlf", "long")):  # they are good, or nearly
            yield Try(("train", name))
            yield Try(("sweep", "augmentations", name, "--dry-run"))


def of_plugins(directory: Path) -> Iterator[Try]:
    """Python files where plug-ins are named."""
    for path in sorted((directory / "plugins").iterdir()):
        name = f"./plugins/{path.name}"
        yield Try(("sweep", name, "--dry-run"))
        yield Try(("augment", "good.yaml", "--operator", name))
        yield Try(("score", "good.txt", "good.txt", "--language", "de", "--metrics", name))
        yield Try(("config", "good.yaml", "--syntax", "--set", f"regime={name}"))
        yield Try(("config", "good.yaml", "--syntax", "--set", f"task={name}"))
        yield Try(("analyze", RUN, "--storage", "results", "--which", name))


def of_spaces(directory: Path) -> Iterator[Try]:
    """Search spaces in YAML."""
    for path in sorted((directory / "spaces").iterdir()):
        yield Try(("sweep", f"spaces/{path.name}", "--dry-run"))


def of_flags(directory: Path) -> Iterator[Try]:
    """Values of flags."""
    for words in FLAGS:
        for value in NUMBERS:
            yield Try((*words, value))
    for words in CHOSEN:
        for value in CHOICES[words[0] == "submit" :]:  # without one it asks any Ray of the machine
            yield Try((*words, value))
    for uri in TRACKING:
        yield Try(("track", "results", "--uri", uri))


def of_names(directory: Path) -> Iterator[Try]:
    """Names of sweeps, runs, systems and tests."""
    for name in NAMES:
        yield Try(("sweep", "good-space.yaml", "--dry-run", "--name", name))
        yield Try(("runs", "results", RUN, "--name", name))
        yield Try(("runs", "results", RUN, "--tag", name))
        yield Try(("watch", name, "--once"))
        yield Try(("translate", name))
        yield Try(("config", "good.yaml", "--syntax", "--set", f"name={json.dumps(name)}"))
        test = json.dumps({name: {"builtin": 6}})
        yield Try(("config", "good.yaml", "--syntax", "--set", f"corpus.tests={test}"))
        yield Try(("export", RUN, "--to", "ctranslate2", "--output", f"results/{name}"))


def of_storages(directory: Path) -> Iterator[Try]:
    """Paths and URIs of storages."""
    for root in STORAGES:
        yield Try(("config", "good.yaml", "--set", f"storage={json.dumps(root)}"))
        for verb in ("runs", "verify", "gc"):
            yield Try((verb, root))
        yield Try(("watch", "--storage", root, "--once"))
        yield Try(("translate", RUN, "--storage", root))
        yield Try(("sweep", "good-space.yaml", "--dry-run", "--storage", root))


GROUPS: dict[str, Callable[[Path], Iterator[Try]]] = {
    "text files": of_texts,
    "tables": of_tables,
    "experiment files": of_experiments,
    "plug-in files": of_plugins,
    "search spaces": of_spaces,
    "flags": of_flags,
    "names": of_names,
    "storages": of_storages,
}


def outcomes(group: str) -> Iterator[tuple[Try, Outcome]]:
    """Run the tries of a group, each in a directory with the same files, a storage among them."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        write(directory)
        os.chdir(directory)
        try:
            outcome(["config", "good.yaml"], b"")  # imports, which take seconds
            for attempt in GROUPS[group](directory):
                shutil.rmtree(directory / "results", ignore_errors=True)
                shutil.copytree(STORED, directory / "results")
                yield attempt, outcome(attempt.words, attempt.input)
        finally:
            os.chdir(before)


def report(show: Sequence[str], groups: Sequence[str]) -> None:
    """Print the classes of every group, as Markdown, and the tries of some classes."""
    print("| bad input | tries | refused in a line | accepted | raw | hangs | most CPU time |")
    print("|---|---|---|---|---|---|---|")
    total: Counter[str] = Counter()
    for group in groups:
        tried = list(outcomes(group))
        counts = Counter(end.kind for _, end in tried)
        total += counts
        longest = max(end.seconds for _, end in tried)
        numbers = " | ".join(str(counts[kind]) for kind in CLASSES)
        print(f"| {group} | {len(tried)} | {numbers} | {longest:.1f} s |", flush=True)
        for attempt, end in tried:
            if end.kind in show:
                print(f"    {end.kind}: {ascii(attempt.words)[:160]}\n        {end.message[-600:]}")
    print(f"| all | {total.total()} | {' | '.join(str(total[kind]) for kind in CLASSES)} | |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--show", nargs="+", default=["raw", "hang"], choices=CLASSES)
    parser.add_argument("--groups", nargs="+", default=list(GROUPS), choices=list(GROUPS))
    chosen = parser.parse_args()
    report(chosen.show, chosen.groups)
