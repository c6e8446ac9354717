"""What cannot be used is refused with exit code 2, in a line that names what was given."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import os
import random
import shlex
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from tests import tiny
from tests.cli.conftest import Augury

RUN = "tiny/tiny/1"
"""A run in the storage."""

LINES = [f"su rizo {word} kumu" for word in "abcdefghijklmnopqrst"]
TEXT = "".join(f"{line}\n" for line in LINES).encode()
NOISE = random.Random(1).randbytes(4000)
RECORDS = [{"text": line, "label": "ab"[row % 2]} for row, line in enumerate(LINES)]
CSV = "text,label\n" + "".join(f"{record['text']},{record['label']}\n" for record in RECORDS)
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in itertools.pairwise("abcdefghij")
)
"""Aliases of aliases, which the YAML of a few lines makes billions of items."""
GOOD = yaml.safe_dump(
    tiny.content(
        "nmt", Path("results"), augment=[{"operator": "cipher", "keys": [1]}], regime="multi_source"
    )
)
SPACE = "question: x\nbase: ../good.yaml\nmetric: valid/loss\nseeds: [1]\n"


def parquet(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


TABLE = parquet(pa.Table.from_pylist(RECORDS))

TEXTS = {
    "empty.txt": b"",
    "one-more.txt": TEXT + b"one\n",
    "binary.txt": NOISE,
    "utf16.txt": TEXT.decode().encode("utf-16"),
    "latin1.txt": TEXT.replace(b"rizo", b"r\xefzo"),
    "cut.gz": gzip.compress(NOISE)[:2000],
    "noise.zst": b"\x28\xb5\x2f\xfd" + NOISE,
}
"""Files of lines; beside them a directory, a link to itself, a pipe and nothing."""
TABLES = {
    "wrong.csv": CSV.replace("text,label", "a,b").encode(),
    "duplicate.csv": CSV.replace("text,label", "text,text").encode(),
    "short-row.csv": CSV.replace("su rizo d kumu,b", "su").encode(),
    "line-end.tsv": b"te\rxt\tlabel\nsu rizo d\ta\n",
    "quote.csv": CSV.replace("su rizo d", '"su rizo d').encode(),
    "broken.jsonl": b'{"text": "su"\n',
    "scalars.jsonl": b"1\n2\n",
    "deep.jsonl": b'{"text": ' + b"[" * 3000 + b"]" * 3000 + b"}\n",
    "cut.parquet": TABLE[:-100],
    "no-rows.parquet": parquet(pa.Table.from_pylist(RECORDS).slice(0, 0)),
}
EXPERIMENTS: dict[str, str | bytes] = {
    "scalar.yaml": "nmt\n",
    "tabs.yaml": "name: x\n\ttask: nmt\n",
    "colon.yaml": "name: x: y\n",
    "two.yaml": f"{GOOD}---\n{GOOD}",
    "twice.yaml": f"{GOOD}name: again\n",
    "latin1.yaml": b"x: \xef\n",
    "python.yaml": "name: !!python/object/apply:os.getcwd []\n",
    "bomb.yaml": BOMB,
    "deepest.yaml": "name: " + "[" * 300_000,
    "unknown.yaml": f"{GOOD}nonsense: 1\n",
    "extends.yaml": "extends: [1]\n",
}
PLUGINS = {
    "syntax.py": b"OPERATOR = )\n",
    "raises.py": b"1 / 0\n",
    "imports.py": b"import nowhere_to_be_found\n",
    "exits.py": b"import sys\nsys.exit(3)\n",
    "settings.py": b"class Task:\n    EXPERIMENT = dict\n\n\nTASK = Task()\n",
    "wrong.py": b"OPERATOR = SPACE = METRIC = REGIME = TASK = ANALYSIS = METRICS = ANALYSES = 1\n",
}
SPACES = {
    "keys.yaml": f"{SPACE}keys: 1\n",
    "no-base.yaml": "question: x\nbase: no-file.yaml\nkeys: {regime.beta: [1]}\n",
    "key.yaml": f"{SPACE}keys: {{nonsense: [1]}}\n",
    "values.yaml": f"{SPACE}keys: {{training.max_updates: [x]}}\n",
    "arguments.yaml": f"{SPACE}keys: {{training.learning_rate: {{loguniform: [0, 1]}}}}\n",
}
OF_SPACES = {"no-base.yaml": "no-file.yaml", "key.yaml": "nonsense", "values.yaml": "max_updates"}
"""What is named in place of the file."""
LANGUAGES = "--source-language de --target-language en"
AUGMENT = "augment --source good.txt --target good.txt --operator"
WORDS = [
    ("nonsense", "nonsense"),
    ("config good.yaml --set nonsense", "nonsense"),
    ("config good.yaml --set training.patience=x", "training.patience"),
    ("config good.yaml --set task=nonsense", "nonsense"),
    ("config good.yaml --set augment.7.keys=1", "augment.7.keys"),
    ("config good.yaml --set seeds=[-1]", "-1"),
    ("config good.yaml --set name=../a", "../a"),
    ("config good.yaml --set storage=/nowhere/below/x", "/nowhere/below"),
    (f"translate {RUN} --beam 0", "0"),
    ("compare good.txt --references good.txt --metrics nonsense", "nonsense"),
    ("compare good.txt --references nowhere.txt", "nowhere.txt"),
    (f"analyze {RUN} --which nonsense", "nonsense"),
    ("sweep spaces/good.yaml --dry-run --seeds 1 1", "[1, 1]"),
    ("sweep spaces/good.yaml --dry-run --at-once 0", "0"),
    ("runs nowhere", "nowhere"),
    ("track nowhere", "nowhere"),
    ("trian good.yaml", "did you mean 'train'"),
    ("compare good.txt good.txt --metrix bleu", "did you mean '--metrics'"),
    (f"{AUGMENT} ciper", "did you mean 'cipher'"),
    (f"{AUGMENT} cipher --set corpus.filter.max_ration=9", "did you mean 'max_ratio'"),
    ("init new.yaml --source good.txt --target nowhere.txt", "nowhere.txt"),
    ("init new.yaml --source good.txt --target good.txt --language de", "--source-language"),
    ("init new.yaml --train good.txt --task classification", "call a table .tsv"),
    (f"init good.yaml/new.yaml --source good.txt --target good.txt {LANGUAGES}", "good.yaml"),
    ("compare good.txt --references good.txt --language xx", "'xx'"),
]


def cases() -> Iterator[tuple[str, str]]:
    """Yield command lines, and what their messages have to name."""
    for name in [*TEXTS, "directory", "loop", "pipe", "nowhere.txt"]:
        pair = json.dumps({"source": f"texts/{name}", "target": "good.txt"})
        yield f"config good.yaml --set corpus.train={shlex.quote(pair)}", name
        if name != "one-more.txt":
            yield f"compare texts/{name} --references good.txt", name
    for name in TABLES:
        text = json.dumps({"file": f"tables/{name}"})
        yield f"config labelled.yaml --set corpus.train={shlex.quote(text)}", name
    for name in EXPERIMENTS:
        yield f"config experiments/{name} --resolved", name
    for name in PLUGINS:
        yield f"config good.yaml --resolved --set augment.0.operator=./plugins/{name}", name
        yield f"config good.yaml --resolved --set task=./plugins/{name}", name
        yield f"sweep ./plugins/{name} --dry-run", name
        yield f"compare good.txt --references good.txt --metrics ./plugins/{name}", name
    for name in SPACES:
        yield f"sweep spaces/{name} --dry-run", OF_SPACES.get(name, name)
    yield from WORDS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory with good files and bad ones, and a storage."""
    root = tmp_path_factory.mktemp("bad")
    labelled: dict[str, Any] = deepcopy(tiny.content("classification", Path("results")))
    labelled["corpus"]["labels"] = ["a", "b"]
    groups: dict[str, dict[str, Any]] = {"texts": TEXTS, "tables": TABLES, "plugins": PLUGINS}
    good = {"good.yaml": GOOD, "labelled.yaml": yaml.safe_dump(labelled), "good.txt": TEXT}
    space = f"{SPACE}keys: {{training.max_updates: [1, 2]}}\n"
    groups |= {"experiments": EXPERIMENTS, "spaces": SPACES | {"good.yaml": space}, ".": good}
    for group, files in groups.items():
        (root / group).mkdir(exist_ok=True)
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            (root / group / name).write_bytes(data)
    (root / "texts" / "directory").mkdir()
    (root / "texts" / "loop").symlink_to("loop")
    os.mkfifo(root / "texts" / "pipe")
    file = root / "trained.yaml"
    file.write_text(yaml.safe_dump(tiny.content("nmt", root / "results")))
    subprocess.run([sys.executable, "-m", "augury.cli", "train", file], check=True, cwd=root)
    return root


@pytest.mark.parametrize(("words", "named"), cases())
def test_it_is_refused_in_a_line_that_names_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, augury: Augury, words: str, named: str
) -> None:
    monkeypatch.chdir(folder)
    errors = augury(*shlex.split(words), code=2, text=TEXT).error
    message = errors[max(errors.find("augury: "), 0) :].strip()  # notices may stand before it
    assert "--debug shows" not in message
    first, *listed = message.splitlines()
    assert named in message and (not listed or first.endswith(":") or first.startswith("usage:"))
