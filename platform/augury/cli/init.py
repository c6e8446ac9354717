"""`augury init`: write an experiment file for the user's own texts and check it."""

from __future__ import annotations

import argparse
import glob
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from augury.core.errors import UserError

if TYPE_CHECKING:
    from augury.cli.columns import Columns
    from augury.cli.drafting import DraftOptions
    from augury.corpora.splits import BaseSpec, BaseText

HELP = (
    "Write a commented experiment file for your own texts and check it; prompts for missing flags."
)
EXAMPLE = """augury init my.yaml --source train.de --target train.en --valid dev.de dev.en
  augury init my.yaml --train train.tsv --columns de en --source-language de --target-language en
  augury init my.yaml --task classification --train reviews.csv --language en
  augury init my.yaml --task nli --train train.tsv --language en \\
    --columns premise hypothesis label"""
FILE = "experiment.yaml"
COMPRESSED = (".gz", ".xz", ".zst")
MOST_LABELS = 100


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument(
        "file", nargs="?", default=FILE, metavar="FILE", help=f"file to write (default: {FILE})"
    )
    parser.add_argument(
        "--task",
        default="nmt",
        help="name or path of a task, such as nmt (translation, the default), classification "
        "(labels of sentences or pairs) or nli",
    )
    texts = parser.add_argument_group(
        "texts: two aligned files, or one table (TSV, CSV, JSON lines, Parquet)"
    )
    texts.add_argument("--train", nargs="+", metavar="TEXT", help="training text")
    texts.add_argument(
        "--source", metavar="TEXT", help="with --target, the same as --train SOURCE TARGET"
    )
    texts.add_argument("--target", metavar="TEXT", help="see --source")
    texts.add_argument(
        "--valid",
        nargs="+",
        metavar="TEXT",
        help="validation text (default: held-out rows of the training text)",
    )
    texts.add_argument(
        "--test",
        nargs="+",
        action="append",
        default=[],
        metavar=("NAME", "TEXT"),
        help="a test set; repeatable",
    )
    texts.add_argument(
        "--columns",
        nargs="+",
        metavar="NAME",
        help="columns of tables, in the task's order, such as source target, or text label "
        "(default: common names; for labels also by content)",
    )
    parser.add_argument(
        "--source-language", metavar="CODE", help="de, en, ... (default: the files' extensions)"
    )
    parser.add_argument("--target-language", metavar="CODE", help="see --source-language")
    parser.add_argument("--language", metavar="CODE", help="language of texts in a single one")
    parser.add_argument(
        "--model",
        metavar="NAME",
        help="name on the hub or directory of the pretrained model; for classifiers also tiny or "
        "small, a model from nothing (default of translation)",
    )
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    parser.set_defaults(words=argv)


