"""Write the small storages that tests read from now on: `python tests/data/make_stored.py`.

They hold every kind of stored file, as a version of `augury.core.store.SCHEMA` wrote them: the
first what every run has, the second what operators, sweeps, reports and analyses add. One that is
there stays as it is. A later version adds its own beside them, and goes on reading those that there
are.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import yaml
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from augury.cli import main
from augury.core.store import SCHEMA
from tests import tiny
from tests.language_models import END, always, save_bigrams, save_translator

HERE = Path(__file__).with_name(f"stored_schema_{SCHEMA}")
KINDS = HERE.with_name(f"{HERE.name}_kinds")
MODEL = {
    "architecture": "tiny",
    "hidden_size": 4,
    "feedforward_size": 4,
    "attention_heads": 1,
    "encoder_layers": 1,
    "decoder_layers": 1,
}
TRAINING = {"max_tokens": 400, "max_updates": 2, "validate_every": 1, "weights": "last"}
SMALL = {
    "model": MODEL,
    "vocabulary": {"size": 60, "size_per_key": 30},
    "training": TRAINING,
}
CIPHER = {"operator": "cipher", "keys": [1]}
SENTENCES = ["su rizo zopa kumu", "su rizo", "zopa rizo", "rizo kumu zopa"]
AUGMENT: list[dict[str, Any]] = [
    CIPHER,
    {"operator": "noise", "spelling": 0.3},
    {
        "operator": "back_translation",
        "monolingual": {"language": "qab", "train": {"builtin": 6, "seed": 2}},
    },
    {
        "operator": "forward_translation",
        "monolingual": {"language": "qaa", "train": {"builtin": 6, "seed": 3}},
        "ready": {"checkpoint": "translator"},
    },
    {
        "operator": "generate",
        "model": "language-model",
        "prompt": "Write like {{ target }} :",
        "fills": ["target"],
        "share": 0.1,
        "max_tokens": 8,
    },
    {
        "operator": "reorder",
        "model": {**tiny.T5, "hidden_size": 4, "feedforward_size": 4, "attention_heads": 1},
        "training": TRAINING,
        "max_pieces": 30,
        "parallel": {**tiny.PARALLEL, "train": {"builtin": 30}},
        "sampling": {"max_length": 4},
    },
]
"""What makes views, records, translations, answers of a language model, and alignments."""
COPIES = (
    ".*",
    "mlflow.db*",
    "mlartifacts",
    "runs/*/*/checkpoints",
    "runs/*/*/ctranslate2",
    "reports/*/*.html",
    "analyses/*/*.html",
    "runs/*/*/analyses/*/*.html",
    "sweeps/*/*.html",
    "sweeps/*/workers",
)
"""What can be made again from the rest, belongs to another program, or is a page."""


def make_runs(storage: Path) -> None:
    """Train one system for two updates, and keep what it stores, except pages."""
    content = tiny.content("nmt", storage, augment=[CIPHER], regime="multi_source", **SMALL)
    train(content)
    shutil.rmtree(storage / "reports")
    shutil.rmtree(storage / ".locks")
    for checkpoint in storage.glob("runs/*/*/checkpoints/*1"):
        shutil.rmtree(checkpoint)


def make_kinds(storage: Path) -> None:
    """Train, sweep, compare, analyse and name tiny systems, and keep one of each kind of file."""
    torch.manual_seed(1)  # for the weights that decide nothing
    save_bigrams(Path("language-model"), always("su rizo", ":"), positions=64)
    end_of_text(Path(save_translator(Path("translator"), SENTENCES[0])))
    for name in ("source", "target", "reference"):
        Path(f"test.{name}").write_text("".join(f"{line}\n" for line in SENTENCES))
    references = {
        "source": "test.source",
        "target": "test.target",
        "references": ["test.reference"],
    }
    noisy = {**references, "references": [], "noise": {"spelling": 0.2}}
    content = tiny.content(
        "nmt",
        storage,
        name="kinds",
        corpus={**tiny.PARALLEL, "tests": {"test": references, "noisy": noisy}},
        systems={"baseline": {}, "augmented": {"augment": AUGMENT, "regime": "multi_source"}},
        tracking={"interval": 60},
        **SMALL,
    )
    train(content)
    augury("compare", "kinds/augmented", "--views", "rot-1")
    augury("compare", "kinds/baseline", "kinds/augmented", "--bands", "--word-order", "test")
    augury("analyze", "kinds/augmented/1", "--which", "outputs", "--beam", "1")
    augury("analyze", "keys", "tiny.yaml", "--keys", "1", "2")
    augury("runs", "results", "kinds/augmented/1", "--name", "kept", "--tag", "checked")
    space = {
        "question": "Does a rate that is too high fail?",
        "base": tiny.content("nmt", storage, name="rates", tracking={"interval": 60}, **SMALL),
        "keys": {"training.learning_rate": [0.001, 1e30]},
        "metric": "valid/loss",
        "seeds": [1],
    }
    Path("rates.yaml").write_text(yaml.safe_dump(space, sort_keys=False))
    augury("sweep", "rates.yaml", "--name", "rates", "--at-once", "1", code=None)
    for pattern in COPIES:
        for path in storage.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def end_of_text(model: Path) -> None:
    """Let the tokenizer of a model end texts, without which CTranslate2 does not read them."""
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.post_processor = TemplateProcessing(
        single=f"$A {END}", special_tokens=[(END, tokenizer.token_to_id(END))]
    )
    tokenizer.save(str(model / "tokenizer.json"))


def train(content: dict[str, Any]) -> None:
    """Train the systems of an experiment."""
    Path("tiny.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    augury("train", "tiny.yaml")


def augury(*arguments: str, code: int | None = 0) -> None:
    """Run a command, which ends with `code` unless that is None."""
    assert main([*arguments]) in (code, *((0, 1) if code is None else ()))


def make(target: Path, how: Callable[[Path], None]) -> None:
    """Make a storage that is not there yet, in a directory whose name it does not keep."""
    if target.exists():
        print(f"{target.name} stays as it is")
        return
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        how(Path("results"))
        shutil.copytree("results", target)
        os.chdir(target.parent)


if __name__ == "__main__":
    os.environ["LOGNAME"] = "augury"  # the user in records of MLflow
    make(HERE, make_runs)
    make(KINDS, make_kinds)
