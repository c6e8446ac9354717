"""Write a commented first experiment file for a user's texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from augury.core.yaml_file import scalar
from augury.experiments.capabilities import Draft, Drafts, capable

HELD_OUT = 1000  # rows for validation at most, and a tenth of the training text
COMMENTS = {
    "max_tokens": "of a batch",
    "warmup_updates": "until then the rate rises",
    "max_epochs": "over the training text, at most",
    "validate_every": "updates",
    "patience": "validations without gain, then training ends",
}
Files = Sequence[str]
"""Two aligned files, source and target, or one table."""


@dataclass(frozen=True)
class DraftOptions:
    """The choices of a user for a new experiment."""

    name: str
    task: str
    languages: Mapping[str, str]
    """Language codes by setting of the corpus."""
    rows: int
    """The approximate number of rows of the training text."""
    train: Files
    valid: Files = ()
    """Empty: rows of the training text are held out."""
    tests: Mapping[str, Files] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    """Columns of tables by column of records."""
    labels: Sequence[str] = ()
    """All labels, for a corpus that lists them."""
    model: str | None = None
    """A pretrained model, by its directory or its name on the hub."""
    header: Sequence[str] = ()
    """The columns of tables without a header line."""
    form: str | None = None
    """The kind of corpus, for a task that has several."""
    portions: bool = False
    """Whether rows are held out as portions of the training text, instead of each n-th one."""


def draft(options: DraftOptions) -> str:
    """Return the experiment file; UserError unless the task says how it is drafted."""
    task = capable(options.task, Drafts).draft(options.rows, options.model)
    return f"""# {task.question}
# `augury config FILE` checks this file and its texts, and shows all settings by --resolved.
# `augury train FILE` trains the system that it describes and the plain baseline, with every seed,
# and ends in a table and a page.
name: {scalar(options.name)}
task: {scalar(options.task)}
seeds: [1, 2, 3]    # seeds differ as much as methods do: a single one decides nothing
storage: results    # directory or URI of everything that is made

corpus:
{_corpus(options, task)}

{task.system}
training:
{_lines(task.training)}
# All systems train for as many epochs, of which those with more records take more updates; instead:
# equal: updates      # or tokens, or time (with training.max_minutes)

# Other systems than these two, each by the dotted keys in which it differs; the first is the
# baseline:
# systems:
#   baseline: {{{task.baseline}}}
#   this: {{}}
#   another: {{{task.other}}}
"""


def held_out_interval(rows: int) -> int:
    """Return n such that each n-th of `rows` rows is held out for validation."""
    return max(2, rows // max(1, min(HELD_OUT, rows // 10)))


def _corpus(options: DraftOptions, task: Draft) -> str:
    lines = [f"form: {options.form}"] if options.form else []
    lines += [f"{setting}: {code}" for setting, code in options.languages.items()]
    if options.labels:
        labels = ", ".join(map(scalar, options.labels))
        lines.append(f"labels: [{labels}]    # those of the training text")
    if options.portions and not options.valid:
        return _joined([*lines, *_held_out(options), *_comments(task)])
    lines.append(f"train: {_text(options, options.train)}")
    if options.valid:
        lines.append(f"valid: {_text(options, options.valid)}")
    else:
        comment = "there is no validation text: each n-th training pair is held out"
        lines.append(f"every: {held_out_interval(options.rows)}    # {comment}")
    if options.tests:
        lines += _tests(options)
    else:
        lines.append("# There are no test sets: validation decides, which flatters the best.")
        lines.append("# tests: {news: {...}}")
    return _joined([*lines, *_comments(task)])


def _held_out(options: DraftOptions) -> list[str]:
    """Return the texts, with random rows of the training text for those that there are not."""
    share = 1 / held_out_interval(options.rows)
    without = ["valid"] if options.tests else ["valid", "test"]
    starts = [1 - share * count for count in range(len(without), -1, -1)]
    texts = [
        _text(options, options.train, portion)
        for portion in zip([0.0, *starts], starts, strict=False)
    ]
    lines = [f"train: {texts[0]}", f"valid: {texts[1]}    # rows held out at random"]
    return lines + (_tests(options) if options.tests else ["tests:", f"  test: {texts[2]}"])


def _tests(options: DraftOptions) -> list[str]:
    texts = {name: _text(options, files) for name, files in options.tests.items()}
    return ["tests:", *(f"  {scalar(name)}: {text}" for name, text in texts.items())]


def _comments(task: Draft) -> list[str]:
    return [f"# {line}" for line in task.corpus.splitlines()]


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)


def _text(options: DraftOptions, files: Files, portion: tuple[float, float] | None = None) -> str:
    """Return the section of a text."""
    if len(files) == 2:
        return f"{{source: {scalar(files[0])}, target: {scalar(files[1])}}}"
    columns = [f"{name}_column: {scalar(column)}" for name, column in options.columns.items()]
    settings = [f"file: {scalar(files[0])}", *columns]
    if options.header:
        settings.append(f"header: [{', '.join(map(scalar, options.header))}]")
    if portion:
        settings.append(f"portion: [{portion[0]:.4g}, {portion[1]:.4g}]")
    return f"{{{', '.join(settings)}}}"


def _lines(settings: str) -> str:
    """Return settings, `key: value, key: value`, one per line with its comment."""
    lines = []
    for setting in settings.split(", "):
        comment = COMMENTS.get(setting.partition(":")[0])
        lines.append(f"  {setting:<22}# {comment}" if comment else f"  {setting}")
    return "\n".join(lines)