def run(arguments: argparse.Namespace) -> int:
    from augury.cli import config
    from augury.cli.drafting import draft
    from augury.core.progress import say

    path = Path(arguments.file)
    if path.exists() and not arguments.force:
        raise UserError(
            f"{path} already exists: choose another file, or add --force to overwrite it"
        )
    text = draft(_collect(arguments, re.sub(r"[^\w.-]+", "-", path.stem)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    say(f"wrote {path}")
    return config.show(
        str(path), (), as_json=arguments.json, without_model=_from_nothing(arguments)
    )


def _from_nothing(arguments: argparse.Namespace) -> str:
    """Return the command that drafts the same experiment with a model that starts from nothing."""
    from augury.core.commands import command

    left_out = ("--force", "--model", arguments.model)
    words = [word for word in arguments.words if word not in left_out]
    return command("augury", "init", *words, "--model", "tiny", "--force")


def _collect(arguments: argparse.Namespace, name: str) -> DraftOptions:
    """Return the draft of an experiment from flags and prompts."""
    from augury.cli.columns import Columns
    from augury.cli.drafting import DraftOptions
    from augury.experiments.capabilities import Drafts, capable
    from augury.experiments.spec import settings_class

    capable(arguments.task, Drafts)
    annotation = settings_class(arguments.task).model_fields["corpus"].annotation
    specs: Sequence[type[BaseSpec]] = get_args(annotation) or (annotation,)
    settings, tables = specs[0].model_fields, "aligned" not in specs[0].TEXT.SOURCE_SETTINGS
    files = partial(_check_files, tables=tables)
    aligned = [file for file in (arguments.source, arguments.target) if file is not None]
    kind = "a table" if tables else "two aligned files, or a table"
    train = _value(
        arguments.train or aligned,
        f"training text ({kind})",
        "--train",
        partial(files, flag="--train"),
    )
    prompt = f"validation text ({kind}; Enter: hold out training rows)"
    valid = _value(
        arguments.valid, prompt, "--valid", partial(files, flag="--valid"), required=False
    )
    tests = [_test(values, tables) for values in arguments.test]
    while not arguments.test and (
        values := _value(
            (), "a test set: NAME and text (Enter: no more)", "--test", list, required=False
        )
    ):
        tests.append(_test(values, tables))
    table = next(
        (texts[0] for texts in (train, valid, *dict(tests).values()) if len(texts) == 1), None
    )
    columns, spec = Columns([], []), specs[0]
    if table:
        columns, spec = _columns(arguments.columns, table, specs)
    codes = {
        name: vars(arguments).get(name) for name in settings if name.split("_")[-1] == "language"
    }
    uncompressed = [
        Path(file).with_suffix("") if Path(file).suffix in COMPRESSED else Path(file)
        for file in train
    ]
    guesses = [file.suffix[1:] for file in uncompressed] if len(train) == 2 else columns.names
    text = dict(zip(spec.TEXT.COLUMNS, columns.names, strict=False))
    return DraftOptions(
        name,
        arguments.task,
        _languages(codes, guesses),
        _rows(train[0]),
        train,
        valid,
        dict(tests),
        text,
        _labels(spec.TEXT, train[0], text, columns.header) if "labels" in settings else [],
        arguments.model,
        columns.header,
        spec.model_fields["form"].default if len(specs) > 1 else None,
        "every" not in settings,
    )


def _value(
    values: Sequence[str] | None,
    prompt: str,
    flag: str,
    check: Callable[[Sequence[str]], list[str]],
    required: bool = True,
) -> list[str]:
    """Return the checked values of a flag; where they are missing, prompt on a terminal until
    valid."""
    if values:
        return check(values)
    if not sys.stdin.isatty():
        if required:
            raise UserError(f"{flag} is missing, {prompt}: give it, or answer on a terminal")
        return []
    while True:
        try:
            values = shlex.split(input(f"{prompt}: "))
            if values or not required:
                return check(values) if values else []
        except EOFError as error:
            raise UserError(
                "end of input, nothing is written: repeat the command and answer, or give flags"
            ) from error
        except (
            UserError,
            ValueError,
        ) as error:  # shlex raises ValueError for an unclosed quotation
            print(error, file=sys.stderr)


def _check_files(files: Sequence[str], tables: bool, flag: str) -> list[str]:
    """Return the files of a text; UserError if there are too many, one does not exist, or one
    side of two is missing."""
    from augury.corpora.files import find

    if len(files) > (1 if tables else 2):
        raise UserError(
            f"{' '.join(files)}: a text is "
            f"{'one table' if tables else 'two aligned files or one table'}"
        )
    for file in files:
        find(file)
    if not tables and len(files) == 1 and not _is_table(files[0]):
        raise UserError(
            f"{flag} has one file, {files[0]}, and its extension is not that of a table: its other "
            f"side is missing, give both, as in {flag} {_both_sides(files[0])}"
        )
    return list(files)


def _is_table(file: str) -> bool:
    """Return whether a file is a table by its extension, or a directory."""
    from augury.corpora.splits import EXTENSIONS

    suffixes = [suffix for suffix in Path(file).suffixes if suffix not in COMPRESSED]
    return Path(file).is_dir() or (suffixes[-1:] or [""])[0].lower() in EXTENSIONS


def _both_sides(file: str) -> str:
    """Return a file and the likely file of its other side: of its name, with another extension."""
    path = Path(file)
    stem = path.name.removesuffix("".join(path.suffixes[-1:]))
    others = sorted(str(other) for other in path.parent.glob(f"{glob.escape(stem)}.*"))
    likely = next((other for other in others if other != str(path)), "OTHER_SIDE")
    return f"{file} {likely}"


def _test(values: Sequence[str], tables: bool) -> tuple[str, list[str]]:
    if len(values) < 2:
        raise UserError(
            f"--test {' '.join(values)}: give a name and then the text, as in --test news news.de "
            "news.en"
        )
    return values[0], _check_files(values[1:], tables, f"--test {values[0]}")


def _columns(
    flag_value: Sequence[str] | None, table: str, specs: Sequence[type[BaseSpec]]
) -> tuple[Columns, type[BaseSpec]]:
    """Return the columns of a table, and the kind of corpus with as many: by flag, common names,
    content or prompt."""
    from augury.cli.columns import Columns, by_content, by_name
    from augury.core.progress import say
    from augury.corpora.files import examine
    from augury.corpora.splits import BaseText
    from augury.corpora.tables import column_index, column_names

    layout = BaseText(file=table).layout
    if layout != "parquet":
        examine(table)
    names = column_names(table, layout)
    kinds = {len(spec.TEXT.COLUMNS): spec for spec in specs}
    wanted = ", or ".join(" ".join(spec.TEXT.COLUMNS) for spec in specs)

    def check(columns: Sequence[str]) -> list[str]:
        if len(columns) not in kinds:
            numbers = " or ".join(map(str, kinds))
            raise UserError(f"{' '.join(columns)}: give {numbers} columns, {wanted}")
        for column in columns:
            column_index(table, names, column)
        return list(columns)

    if flag_value is None:
        for count in sorted(kinds, reverse=True):
            if named := by_name(names, kinds[count].TEXT.COLUMNS):
                return Columns(named, []), kinds[count]
        content = by_content(table, layout, names) if "label" in specs[0].TEXT.COLUMNS else None
        if content and len(content.names) in kinds:
            spec = kinds[len(content.names)]
            pairs = zip(spec.TEXT.COLUMNS, content.names, strict=True)
            by_role = ", ".join(f"{role} is {name}" for role, name in pairs)
            note = "without a header line" if content.header else f"columns by content, {by_role}"
            say(f"{table}: {note}; others: --columns {' '.join(spec.TEXT.COLUMNS)}")
            return content, spec
    prompt = f"the columns for {wanted} in {table}, which has {', '.join(names)}"
    chosen = _value(flag_value, prompt, "--columns", check)
    return Columns(chosen, []), kinds[len(chosen)]


def _languages(codes: Mapping[str, str | None], guesses: Sequence[str]) -> dict[str, str]:
    """Return language codes by setting, from flags, extensions of files or names of columns, or
    prompts."""
    from augury.corpora.languages import check_language, languages

    checked = {}
    for index, (setting, code) in enumerate(codes.items()):
        flag = f"--{setting.replace('_', '-')}"
        if code is None and len(codes) == 2 and index < len(guesses):
            code = guesses[index] if guesses[index] in languages().names else None
        prompt = f"code of the {setting.replace('_', ' ')} (de, en, ...)"
        (checked[setting],) = _value(
            [code] if code else (), prompt, flag, lambda values: [check_language(values[0])]
        )
    return checked


def _labels(
    text: type[BaseText], table: str, columns: Mapping[str, str], header: Sequence[str]
) -> list[str]:
    """Return the labels of a table; UserError for so many that they cannot be labels."""
    from augury.corpora.readers import open_text

    settings: dict[str, Any] = {f"{name}_column": column for name, column in columns.items()}
    settings |= {"header": header} if header else {}
    labels: set[str] = set()
    for block in open_text(text.model_validate({"file": table, **settings}), "train").blocks():
        labels.update(label.strip() for label in block.column("label").unique().to_pylist())
        if len(labels) > MOST_LABELS:
            raise UserError(
                f"{table}: column '{columns['label']}' has more than {MOST_LABELS} different "
                "values: name the column of labels in --columns"
            )
    return sorted(labels - {""})  # an empty one is an error, with its line, when text is read


def _rows(file: str) -> int:
    """Return the approximate number of rows of a text."""
    from augury.corpora.files import examine
    from augury.corpora.tables import examine_parquet

    parquet = Path(file).is_dir() or Path(file).suffix == ".parquet"
    return sum(part.lines for part in (examine_parquet(file) if parquet else [examine(file)]))
