"""Freeze what must not change while code is rebuilt: run small experiments, keep what they give.

    python tests/goldens.py write FOLDER [NAME ...]     runs the experiments, or these; minutes
    python tests/goldens.py compare A B
    python tests/goldens.py freeze                      rewrites tests/goldens/

`write` runs the code of its own checkout by the command line, on this process (`NAME-local`) and on
Ray (`NAME-ray`, which is equal). What it writes is compared within one machine, before a change
against after it, as processors round differently. `compare` prints every difference and exits with
1 if there is any.

What needs no learning (addresses, texts, tokens, ciphers, batches) is committed in `tests/goldens/`
and compared by `test_goldens.py`. Where an address or a text changes for a reason, `freeze` writes
these files anew, and the commit and `CHANGELOG.md` say why.

Left out are times, costs in time, paths, versions, and names of machines.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import yaml

ROOT = Path(__file__).parents[1]
COMMITTED = Path(__file__).with_suffix("")
EXPERIMENTS = COMMITTED / "experiments"
ROWS = ["R-Drop", "ROT-1", "WordDrop", "EDA"]
RACE = ["sweep", "augmentations", "race.yaml", "--rows", *ROWS, "--name", "race"]
TABLE = ["reproduce", str(ROOT / "tests/cli/quick_table.py"), "--storage", "store"]
COMMANDS: dict[str, list[list[str]]] = {
    "systems": [
        ["train", "systems.yaml", "--json"],
        ["compare", "systems", "--storage", "store", "--json"],
        ["compare", "systems", "--storage", "store", "--format", "csv"],
    ],
    "race": [
        [*RACE, "--json"],
        ["compare", "race", "--storage", "store", "--format", "csv"],
    ],
    "grid": [["sweep", "grid.yaml", "--storage", "store", "--scheduler", "all", "--json"]],
    "stages": [["train", "stages.yaml", "--json"]],
    "nli": [
        ["train", "nli.yaml", "--json"],
        ["compare", "nli", "--storage", "store", "--format", "csv"],
    ],
    "table": [[*TABLE, "--json"], [*TABLE, "--format", "csv"]],
}
"""Experiment -> its commands, whose outputs are kept; the first one trains."""
SPACES = ["augmentations", "agreement", "pgd"]
TABLES = ["cipherdaug/table2", "noisy_nmt/table3", "xnli_adversarial/table2"]
LEFT_OUT = re.compile(
    r"seconds|time|hours|memory|bytes|^page$|hardware|processor|device|version|started|updated|"
    r"deadline|heartbeat|^front$|schema|^checksums?$|per_second|^rough$|^recommended$|^settle$|"
    r"^reused$|^commit$|^prefix"
)
"""Keys, and columns of tables, whose values are not determined, or are compared elsewhere."""
SPOKEN = re.compile(
    r"[^ ,]*/(?=(?:runs|sweeps|reports)/)|\d+(?:\.\d+)? × the \w+ time|"
    r"\d+(?:\.\d+)? (?:s|min|h|ms|days?|CPU h)\b"
)
"""Times and paths inside sentences."""
KEPT = ("rows", "inputs", "rows_in", "rejected", "counts", "views", "corpus")
"""What the manifests of texts say about them, besides their files."""
Run = Callable[[Sequence[str], Path], str]
"""Runs an `augury` command in a folder and returns what it prints."""


def in_subprocess(words: Sequence[str], folder: Path) -> str:
    """Run a command of this checkout in a process of its own; what fails is an error."""
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    environment |= {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "platform"), str(ROOT)]),
        "XDG_STATE_HOME": str(folder / "state"),
        "AUGURY_ALLOW_CODE": "any",
        "OMP_NUM_THREADS": "1",
        "RAY_AUTH_MODE": "disabled",
    }
    command = [sys.executable, "-m", "augury.cli", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    failed = 1 if words[0] == "reproduce" else 0  # a row of that table has no model
    if done.returncode not in (0, failed):
        raise SystemExit(f"{' '.join(command)}: {done.returncode}\n{done.stderr[-4000:]}")
    return done.stdout


def write(folder: Path, names: Sequence[str]) -> None:
    """Run experiments on this process and on Ray; write what they give."""
    for name in names or COMMANDS:
        for executor in ("local", "ray"):
            with tempfile.TemporaryDirectory() as work:
                shutil.copytree(EXPERIMENTS, work, dirs_exist_ok=True)
                target = folder / f"{name}-{executor}"
                shutil.rmtree(target, ignore_errors=True)
                for words in COMMANDS[name]:
                    setting = ["--set", f"execution.executor={executor}"]
                    output = in_subprocess(
                        words if words[0] == "compare" else [*words, *setting], Path(work)
                    )
                    form = "csv" if "csv" in words else "json"
                    put(target / f"{words[0]}.{form}", tidied(output, form))
                write_storage(Path(work) / "store", target)


def write_storage(store: Path, target: Path) -> None:
    """Write the addresses, checksums and results of a storage."""
    put(target / "texts.tsv", texts(store))
    trained = [marker.parent for marker in store.glob("runs/*/seed-*/manifest.json")]
    runs = {f"{run.parent.name}/{run.name}": result(run) for run in trained}
    put(target / "runs.json", as_json(runs))
    for sweep in store.glob("sweeps/*"):
        state = {name: json.loads((sweep / f"{name}.json").read_text()) for name in STATE}
        shown = {name: tidy(state[name]) for name in STATE}
        put(target / f"sweep-{sweep.name}.json", as_json(shown))
        if (sweep / "recommended.yaml").exists():
            recommended = yaml.safe_load((sweep / "recommended.yaml").read_text())
            put(target / f"recommended-{sweep.name}.json", as_json(tidy(recommended)))


STATE = ("sweep", "state")
"""The files of a sweep: its definition; trials and the choice."""


def texts(store: Path) -> str:
    """Return lines with the checksums of prepared texts, and of all that is learned from them."""
    lines = []
    for manifest in store.glob("*/*/manifest.json"):
        kept = {key: value for key, value in read(manifest).items() if key in KEPT}
        address = f"{manifest.parent.parent.name}/{manifest.parent.name}"
        lines.append(f"{address}\t{json.dumps(kept, sort_keys=True)}")
        for file in manifest.parent.iterdir():
            if file.is_file() and file.name != "manifest.json":
                lines.append(f"{address}/{file.name}\t{checksum(file)}{beginning(file)}")
    return "".join(f"{line}\n" for line in sorted(lines))


def beginning(file: Path) -> str:
    """Return the text of the first row of a table, to be read in a difference."""
    if file.suffix != ".parquet":
        return ""
    first = pq.read_table(file).slice(0, 1).to_pylist()
    return "".join(f"\t{row.get('text') or row.get('source') or row}" for row in first)


def checksum(file: Path) -> str:
    """Return a checksum of a file: of the rows of a table, the arrays of weights, or its bytes."""
    content = file.read_bytes()
    if file.suffix == ".parquet":
        content = json.dumps(pq.read_table(file).to_pylist(), default=str).encode()
    if file.suffix == ".safetensors":  # the tensors alone: a header may have metadata
        from safetensors.numpy import load

        tensors = sorted(load(content).items())
        kept = [(name, array.shape, array.dtype.str, array.tobytes()) for name, array in tensors]
        content = repr(kept).encode()
    return hashlib.sha256(content).hexdigest()[:16]


def result(run: Path) -> dict[str, Any]:
    """Return what a run has learned and said."""
    validations = {}
    for line in (run / "history.jsonl").read_text().splitlines():
        record = json.loads(line)
        valid = {key: value for key, value in record["metrics"].items() if "valid/" in key}
        if valid:
            validations[str(record["update"])] = valid
    outputs = {file.name: file.read_text().splitlines() for file in run.glob("hypotheses/*")}
    statistics = {file.name: arrays(file) for file in run.glob("counts/*.npz")}
    return {
        "weights": checksum(run / "weights.safetensors"),
        "outcome": tidy(read(run / "outcome.json")),
        "inputs": tidy(read(run / "run.json")["inputs"]),
        "validations": validations,
        "hypotheses": outputs,
        "scores": tidy(read(run / "scores.json")["tests"]) if outputs else None,
        "statistics": statistics,
    }


def arrays(file: Path) -> dict[str, str]:
    """Return a checksum of every array of a file."""
    with np.load(file) as content:
        return {name: hashlib.sha256(content[name].tobytes()).hexdigest()[:16] for name in content}


def read(file: Path) -> Any:
    """Return the content of a JSON file."""
    return json.loads(file.read_text())


def as_json(value: Any) -> str:
    """Return JSON with sorted keys."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def put(file: Path, content: str) -> None:
    """Write a file, and the folders above it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)


def tidied(output: str, form: str) -> str:
    """Return the output of a command without what is not determined."""
    if form == "json":
        return as_json(tidy(json.loads(output)))
    rows = list(csv.reader(io.StringIO(output)))
    kept = [place for place, name in enumerate(rows[0]) if not LEFT_OUT.search(name)]
    lines = ["\t".join(row[place] for place in kept if place < len(row)) for row in rows]
    return SPOKEN.sub("…", "".join(f"{line}\n" for line in lines))


def tidy(value: Any) -> Any:
    """Return a value without what is not determined; entries of lists by their address, seed or
    name, so that additional ones move no others."""
    if isinstance(value, str):
        return SPOKEN.sub("…", value)
    if isinstance(value, Mapping):
        kept = {key: item for key, item in value.items() if not LEFT_OUT.search(str(key))}
        return {SPOKEN.sub("…", str(key)): tidy(item) for key, item in kept.items()}
    if not isinstance(value, list):
        return value
    for key in ("address", "seed", "name", "row"):
        if value and all(isinstance(item, Mapping) and key in item for item in value):
            keyed = {str(item[key]): tidy(item) for item in value}
            if len(keyed) == len(value):
                return keyed
    return [tidy(item) for item in value]


def compare(before: Path, after: Path) -> int:
    """Print the differences of two folders; return their number."""
    files = {str(file.relative_to(side)) for side in (before, after) for file in side.rglob("*.*")}
    differences = 0
    for name in sorted(files):
        first, second = (flat(side / name) for side in (before, after))
        for key in sorted(first.keys() | second.keys()):
            if first.get(key) != second.get(key):
                print(f"{name}: {key}: {first.get(key, 'none')} != {second.get(key, 'none')}")
                differences += 1
    return differences


def flat(file: Path) -> dict[str, str]:
    """Return the values of a file by their places; empty where there is none."""
    if not file.exists():
        return {}
    if file.suffix == ".json":
        return flat_value("", read(file))
    lines = [line.partition("\t") for line in file.read_text().splitlines()]
    keys = [key for key, _, _ in lines]
    if len({*keys}) == len(keys):
        return {key: value for key, _, value in lines}
    return {str(place): "\t".join((key, value)) for place, (key, _, value) in enumerate(lines)}


def flat_value(place: str, value: Any) -> dict[str, str]:
    """Return the values inside a JSON value by their places."""
    items: dict[str, str] = {}
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, dict) or not value:
        return {place: json.dumps(value, ensure_ascii=False)}
    for key, item in value.items():
        items |= flat_value(f"{place}.{key}" if place else str(key), item)
    return items


def fixed(folder: Path, run: Run) -> dict[str, str]:
    """Return what needs no learning, by the name of its file; works in an empty folder."""
    shutil.copytree(EXPERIMENTS, folder, dirs_exist_ok=True)
    addresses = []
    for name in ("systems", "race", "stages", "nli", "texts"):
        by_address: dict[str, str] = {}
        for kind, called, address, inputs in nodes(folder, f"{name}.yaml"):
            line = f"{name}\t{kind}\t{called}\t{address}\t{' '.join(inputs)}"
            by_address.setdefault(address, line)
        addresses += by_address.values()
    dry = ["--scale", "toy", "--dry-run", "--json", "--storage", "store"]
    for table in TABLES:
        rows = json.loads(run(["reproduce", table, *dry], folder))["rows"]
        addresses += [f"{table}\trow\t{row['row']}\t{row['address']}\t" for row in rows]
    for space in SPACES:
        points = json.loads(run(["sweep", space, *dry], folder))["configurations"]
        addresses += [f"{space}\tpoint\t{point['name']}\t{point['address']}\t" for point in points]
    for name in ("texts", "nli"):  # one update, so that everything before it is made
        short = ["training.max_updates=1", "seeds=[1]", "corpus.tests={}", "health.stop=false"]
        settings = [word for setting in short for word in ("--set", setting)]
        run(["train", f"{name}.yaml", *settings, "--json"], folder)
    return {
        "addresses.tsv": "".join(f"{line}\n" for line in addresses),
        "texts.tsv": texts(folder / "store"),
        "batches.json": as_json(batches()),
    }


def nodes(folder: Path, file: str) -> Iterator[tuple[str, str, str, Iterable[str]]]:
    """Yield what an experiment makes, inputs first: kind, name, address and addresses of inputs."""
    from augury.augment.operator import RECORDS
    from augury.cli.config import _preflight
    from augury.corpora.ingest import cached_address
    from augury.experiments.graph import TRAIN, Step, validation_sets
    from augury.experiments.systems import load
    from augury.experiments.task import find_task

    with contextlib.chdir(folder):
        graph = _preflight(load(file, {})).graph
    for plan in graph.plans.values():
        experiment, task = plan.experiment, find_task(plan.experiment.task)
        splits = (TRAIN, *validation_sets(experiment), *experiment.test_sets)
        corpora = {split: f"corpora/{task.corpus_address(experiment, split)}" for split in splits}
        for split, address in corpora.items():
            yield "corpus", split, address, ()
        for part in plan.parts:
            inputs = [part.corpus.name]
            for name, extra in part.operator.texts().items():
                inputs.append(f"corpora/{cached_address(extra, TRAIN)}")
                yield "corpus", name, inputs[-1], ()
            if part.operator.learns:
                learned_from = f"corpora/{task.corpus_address(experiment.first, TRAIN)}"
                yield "fit", part.name, part.fit.name, [learned_from]
                inputs.append(part.fit.name)
            inputs += [name for name in part.model_names.values() if name.startswith("runs/")]
            kind = "records" if part.operator.makes() == RECORDS else "view"
            yield kind, part.name, part.folder.name, inputs
        tokenizer = plan.tokenizer.folder.name
        if plan.before is None:
            texts = dict.fromkeys(text.folder.name for text in plan.learned_from.values())
            yield "tokenizer", graph.names[Step(plan.address)], tokenizer, texts
        for name, text in plan.texts.items():
            yield "tokens", name, plan.tokens[name].name, [text.folder.name, tokenizer]
        for step, name in graph.names.items():
            if step.address == plan.address and step.seed is not None:
                run = plan.run(step.seed).name
                before = [plan.before.run(step.seed).name] if plan.before else []
                tokens = [folder.name for folder in plan.tokens.values()]
                yield "model", name, run, [*tokens, *before]
                if step in graph.scored:
                    tests = [corpora[test] for test in experiment.test_sets]
                    yield "scores", name, f"{run}/scores.json", [run, *tests]


def batches() -> dict[str, Any]:
    """Return planned epochs of rows whose lengths are given."""
    from augury.training.batching import Lengths, plan_epoch

    places = np.arange(60)
    lengths = Lengths(5 + places * 7 % 23, 4 + places * 11 % 19)
    weights = np.where(places < 40, 1.0, 2.5)
    plans: dict[str, dict[str, Any]] = {
        "by length": {},
        "two groups, epoch 1": {"groups": [60, 50], "epoch": 1},
        "two ranks, accumulated": {"world": 2, "accumulation": 2},
        "random, weights, seed 2": {"order": "random", "weights": weights, "seed": 2},
        "at most 4 examples": {"max_examples": 4},
    }
    return {
        name: [
            [[batch.tolist() for batch in rank] for rank in update]
            for update in plan_epoch(lengths, max_tokens=120, **{"seed": 1, "epoch": 0, **settings})
        ]
        for name, settings in plans.items()
    }


def main() -> int:
    """Run a command of this script; return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    writing = verbs.add_parser("write", help="run the experiments and write what they give")
    writing.add_argument("folder", type=Path)
    writing.add_argument("names", nargs="*", metavar="NAME", help=", ".join(COMMANDS))
    comparing = verbs.add_parser("compare", help="print every difference of two folders")
    comparing.add_argument("before", type=Path, metavar="A")
    comparing.add_argument("after", type=Path, metavar="B")
    verbs.add_parser("freeze", help="rewrite tests/goldens/")
    arguments = parser.parse_args()
    if arguments.verb == "compare":
        return int(compare(arguments.before, arguments.after) > 0)
    if arguments.verb == "write":
        write(arguments.folder, arguments.names)
        return 0
    sys.path[:0] = [str(ROOT / "platform"), str(ROOT)]
    with tempfile.TemporaryDirectory() as work:
        for name, content in fixed(Path(work), in_subprocess).items():
            put(COMMITTED / name, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
