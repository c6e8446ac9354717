"""The first experiment of a translation task, with settings that fit the size of its text."""

from __future__ import annotations

import math
from typing import NamedTuple

from augury.core import yaml_file
from augury.experiments.capabilities import Draft


class Tier(NamedTuple):
    """Settings for training texts of up to so many rows."""

    max_rows: float
    model: str
    training: str
    max_epochs: int
    patience: int
    """In epochs."""
    preset: str
    """The preset of the regime: weight and start of the divergence."""


TIERS = (
    Tier(
        2_000,
        "architecture: tiny, encoder_layers: 1, decoder_layers: 1, hidden_size: 96, "
        "feedforward_size: 384, dropout: 0.2",
        "max_tokens: 1000, learning_rate: 0.005, warmup_updates: 150",
        100,
        15,
        "low_resource",
    ),
    Tier(
        20_000,
        "architecture: tiny, hidden_size: 192, feedforward_size: 768, dropout: 0.3",
        "max_tokens: 1500, learning_rate: 0.002, warmup_updates: 400",
        200,
        24,
        "low_resource",
    ),
    Tier(
        200_000,
        "architecture: small",
        "max_tokens: 2048, learning_rate: 0.001, warmup_updates: 800",
        30,
        4,
        "paper",
    ),
    Tier(
        float("inf"),
        "architecture: transformer_iwslt_de_en",
        "max_tokens: 4096",
        60,
        15,
        "paper",
    ),
)

VALIDATED = 20
"""Training examples that are read for each validated one. Its likelihood and its greedy translation
take about as long as reading a training example, so that validations are at most a twentieth of
training."""
FEWEST = 20
"""The validations of a whole training, at least: its weights are chosen among them."""
SHORTEST = 3
"""The patience in validations, at least."""

FILTER = """\
Of training text, in words:
filter: {max_length: 175, max_ratio: 1.5, deduplicate: false, lowercase: false}"""


def draft(rows: int, held_out: int, model: str | None) -> Draft:
    """Return a first experiment for a training text of `rows` pairs, and a validation text of
    `held_out`: CipherDAug with a model from nothing, or R-Drop with a pretrained one."""
    if model:
        return _tuning(model)
    tier = next(tier for tier in TIERS if rows <= tier.max_rows)
    every, patience = _validations(tier, rows, held_out)
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
model: {{{tier.model}}}""",
        training=f"{tier.training}, max_epochs: {tier.max_epochs}, "
        f"validate_every_epochs: {every}, patience: {patience}",
        baseline="augment: [], regime: plain",
        other="regime: {name: multi_source}",
    )


def _validations(tier: Tier, rows: int, held_out: int) -> tuple[int, int]:
    """Return the epochs between validations, and the patience in validations."""
    every = math.ceil(VALIDATED * held_out / max(1, rows))
    every = max(1, min(every, tier.max_epochs // FEWEST))
    return every, max(SHORTEST, math.ceil(tier.patience / every))


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
# settings: source_language, target_language, prompt, new_pieces, lora: {{rank: 16}}
model: {{name: {yaml_file.scalar(model)}}}""",
        training="max_tokens: 4096",  # the rest follows the model
        baseline="regime: plain",
        other="augment: [{operator: word_drop}], regime: plain",
    )
