"""Write the small storage that tests read from now on: `python tests/data/make_stored.py`.

It holds every kind of stored file, as a version of `augury.core.store.SCHEMA` wrote them. A later
version adds its own beside it, and goes on reading those that there are.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import yaml

from augury.cli import main
from augury.core.store import SCHEMA
from tests import tiny

HERE = Path(__file__).with_name(f"stored_schema_{SCHEMA}")
MODEL = {
    "architecture": "tiny",
    "hidden_size": 4,
    "feedforward_size": 4,
    "attention_heads": 1,
    "encoder_layers": 1,
    "decoder_layers": 1,
}


def make() -> None:
    """Train one system for two updates, and keep what it stores, except pages."""
    with tempfile.TemporaryDirectory() as directory:
        storage, file = Path(directory) / "results", Path(directory) / "tiny.yaml"
        content = tiny.content(
            "nmt",
            storage,
            model=MODEL,
            vocabulary={"size": 60, "size_per_key": 30},
            augment=[{"operator": "cipher", "keys": [1]}],
            regime="multi_source",
            training={"max_tokens": 400, "max_updates": 2, "validate_every": 1, "weights": "last"},
        )
        file.write_text(yaml.safe_dump(content))
        assert main(["train", str(file)]) == 0
        shutil.rmtree(storage / "reports")
        shutil.rmtree(storage / ".locks")
        for checkpoint in storage.glob("runs/*/*/checkpoints/*1"):
            shutil.rmtree(checkpoint)
        shutil.rmtree(HERE, ignore_errors=True)
        shutil.copytree(storage, HERE)


if __name__ == "__main__":
    make()
