"""How long do the commands take to start?

    python -m benchmarks.startup [--repeats 5] [--only help config translate] [--json]

    interpreter   python -c pass: the limit
    help          augury --help; goal: 0.1 CPU seconds
    config        augury config EXPERIMENT, whose texts were checked before; goal: 0.5
    translate     one sentence by a trained run; goal: 0.5
    transformers  the same sentence by a script that loads the run's export and calls `generate`,
                  with the tokenizer of `sentencepiece`

The run is trained for a few updates first, which is not timed and needs no tracking. CPU seconds
are of the command with all its processes; `times goal` above 1 misses the goal. Python reads
bytecode, as that of an installed package, whatever PYTHONDONTWRITEBYTECODE says. The contenders run
in rotating order. Importing torch and transformers takes ten times as long as the rest together:
`--only` leaves the last one out. What is being done is said on standard error.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

from benchmarks import frame

GOALS = {"help": 0.1, "config": 0.5, "translate": 0.5}
PEER = """
import sys
from transformers import AutoTokenizer, MarianMTModel
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model = MarianMTModel.from_pretrained(sys.argv[1]).eval()
ids = tokenizer(sys.stdin.read().splitlines(), return_tensors="pt", padding=True)
for output in model.generate(**ids, num_beams=5, max_new_tokens=20):
    print(tokenizer.decode(output, skip_special_tokens=True))
"""
EXPERIMENT = {
    "name": "start",
    "task": "nmt",
    "baseline": False,
    "corpus": {
        "source_language": "de",
        "target_language": "en",
        "train": {"builtin": 600},
        "valid": {"builtin": 50},
        "tests": {"test": {"builtin": 50}},
    },
    "model": {"architecture": "tiny"},
    "vocabulary": {"size": 400},
    "training": {"max_tokens": 500, "max_updates": 4, "validate_every": 4, "average_last": 1},
    "decoding": {"max_length": 20},
    "scoring": {"metrics": ["bleu"], "bootstrap_samples": 100},
    "tracking": {"enabled": False},
}
CONTENDERS = ("interpreter", "help", "config", "translate", "transformers")


def augury(*words: str, text: str = "") -> str:
    """Run a command and return what it prints."""
    return process(sys.executable, "-m", "augury.cli", *words, text=text)


def process(*command: str, text: str = "") -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert not done.returncode, f"{' '.join(command)}: {done.stderr[-2000:]}"
    return done.stdout


def contenders(place: Path, names: Sequence[str]) -> dict[str, Callable[[], str]]:
    """Train a run and return the commands of these names."""
    storage, experiment, export = place / "results", place / "start.yaml", place / "export"
    experiment.write_text(yaml.safe_dump({**EXPERIMENT, "storage": str(storage)}))
    say("trains a run of four updates")
    augury("train", str(experiment), "--set", "execution.threads=1")
    (run,) = (path.parent for path in storage.glob("runs/*/seed-*/_COMPLETE"))
    if "transformers" in names:
        say("exports it")
        augury("export", str(run), "--to", "hf", "--output", str(export))
    sentence = "Ein Hund schläft.\n"
    commands = {
        "interpreter": lambda: process(sys.executable, "-c", "pass"),
        "help": lambda: augury("--help"),
        "config": lambda: augury("config", str(experiment)),
        "translate": lambda: augury("translate", str(run), text=sentence),
        "transformers": lambda: process(sys.executable, "-c", PEER, str(export), text=sentence),
    }
    return {name: commands[name] for name in names}


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--only", nargs="+", choices=CONTENDERS, default=CONTENDERS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(directory, "bytecode"))
        commands = contenders(Path(directory), arguments.only)
        for name, command in commands.items():
            say(f"warms up {name}")
            command()  # compiles; files that were never read are slow
        say(f"measures {arguments.repeats} rounds")
        samples = frame.in_turn(commands, arguments.repeats)
    rows: list[frame.Row] = []
    for name, clocks in samples.items():
        cpu = statistics.median(clock.cpu for clock in clocks)
        wall = statistics.median(clock.wall for clock in clocks)
        goal = GOALS.get(name)
        rows.append(
            {
                "name": name,
                "CPU s": cpu,
                "wall s": wall,
                "goal": goal,
                "times goal": cpu / goal if goal else None,
            }
        )
    frame.report(arguments, {"rounds": arguments.repeats}, rows)


if __name__ == "__main__":
    main()
