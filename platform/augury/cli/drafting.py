"""Write a commented first experiment file for a user's texts, with settings that fit their size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import yaml

HELD_OUT = 1000  # rows for validation at most, and a tenth of the training text
COMMENTS = {
    "max_tokens": "of a batch",
    "warmup_updates": "until then the rate rises",
    "max_passes": "over the training text, at most",
    "validate_every": "updates",
    "patience": "validations without gain, then training ends",
}


class Tier(NamedTuple):
    """Settings of a translation experiment for little or much text."""

    max_rows: float
    """Training rows."""
    model: str
    training: str
    preset: str
    """The preset of the regime: weight and start of the divergence."""


TIERS = (
    Tier(
        2_000,
        "architecture: tiny, encoder_layers: 1, decoder_layers: 1, hidden_size: 96, "
        "feedforward_size: 384, dropout: 0.2",
        "max_tokens: 1000, learning_rate: 0.005, warmup_updates: 150, max_passes: 100, "
        "validate_every: 100, patience: 5",
        "low_resource",
    ),
    Tier(
        20_000,
        "architecture: tiny, hidden_size: 192, feedforward_size: 768, dropout: 0.3",
        "max_tokens: 1500, learning_rate: 0.002, warmup_updates: 400, max_passes: 200, "
        "validate_every: 250, patience: 8",
        "low_resource",
    ),
    Tier(
        200_000,
        "architecture: small",
        "max_tokens: 2048, learning_rate: 0.001, warmup_updates: 800, max_passes: 30, patience: 4",
        "paper",
    ),
    Tier(
        float("inf"),
        "architecture: transformer_iwslt_de_en",
        "max_tokens: 4096, max_passes: 60",
        "paper",
    ),
)
Files = Sequence[str]
"""Two aligned files, source and target, or one table."""


@dataclass(frozen=True)
class DraftOptions:
    """The choices of a user for a new experiment."""

    name: str
    task: str
    languages: Sequence[str]
    """Source and target, or the one of sentence pairs."""
    rows: int
    """The approximate number of rows of the training text."""
    train: Files
    valid: Files = ()
    """Empty: rows of the training text are held out."""
    tests: Mapping[str, Files] = field(default_factory=dict)
    columns: Sequence[str] = ()
    """The columns of tables: source and target, or premise, hypothesis and label."""
    model: str | None = None
    """A pretrained model for sentence pairs, by its directory or its name on the hub."""


def draft(options: DraftOptions) -> str:
    """Return the experiment file."""
    return _inference(options) if options.task == "nli" else _translation(options)


def held_out_interval(rows: int) -> int:
    """Return n such that each n-th of `rows` rows is held out for validation."""
    return max(2, rows // max(1, min(HELD_OUT, rows // 10)))


def _translation(options: DraftOptions) -> str:
    tier = next(tier for tier in TIERS if options.rows <= tier.max_rows)
    interval = held_out_interval(options.rows)
    held_out = (
        f"every: {interval}    # there is no validation text: each n-th training pair is held out"
    )
    return f"""# Does CipherDAug help on this text?
{_head(options)}
corpus:
  source_language: {options.languages[0]}
  target_language: {options.languages[1]}
  train: {_text(options, options.train)}
  {f"valid: {_text(options, options.valid)}" if options.valid else held_out}
{_tests(options)}
  # Of training text, in words:
  # filter: {{max_length: 175, max_ratio: 1.5, deduplicate: false, lowercase: false}}

# Further views of every source sentence: ciphers, each letter moved by a key in the alphabet.
augment:
  - {{operator: cipher, keys: [1]}}
# The model is trained to agree on a sentence and its cipher. Others: plain, multi_source;
# R-Drop, without augment, is {{name: coregularised, preset: r_drop}}.
regime: {{name: coregularised, preset: {tier.preset}}}

# vocabulary: {{size: 8000}}    # subwords; by default 12,000, or fewer where there is little text
model: {{{tier.model}}}
training:
{_lines(tier.training)}

{_systems("augment: [], regime: plain", "regime: {name: multi_source}")}
"""


def _inference(options: DraftOptions) -> str:
    return f"""# Does EDA help on these sentence pairs?
{_head(options)}
corpus:
  language: {options.languages[0]}
  # Other names of labels are mapped: labels: {{0: entailment, 1: neutral, 2: contradiction}}
  train: {_text(options, options.train)}
  valid: {_text(options, options.valid)}
{_tests(options)}

# Copies of every pair in which words are replaced, inserted, swapped or deleted.
# Others: reorder, semantic.
augment:
  - {{operator: eda, copies: 1}}
# regime: {{name: adversarial, preset: paper}}    # adds PGD

# A name on the hub, or a directory that save_pretrained wrote; from nothing: {{architecture: tiny}}
model: {{name: {_scalar(options.model or "FacebookAI/xlm-roberta-base")}}}
training:
{_lines("max_passes: 5, patience: 3")}

{_systems("augment: []", "regime: {name: adversarial, preset: fgm}")}
"""


def _head(options: DraftOptions) -> str:
    return f"""\
# `augury config FILE` checks this file and its texts, and shows all settings by --resolved.
# `augury train FILE` trains the system that it describes and the plain baseline, with every seed,
# and ends in a table and a page.
name: {_scalar(options.name)}
task: {options.task}
seeds: [1, 2, 3]    # seeds differ as much as methods do: a single one decides nothing
storage: results    # directory or URI of everything that is made
"""


def _tests(options: DraftOptions) -> str:
    if not options.tests:
        return (
            "  # There are no test sets: validation decides, which flatters the best.\n"
            "  # tests: {news: {...}}"
        )
    return "\n".join(
        [
            "  tests:",
            *(
                f"    {_scalar(name)}: {_text(options, files)}"
                for name, files in options.tests.items()
            ),
        ]
    )


def _text(options: DraftOptions, files: Files) -> str:
    """Return the section of a text."""
    if len(files) == 2:
        return f"{{source: {_scalar(files[0])}, target: {_scalar(files[1])}}}"
    names = ("premise", "hypothesis", "label") if options.task == "nli" else ("source", "target")
    columns = (
        f"{name}_column: {_scalar(column)}"
        for name, column in zip(names, options.columns, strict=True)
    )
    return f"{{{', '.join([f'file: {_scalar(files[0])}', *columns])}}}"


def _lines(settings: str) -> str:
    """Return settings, `key: value, key: value`, one per line with its comment."""
    lines = [
        (f"  {setting}", COMMENTS.get(setting.partition(":")[0]))
        for setting in settings.split(", ")
    ]
    return "\n".join(f"{line:<24}# {comment}" if comment else line for line, comment in lines)


def _systems(baseline: str, other: str) -> str:
    return f"""\
# Other systems than these two, each by the dotted keys in which it differs; the first is the
# baseline:
# systems:
#   baseline: {{{baseline}}}
#   this: {{}}
#   another: {{{other}}}"""


def _scalar(text: str) -> str:
    """Return text quoted as far as YAML needs it."""
    return yaml.safe_dump([text], default_flow_style=True, allow_unicode=True, width=10**6)[1:-2]
