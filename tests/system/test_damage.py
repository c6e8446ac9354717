"""Every kind of stored file is damaged in turn: what can be made again is, the rest is refused."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from augury.cli import main
from tests import tiny

pytestmark = [pytest.mark.slow, pytest.mark.trains, pytest.mark.timeout(900)]

Change = Callable[[bytes], bytes]


def flip(content: bytes) -> bytes:
    """Flip a bit in the middle."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def half(content: bytes) -> bytes:
    """Cut the file off."""
    return content[: len(content) // 2]


def fewer_rows(content: bytes) -> bytes:
    """Edit a number in a manifest."""
    edited = re.sub(rb'"rows": \d+', b'"rows": 7', content)
    assert edited != content
    return edited


def swapped_ids(content: bytes) -> bytes:
    """Swap two token ids."""
    ids = np.load(io.BytesIO(content))
    first = next(row for row in range(len(ids) - 1) if ids[row] != ids[row + 1])
    ids[[first, first + 1]] = ids[[first + 1, first]]
    buffer = io.BytesIO()
    np.save(buffer, ids)
    return buffer.getvalue()


def swapped_letter(content: bytes) -> bytes:
    """Swap two letters of a text in a Parquet file, which stays one."""
    table = pq.read_table(io.BytesIO(content))
    (name,) = {"source", "text"} & {*table.column_names}
    texts = table.column(name).to_pylist()
    assert texts[0][0] != texts[0][1]
    texts[0] = texts[0][1] + texts[0][0] + texts[0][2:]
    place = table.column_names.index(name)
    buffer = io.BytesIO()
    pq.write_table(table.set_column(place, name, pa.array(texts)), buffer)
    return buffer.getvalue()


def other_cipher(content: bytes) -> bytes:
    """Swap two letters of an alphabet, in JSON that stays one."""
    edited = re.sub(rb'"(\w)(\w)', rb'"\2\1', content.replace(b'"cycles"', b"cycles"))
    assert edited != content
    return edited.replace(b"cycles", b'"cycles"')


class Damage(NamedTuple):
    file: str
    """A pattern below the storage, of which the first file is damaged."""
    change: Change
    verb: str
    """The command that reads it."""
    said: str


MADE, SCORED, BEFORE = "it is made anew", "it is scored anew", "from the checkpoint before"
REFUSED = "train it again"
TO_REMOVE, TO_REPEAT = "to train the run from the beginning", "repeat the command that made it"
RUN = "runs/*/seed-1"
BY_KIND = {
    "corpus": Damage("corpora/*/part-00000.parquet", flip, "train", MADE),
    "corpus, cut off": Damage("corpora/*/part-00000.parquet", half, "train", MADE),
    "letters of a corpus": Damage("corpora/*/part-00000.parquet", swapped_letter, "train", MADE),
    "number of rows": Damage("corpora/*/manifest.json", fewer_rows, "train", MADE),
    "manifest, cut off": Damage("corpora/*/manifest.json", half, "train", MADE),
    "view": Damage("views/*/part-00000.parquet", flip, "train", MADE),
    "view, cut off": Damage("views/*/part-00000.parquet", half, "train", MADE),
    "letters of a view": Damage("views/*/part-00000.parquet", swapped_letter, "train", MADE),
    "view's manifest": Damage("views/*/manifest.json", fewer_rows, "train", MADE),
    "fit": Damage("fits/*/fitted.json", other_cipher, "train", MADE),
    "fit, cut off": Damage("fits/*/fitted.json", half, "train", MADE),
    "augmented": Damage("augmented/*/manifest.json", half, "train", MADE),
    "vocabulary": Damage("vocabularies/*/sentencepiece-0.model", flip, "train", MADE),
    "vocabulary, cut off": Damage("vocabularies/*/sentencepiece-0.model", half, "train", MADE),
    "vocabulary's manifest, cut off": Damage("vocabularies/*/manifest.json", half, "train", MADE),
    "token ids": Damage("tokens/*/part-00000.parquet.ids.npy", swapped_ids, "train", MADE),
    "tokens, cut off": Damage("tokens/*/part-00000.parquet.offsets.npy", half, "train", MADE),
    "token ids, cut off": Damage("tokens/*/part-00000.parquet.ids.npy", half, "train", MADE),
    "tokens' manifest, cut off": Damage("tokens/*/manifest.json", half, "train", MADE),
    "scores": Damage(f"{RUN}/scores.json", flip, "train", SCORED),
    "scores, cut off": Damage(f"{RUN}/scores.json", half, "train", SCORED),
    "statistics": Damage(f"{RUN}/statistics/test.npz", flip, "train", SCORED),
    "outputs": Damage(f"{RUN}/hypotheses/test.txt", flip, "train", SCORED),
    "CTranslate2": Damage(f"{RUN}/ctranslate2/model.bin", flip, "translate", MADE),
    "CTranslate2, cut off": Damage(f"{RUN}/ctranslate2/model.bin", half, "translate", MADE),
    "CTranslate2's vocabulary": Damage(
        f"{RUN}/ctranslate2/shared_vocabulary.json", flip, "translate", MADE
    ),
    "weights": Damage(f"{RUN}/weights.safetensors", flip, "weights", REFUSED),
    "weights, cut off": Damage(f"{RUN}/weights.safetensors", half, "weights", REFUSED),
    "outcome": Damage(f"{RUN}/outcome.json", half, "weights", REFUSED),
    "run": Damage(f"{RUN}/run.json", flip, "translate", REFUSED),
    "run, cut off": Damage(f"{RUN}/run.json", half, "train", REFUSED),
    "vocabulary, when used": Damage(
        "vocabularies/*/sentencepiece-0.model", flip, "translate", TO_REPEAT
    ),
    "state": Damage(f"{RUN}/checkpoints/*3/state.pt", flip, "continue", BEFORE),
    "state, cut off": Damage(f"{RUN}/checkpoints/*3/state.pt", half, "continue", BEFORE),
    "checkpoint, cut off": Damage(
        f"{RUN}/checkpoints/*3/model.safetensors", half, "continue", BEFORE
    ),
    "checkpoint": Damage(f"{RUN}/checkpoints/*3/model.safetensors", flip, "continue", BEFORE),
    "earlier checkpoint": Damage(
        f"{RUN}/checkpoints/*2/model.safetensors", flip, "continue", TO_REMOVE
    ),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of an experiment file and its storage, with a run of three updates."""
    directory = tmp_path_factory.mktemp("damage")
    content = tiny.content(
        "nmt",
        directory / "results",
        augment=[{"operator": "cipher", "keys": [1]}],
        regime="multi_source",
        training={
            "max_tokens": 400,
            "max_updates": 3,
            "validate_every": 1,
            "weights": "averaged",
            "average_last": 2,
        },
    )
    (directory / "tiny.yaml").write_text(yaml.safe_dump(content))
    assert main(["train", str(directory / "tiny.yaml")]) == 0
    return directory


def contents(root: Path) -> dict[str, bytes]:
    """Return the files that are functions of their address, and what a run ends with."""
    kinds = ("corpora", "views", "fits", "augmented", "vocabularies", "tokens")
    files = [file for kind in kinds for file in (root / kind).rglob("*")]
    run = next(root.glob(RUN))
    files += [run / "weights.safetensors", run / "scores.json", *run.glob("ctranslate2/*")]
    files += [*run.glob("statistics/*"), *run.glob("hypotheses/*")]
    return {str(file.relative_to(root)): file.read_bytes() for file in files if file.is_file()}


@pytest.mark.parametrize("kind", BY_KIND)
def test_damage_is_mended_or_named(
    kind: str,
    trained: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pattern, change, verb, said = BY_KIND[kind]
    root = tmp_path / "results"  # another one, which this process has not checked yet
    shutil.copytree(trained / "results", root)
    before, run = contents(root), next(root.glob(RUN))
    file = sorted(root.glob(pattern))[0]
    file.write_bytes(change(file.read_bytes()))
    if verb == "continue":  # as a run that was killed before its end
        for name in ("_COMPLETE", "outcome.json", "weights.safetensors", "scores.json"):
            (run / name).unlink()
    if verb in ("continue", "weights"):
        shutil.rmtree(run / "ctranslate2")
    name = str(file.relative_to(root))
    capsys.readouterr()
    assert main(["verify", str(root)]) == 1
    assert capsys.readouterr().out.startswith(f"{name} ")

    command = ["translate", str(run)]
    if verb in ("train", "continue"):
        command = ["train", str(trained / "tiny.yaml"), "--storage", str(root)]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"ba\n")))
    code, messages = main(command), capsys.readouterr().err
    assert "Traceback" not in messages
    (line,) = [line for line in messages.splitlines() if said in line]
    assert f"{root}/{name}" in line
    if said in (REFUSED, TO_REMOVE, TO_REPEAT):
        assert code == (1 if said == TO_REMOVE else 2)
    else:
        after = contents(root)
        if verb == "continue":  # the scores say how long training took
            del before[f"{run.relative_to(root)}/scores.json"]
        assert code == 0 and after.items() >= before.items()
        assert main(["verify", str(root)]) == 0
