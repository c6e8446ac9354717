"""How long does it take from text to a BLEU score, against a plain script?

    python -m benchmarks.time_to_bleu [--bleu 25] [--pairs 10000] [--valid 1014] [--updates 4000]
        [--every 125] [--vocabulary 4000] [--sizes 2 192 768 4] [--joeynmt PYTHON] [--json]

    augury        augury train EXPERIMENT
    transformers  benchmarks/peers/transformers_translation.py
    joeynmt       benchmarks/peers/joeynmt_translation.py, by the Python of an environment that has
                  joeynmt 2.3 and sentencepiece 0.2.0, if one is given

All read the same text files (Multi30k de-en if AUGURY_DATA is the directory of the corpora, else
the built-in corpus), learn a joint BPE vocabulary, train a transformer of the same sizes with the
same token budget, schedule and label smoothing, and translate all of the validation set greedily
every so many updates. The clock starts with the command and stops when a score reaches the goal, or
after the last update; then the command is stopped. One after the other: a core is never shared.

CPU and wall seconds are of the command with all its processes; `times` is the CPU time relative to
that of augury. Figures are of one run with one seed each: a seed moves the updates that it takes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import psutil
import yaml

from augury.core.store import Store
from augury.corpora import builtin
from augury.training import history
from benchmarks import frame

PEERS = Path(__file__).parent / "peers"
POLL_SECONDS = 0.5
WARMUP, RATE, MAX_TOKENS, THREADS = 400, 2e-3, 1_500, 1

Scores = list[tuple[int, float]]
"""Updates and BLEU of every validation so far."""


def write_texts(place: Path, pairs: int, valid: int = 1_014) -> tuple[str, dict[str, Path]]:
    """Write training and validation text; return the name of the text and the files."""
    files = {
        name: place / name.replace(" ", ".")
        for name in ("train de", "train en", "valid de", "valid en")
    }
    if "AUGURY_DATA" not in os.environ:
        for split, count in (("train", pairs), ("valid", valid)):
            rows = list(islice(builtin.pairs(split), count))
            files[f"{split} de"].write_text("".join(f"{german}\n" for german, _ in rows))
            files[f"{split} en"].write_text("".join(f"{english}\n" for _, english in rows))
        return "built-in corpus", files
    data = Path(os.environ["AUGURY_DATA"]) / "multi30k"
    sizes = {"train": pairs, "valid": valid}
    for name, file in files.items():
        split, language = name.split()
        source = data / f"{'val' if split == 'valid' else split}.{language}.gz"
        lines = gzip.decompress(source.read_bytes()).decode().splitlines()
        file.write_text("".join(f"{line}\n" for line in lines[: sizes[split]]))
    return "Multi30k", files


def until(command: Sequence[str], scores: Callable[[], Scores], goal: float) -> frame.Row:
    """Run a command until one of its scores reaches the goal; return what it took."""
    start = time.monotonic()
    process = psutil.Popen(command, stdout=subprocess.DEVNULL, cwd=frame.ROOT)
    spent: dict[int, float] = {}
    known: Scores = []
    while process.poll() is None and max((bleu for _, bleu in known), default=0.0) < goal:
        time.sleep(POLL_SECONDS)
        known = scores()
        for one in (process, *process.children(recursive=True)):
            try:
                times = one.cpu_times()
            except psutil.NoSuchProcess:
                continue
            spent[one.pid] = times.user + times.system
    wall = time.monotonic() - start
    ended = process.poll()
    if ended is None:
        process.terminate()
        process.wait()
    assert not ended, f"the command failed: {' '.join(command)}"
    known = scores()
    return {
        "BLEU": max((bleu for _, bleu in known), default=0.0),
        "updates": known[-1][0] if known else 0,
        "CPU s": sum(spent.values()),
        "wall s": wall,
    }


def experiment(place: Path, files: dict[str, Path], **sections: Any) -> Path:
    """Write an experiment on the texts, whose results go to `place`; return its file."""
    content = {
        "name": "race",
        "task": "nmt",
        "baseline": False,
        "storage": str(place / "results"),
        "corpus": {
            "source_language": "de",
            "target_language": "en",
            "train": {"source": str(files["train de"]), "target": str(files["train en"])},
            "valid": {"source": str(files["valid de"]), "target": str(files["valid en"])},
            "tests": {"test": {"builtin": 10}},
        },
        **sections,
    }
    file = place / "experiment.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


def augury(place: Path, files: dict[str, Path], arguments: argparse.Namespace) -> frame.Row:
    """Train by `augury train`."""
    layers, hidden, feedforward, heads = arguments.sizes
    file = experiment(
        place,
        files,
        vocabulary={"size": arguments.vocabulary},
        model={
            "architecture": "small",
            "encoder_layers": layers,
            "decoder_layers": layers,
            "hidden_size": hidden,
            "feedforward_size": feedforward,
            "attention_heads": heads,
        },
        training={
            "max_tokens": MAX_TOKENS,
            "learning_rate": RATE,
            "warmup_updates": WARMUP,
            "max_updates": arguments.updates,
            "validate_every": arguments.every,
            "patience": 1_000,
        },
        execution={"executor": "local", "threads": THREADS},
    )
    results = place / "results"

    def scores() -> Scores:
        known: Scores = []
        for path in results.glob("runs/*/seed-*"):
            folder = Store(results).folder("runs", str(path.relative_to(results / "runs")))
            for record in history.read(folder):
                if "valid/bleu" in record["metrics"]:
                    known.append((record["update"], record["metrics"]["valid/bleu"]))
        return known

    return until([sys.executable, "-m", "augury.cli", "train", str(file)], scores, arguments.bleu)


def peer_settings(arguments: argparse.Namespace) -> str:
    """Return what the scripts of peers are given, as JSON."""
    settings = {
        "vocabulary": arguments.vocabulary,
        "updates": arguments.updates,
        "every": arguments.every,
        "warmup": WARMUP,
        "rate": RATE,
        "max_tokens": MAX_TOKENS,
        "sizes": arguments.sizes,
        "threads": THREADS,
    }
    return json.dumps(settings)


def transformers(place: Path, files: dict[str, Path], arguments: argparse.Namespace) -> frame.Row:
    """Train by the script."""
    written, script = place / "scores.jsonl", PEERS / "transformers_translation.py"
    command = [sys.executable, str(script), *map(str, files.values()), peer_settings(arguments)]

    def scores() -> Scores:
        text = written.read_text() if written.exists() else ""
        lines = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
        return [(line["update"], line["bleu"]) for line in lines]

    return until(["sh", "-c", f'exec "$@" > {written}', "sh", *command], scores, arguments.bleu)


def joeynmt(place: Path, files: dict[str, Path], arguments: argparse.Namespace) -> frame.Row:
    """Train by JoeyNMT."""
    script, written = PEERS / "joeynmt_translation.py", place / "model" / "validations.txt"
    command = [arguments.joeynmt, str(script), *map(str, files.values())]

    def scores() -> Scores:
        text = written.read_text() if written.exists() else ""
        found = re.findall(r"Steps: (\d+)\t.*\tbleu: ([\d.]+)\t.*\n", text)
        return [(int(update), float(bleu)) for update, bleu in found]

    return until([*command, peer_settings(arguments), str(place)], scores, arguments.bleu)


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--bleu", type=float, default=25.0, help="the goal (default 25)")
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--valid", type=int, default=1_014, help="sentences of validation")
    parser.add_argument("--updates", type=int, default=4_000, help="at most (default 4000)")
    parser.add_argument("--every", type=int, default=125, help="updates between validations")
    parser.add_argument("--vocabulary", type=int, default=4_000)
    parser.add_argument(
        "--sizes",
        type=int,
        nargs=4,
        default=[2, 192, 768, 4],
        metavar=("LAYERS", "HIDDEN", "FEEDFORWARD", "HEADS"),
    )
    parser.add_argument("--joeynmt", metavar="PYTHON", help="of an environment with JoeyNMT")
    arguments = parser.parse_args()
    contenders = [augury, transformers, *[joeynmt] * bool(arguments.joeynmt)]
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        text, files = write_texts(place, arguments.pairs, arguments.valid)
        rows = [
            {"name": contender.__name__, **contender(place, files, arguments)}
            for contender in contenders
        ]
    for row in rows:
        row["times"] = row["CPU s"] / rows[0]["CPU s"]
    setting = {"text": text, "pairs": arguments.pairs, "goal": arguments.bleu}
    frame.report(arguments, setting, rows)


if __name__ == "__main__":
    main()
