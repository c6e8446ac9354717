"""The first experiment of a translation task, with settings that fit the size of its text."""

from __future__ import annotations

from typing import NamedTuple

from augury.core import yaml_file
from augury.experiments.task import Draft
from trainables.nmt.config import ARCHITECTURES


class Tier(NamedTuple):
    """Settings for training texts of up to so many rows."""

    max_rows: float
    model: str
    training: str
    preset: str
    """The preset of the regime: weight and start of the divergence."""


TIERS = (
    Tier(
        2_000,
        "architecture: tiny, encoder_layers: 1, decoder_layers: 1, hidden_size: 96, "
        "feedforward_size: 384, dropout: 0.2",
        "max_tokens: 1000, learning_rate: 0.005, warmup_updates: 150, max_epochs: 100, "
        "validate_every_epochs: 3, patience: 5",
        "low_resource",
    ),
    Tier(
        20_000,
        "architecture: tiny, hidden_size: 192, feedforward_size: 768, dropout: 0.3",
        "max_tokens: 1500, learning_rate: 0.002, warmup_updates: 400, max_epochs: 200, "
        "validate_every_epochs: 4, patience: 6",
        "low_resource",
    ),
    Tier(
        200_000,
        "architecture: small",
        "max_tokens: 2048, learning_rate: 0.001, warmup_updates: 800, max_epochs: 30, patience: 4",
        "paper",
    ),
    Tier(
        float("inf"),
        "architecture: transformer_iwslt_de_en",
        "max_tokens: 4096, max_epochs: 60",
        "paper",
    ),
)


FILTER = """\
Of training text, in words:
filter: {max_length: 175, max_ratio: 9, deduplicate: false, lowercase: false}"""


def draft(rows: int, model: str | None) -> Draft:
    """Return a first experiment for a training text of `rows` pairs: CipherDAug with a model from
    nothing, if `model` is None or the name of an architecture, or R-Drop with a pretrained one."""
    if model and model not in ARCHITECTURES:
        return _tuning(model)
    tier = next(tier for tier in TIERS if rows <= tier.max_rows)
    sizes = f"architecture: {model}"
    if not model or tier.model.startswith(sizes):  # with changes for a text of this size
        sizes = tier.model
    return Draft(
        question="Does CipherDAug help on this text?",
        name="CipherDAug",
        corpus=FILTER,
        system=f"""\
# Further views of every source sentence: ciphers, each letter moved by a key in the alphabet.
augment:
  - {{operator: cipher, keys: [1]}}
# The model is trained to agree on a sentence and its cipher. Others: plain, multi_source;
# R-Drop, without augment, is {{name: coregularised, preset: r_drop}}.
regime: {{name: coregularised, preset: {tier.preset}}}

# vocabulary: {{size: 8000}}    # subwords; by default 12,000, or fewer where there is little text
model: {{{sizes}}}""",
        training=tier.training,
        baseline="augment: [], regime: plain",
        other="regime: {name: multi_source}",
    )


def _tuning(model: str) -> Draft:
    return Draft(
        question="Does R-Drop help when this model is tuned on this text?",
        name="R-Drop",
        corpus=FILTER,
        system=f"""\
# The model is trained to agree on a sentence read twice, with other dropout.
regime: {{name: coregularised, preset: r_drop}}
# augment: [{{operator: word_drop}}]    # others: switch_out, noise, cipher (with new pieces)

# A directory that `augury export --to hf` or save_pretrained wrote, or a name on the hub. Further
# settings: source_language, target_language, prompt, new_pieces
model: {{name: {yaml_file.scalar(model)}}}""",
        training="max_tokens: 4096",  # the rest follows the model
        baseline="regime: plain",
        other="augment: [{operator: word_drop}], regime: plain",
    )
