"""Translation from pretrained checkpoints: their vocabulary, symbols, search, training and
export."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from augury.cli import main
from augury.core.errors import UserError
from augury.decoding.settings import Decoding
from augury.experiments.systems import load
from augury.reporting.exporting import export
from tests.trainables.nmt.tuned import Make, finished
from trainables.nmt import TASK
from trainables.nmt.trained import Trained
from trainables.nmt.translation import Translation

FRAMES = {
    "marian": [[], []],
    "m2m_100": [["__de__"], ["__en__"]],
    "nllb": [["deu_Latn"], ["eng_Latn"]],
    "mbart50": [["de_DE"], ["en_XX"]],
    "t5": [[], []],
}
"""The symbols before sources and targets."""


def first_batch(task: Translation) -> Any:
    return task.load(np.arange(4), 0, torch.device("cpu")).batch


@pytest.mark.parametrize("family", FRAMES)
def test_texts_are_framed_and_read_as_transformers_does(family: str, prepared: Make) -> None:
    run = prepared(family)
    task, corpus = Translation(run), run.corpus("train")
    tokenizer = task.vocabulary.tokenizer
    texts = [corpus.column(side)[:4] for side in ("source", "target")]
    batch = tokenizer(texts[0], text_target=texts[1], return_tensors="pt", padding=True)
    labels = batch["labels"].masked_fill(batch["labels"] == tokenizer.pad_token_id, -100)
    model = task.module.eval()
    with torch.no_grad():
        expected = model(
            input_ids=batch.input_ids, attention_mask=batch.attention_mask, labels=labels
        ).loss
        rows = task.rows(first_batch(task), [0])
        logits = rows.hidden[0] @ rows.weight.T + (0 if rows.bias is None else rows.bias)
        ours = torch.nn.functional.cross_entropy(logits, rows.labels)
    assert ours.item() == pytest.approx(expected.item(), rel=1e-5)

    trained = Trained(finished(run))
    vocabulary, sources = trained.vocabulary, trained.encode(texts[0])
    frame = [
        tokenizer.convert_ids_to_tokens([*ids]) for ids in (vocabulary.before, vocabulary.first)
    ]
    assert frame == FRAMES[family]
    found = trained.search(1)(sources, Decoding(beam=3, max_length=12))
    assert all(best[: len(vocabulary.first)] == vocabulary.first for best in found)


@pytest.mark.parametrize("family", FRAMES)
def test_exports_translate_as_the_run(
    family: str, prepared: Make, run_card: Any, tmp_path: Path
) -> None:
    prompt = {"model": {"prompt": "translate:"}} if family == "t5" else {}
    run = finished(prepared(family, **prompt))
    texts = ["der hund sieht die katze", "ein haus"]
    expected = TASK.translate(run, texts)
    for form in ("hf", "ctranslate2"):
        export(run.folder, form, tmp_path / form)
        outputs = run_card(tmp_path / form, texts=texts)
        # The tokenizer of M2M-100, once saved, takes a code within an output for text.
        assert [text.replace("__en__", "").strip() for text in outputs] == expected


@pytest.mark.parametrize(
    ("family", "changes", "message"),
    [
        ("t5", {"vocabulary": {"size": 500}}, "leave out the section vocabulary"),
        ("nllb", {"model": {"target_language": "eng"}}, "'eng': did you mean 'eng_Latn'"),
        ("marian", {"max_pieces": 256}, "set max_pieces to 255 at most"),
        ("mbart25", {}, "such as mBART-50"),
    ],
)
def test_what_a_model_cannot_do_is_refused(
    family: str, changes: dict[str, Any], message: str, prepared: Make
) -> None:
    with pytest.raises(UserError, match=message):
        prepared(family, **changes)


def test_init_drafts_the_tuning_of_a_model(
    checkpoint: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for language, word in (("de", "hund"), ("en", "dog")):
        Path(f"train.{language}").write_text("".join(f"{word} {row}\n" for row in range(40)))
    flags = ["--source", "train.de", "--target", "train.en", "--model", checkpoint("m2m_100")]
    assert main(["init", "my.yaml", *flags]) == 2  # 500 pieces do not fit
    changed = Path("my.yaml").read_text().replace("model: {", "max_pieces: 200\nmodel: {")
    Path("my.yaml").write_text(changed)
    assert main(["config", "my.yaml"]) == 0
    experiment: Any = load("my.yaml")
    assert experiment.model.name == checkpoint("m2m_100")
    assert experiment.regime.name == "coregularised"
