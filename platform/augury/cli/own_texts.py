"""What `augury init` knows of the user's texts: what flags say, answers on a terminal, and what the
files show themselves."""

from __future__ import annotations

import argparse
import glob
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from augury.core.errors import UserError
from augury.corpora.files import COMPRESSIONS

if TYPE_CHECKING:
    from augury.cli.columns import Columns
    from augury.cli.drafting import DraftOptions
    from augury.corpora.spec import BaseSpec
    from augury.corpora.text_settings import Text


def collect(arguments: argparse.Namespace, name: str) -> DraftOptions:
    """Return the draft of an experiment from flags and prompts."""
    from augury.cli.columns import Columns
    from augury.cli.drafting import DraftOptions
    from augury.corpora.files import find
    from augury.experiments.task import Drafts, capable

    aligned = [file for file in (arguments.source, arguments.target) if file is not None]
    if len(aligned) == 1 and not arguments.train:
        find(aligned[0])
        side, other = ("source", "target") if arguments.source else ("target", "source")
        raise UserError(
            f"--{side} {aligned[0]} has no --{other}: give the file of the other side too, as "
            f"in --{side} {aligned[0]} --{other} {_other_side(aligned[0])}"
        )
    if task := arguments.task:
        capable(task, Drafts)
    prompt = "training text (two aligned files, or a table)"
    train = _value(arguments.train or aligned, prompt, "--train", partial(_files, task=task))
    task = task or _task(train, arguments.columns or ())
    capable(task, Drafts)
    specs = _specs(task)
    settings = specs[0].model_fields
    valid = _files(arguments.valid, "--valid", task) if arguments.valid else []
    tests = [_test(values, task) for values in arguments.test]
    names = [name for name, _ in tests]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(
            f"--test: {len(tests)} test sets, of which several are called {', '.join(repeated)}: "
            "give each a name of its own before its text, as in --test news news.de news.en"
        )
    table = next(
        (texts[0] for texts in (train, valid, *dict(tests).values()) if len(texts) == 1), None
    )
    columns, spec = Columns([], []), specs[0]
    others: dict[str, Columns] = {}
    if table:
        columns, spec = _columns(arguments.columns, table, specs)
        tables = {texts[0] for texts in (train, valid, *dict(tests).values()) if len(texts) == 1}
        own = {file: _own_columns(file, columns, spec) for file in sorted(tables - {table})}
        others = {file: found for file, found in own.items() if found != columns}
    by_role = dict(zip(spec.TEXT.KIND.read, columns.names, strict=False))
    text = _text(spec.TEXT, train, by_role, columns.header)
    labels, names_of_labels = _labels(text) if "labels" in settings else ([], {})
    codes = {key: vars(arguments).get(key) for key in settings if key.split("_")[-1] == "language"}
    return DraftOptions(
        name,
        task,
        _languages(codes, _names(train) if len(train) == 2 else columns.names, text),
        _rows(train[0]),
        train,
        valid,
        dict(tests),
        by_role,
        labels,
        arguments.model,
        columns.header,
        spec.model_fields["form"].default if len(specs) > 1 else None,
        names_of_labels,
        {
            file: (dict(zip(spec.TEXT.KIND.read, own.names, strict=True)), own.header)
            for file, own in others.items()
        },
    )


def _specs(task: str) -> Sequence[type[BaseSpec]]:
    """Return the kinds of corpora that a task trains on."""
    from augury.experiments.spec import settings_class

    annotation = settings_class(task).model_fields["corpus"].annotation
    return get_args(annotation) or (annotation,)


def _task(train: Sequence[str], columns: Sequence[str]) -> str:
    """Return the task that a training text is for, and say so."""
    from augury.cli.columns import check_chosen, task_of
    from augury.core.progress import say

    task = "nmt"
    if len(train) == 1:
        layout, names = _layout(train[0])
        check_chosen(train[0], layout, names, columns, labelled=True)
        task = task_of(train[0], layout, names, columns)
    say(f"task: {task}, by {' and '.join(train)}; others: --task")
    return task


def _layout(table: str) -> tuple[str, list[str]]:
    """Return the format and the columns of a table, of which every task reads several."""
    from augury.corpora.files import examine
    from augury.corpora.tables import column_names
    from augury.corpora.text_settings import table_layout

    layout = table_layout(table)
    if layout != "parquet":
        examine(table)
    return layout, column_names(table, layout)


def _names(files: Sequence[str]) -> list[str]:
    """Return the extensions of files, without those of compression."""
    paths = [Path(file) for file in files]
    return [
        (path.with_suffix("") if path.suffix in COMPRESSIONS else path).suffix[1:] for path in paths
    ]


def _text(
    text: type[Text], files: Sequence[str], columns: Mapping[str, str], header: Sequence[str]
) -> Text:
    """Return the setting of a text."""
    if len(files) == 2:
        return text.model_validate(dict(zip(("source", "target"), files, strict=True)))
    settings: dict[str, Any] = {f"{name}_column": column for name, column in columns.items()}
    settings |= {"header": header} if header else {}
    return text.model_validate({"file": files[0], **settings})


def _value(
    values: Sequence[str] | None,
    prompt: str,
    flag: str,
    check: Callable[[Sequence[str], str], list[str]],
) -> list[str]:
    """Return the checked values of a flag; where they are missing, prompt on a terminal until
    valid."""
    if values:
        return check(values, flag)
    if not sys.stdin.isatty():
        raise UserError(f"{flag} is missing, {prompt}: give it, or answer on a terminal")
    while True:
        try:
            if values := shlex.split(input(f"{prompt}: ")):
                return check(values, flag)
        except EOFError as error:
            raise UserError(
                "end of input, nothing is written: repeat the command and answer, or give flags"
            ) from error
        except (
            UserError,
            ValueError,
        ) as error:  # shlex raises ValueError for an unclosed quotation
            print(error, file=sys.stderr)


def _files(files: Sequence[str], flag: str, task: str | None) -> list[str]:
    """Return the files of a text; UserError if there are too many for the task, one does not exist,
    or one side of two is missing."""
    from augury.corpora.files import find, layout_of

    tables = task is not None and _are_tables(task)
    if len(files) > (1 if tables else 2):
        raise UserError(
            f"{' '.join(files)}: a text is "
            f"{'one table' if tables else 'two aligned files or one table'}"
        )
    for file in files:
        if not find(file).is_dir() and not _is_table(file):
            layout_of(file)  # which names one that is no text
    if not tables and len(files) == 1 and not _is_table(files[0]):
        raise UserError(
            f"{flag} has one file, {files[0]}, and its extension is not that of a table: its other "
            f"side is missing, give both, as in {flag} {files[0]} {_other_side(files[0])}"
        )
    return list(files)


def _are_tables(task: str) -> bool:
    """Return whether texts of a task are tables alone, and never two aligned files."""
    return not _specs(task)[0].TEXT.LINES


def _is_table(file: str) -> bool:
    """Return whether a file is a table by its extension, or a directory."""
    from augury.corpora.text_settings import EXTENSIONS

    suffixes = [suffix for suffix in Path(file).suffixes if suffix not in COMPRESSIONS]
    return Path(file).is_dir() or (suffixes[-1:] or [""])[0].lower() in EXTENSIONS


def _other_side(file: str) -> str:
    """Return the likely file of the other side of a text: of its name, with another extension."""
    path = Path(file)
    plain = path.with_suffix("") if path.suffix in COMPRESSIONS else path
    others = sorted(plain.parent.glob(f"{glob.escape(plain.stem)}.*"))
    copies = {plain, *(plain.with_name(plain.name + suffix) for suffix in COMPRESSIONS)}
    return next((str(other) for other in others if other not in copies), "OTHER_SIDE")


def _test(values: Sequence[str], task: str) -> tuple[str, list[str]]:
    """Return the name and the files of a test set, which is called test where no name is given."""
    both_sides = not _are_tables(task) and len(values) == 2 and Path(values[0]).is_file()
    if both_sides or (len(values) == 1 and Path(values[0]).exists()):
        return "test", _files(values, "--test", task)
    if len(values) < 2:
        raise UserError(
            f"--test {values[0]}: there is no such file, and as a name the text is missing, as in "
            "--test news news.de news.en"
        )
    return values[0], _files(values[1:], f"--test {values[0]}", task)


def _columns(
    flag_value: Sequence[str] | None, table: str, specs: Sequence[type[BaseSpec]]
) -> tuple[Columns, type[BaseSpec]]:
    """Return the columns of a table, and the kind of corpus with as many: by flag, common names,
    content or prompt."""
    from augury.cli.columns import Columns, check_chosen

    layout, names = _layout(table)
    kinds = {len(spec.TEXT.KIND.read): spec for spec in specs}
    wanted = ", or ".join(" ".join(spec.TEXT.KIND.read) for spec in specs)
    labelled = "label" in specs[0].TEXT.KIND.read

    def check(columns: Sequence[str], flag: str = "--columns") -> list[str]:
        if len(columns) not in kinds:
            numbers = " or ".join(map(str, kinds))
            raise UserError(f"{' '.join(columns)}: give {numbers} columns, {wanted}")
        check_chosen(table, layout, names, columns, labelled)
        return list(columns)

    if flag_value is None and (found := _found_columns(table, specs)):
        return found
    prompt = f"the columns for {wanted} in {table}, which has {', '.join(names)}"
    chosen = _value(flag_value, prompt, "--columns", check)
    return Columns(chosen, []), kinds[len(chosen)]


def _found_columns(
    table: str, specs: Sequence[type[BaseSpec]]
) -> tuple[Columns, type[BaseSpec]] | None:
    """Return the columns of a table with common names, else those that its content tells."""
    from augury.cli.columns import Columns, by_content, by_name, pairs_by_content
    from augury.core.progress import say

    layout, names = _layout(table)
    kinds = {len(spec.TEXT.KIND.read): spec for spec in specs}
    for count in sorted(kinds, reverse=True):
        if named := by_name(names, kinds[count].TEXT.KIND.read):
            return Columns(named, []), kinds[count]
    find = by_content if "label" in specs[0].TEXT.KIND.read else pairs_by_content
    content = find(table, layout, names)
    if content is None or len(content.names) not in kinds:
        return None
    spec = kinds[len(content.names)]
    pairs = zip(spec.TEXT.KIND.read, content.names, strict=True)
    by_role = ", ".join(f"{role} is {name}" for role, name in pairs)
    note = "without a header line" if content.header else f"columns by content, {by_role}"
    say(f"{table}: {note}; others: --columns {' '.join(spec.TEXT.KIND.read)}")
    return content, spec


def _own_columns(table: str, columns: Columns, spec: type[BaseSpec]) -> Columns:
    """Return the columns of a further table: those of the first, or else its own."""
    _, names = _layout(table)
    if not columns.header and {*columns.names} <= {*names}:
        return columns
    found = _found_columns(table, [spec])
    if found is None and columns.header and len(columns.header) == len(names):
        return columns
    if found is None:
        raise UserError(
            f"{table} has the columns {', '.join(names)}, and not {', '.join(columns.names)}: "
            "call its columns as those of the first table"
        )
    return found[0]


def _languages(codes: Mapping[str, str | None], names: Sequence[str], text: Text) -> dict[str, str]:
    """Return language codes by setting: from flags, the names of the sides, the text, or prompts.

    Says which ones are those of the text.
    """
    from augury.core.progress import say
    from augury.corpora.identification import language_of
    from augury.corpora.languages import check_language, languages

    checked = {}
    for index, (setting, code) in enumerate(codes.items()):
        flag = f"--{setting.replace('_', '-')}"
        if code is None and len(codes) == 2 and index < len(names):
            code = names[index] if names[index] in languages().names else None
        if code is None and (code := language_of(_sample(text, text.KIND.read[index]))):
            say(f"{setting.replace('_', ' ')}: {code}, by the words of the text; others: {flag}")
        prompt = f"code of the {setting.replace('_', ' ')} (de, en, ...)"
        (checked[setting],) = _value(
            [code] if code else (), prompt, flag, lambda values, _: [check_language(values[0])]
        )
    return checked


def _sample(text: Text, column: str) -> list[str]:
    """Return the first texts of a column."""
    from augury.corpora.identification import ROWS
    from augury.corpora.readers import open_text

    block = next(iter(open_text(text, "train").blocks()), None)
    values = block.column(column).slice(0, ROWS).to_pylist() if block else []
    return [value for value in values if value]


def _labels(text: Text) -> tuple[list[str], dict[str, None]]:
    """Return the labels of a table, and the names of those that stand for none; UserError for so
    many that they cannot be labels."""
    from augury.corpora.labels import MOST_LABELS, are_labels
    from augury.corpora.readers import open_text

    labels: set[str] = set()
    rows, opened = 0, open_text(text, "train")
    for block in opened.blocks():
        labels.update(label.strip() for label in block.column("label").unique().to_pylist())
        rows += len(block)
        if len(labels) > MOST_LABELS:
            break
    if not are_labels(len(labels), rows):
        raise UserError(
            f"{text.file}: column '{text.columns()['label']}' has {len(labels):,} different values "
            f"in the first {rows:,} rows, so that it is none of labels: name that of labels last "
            "in --columns"
        )
    labels -= {""}  # an empty one is an error, with its line, when text is read
    if opened.classes:
        names = enumerate(opened.classes)
        return [name for number, name in names if str(number) in labels], {}
    # Of numbered classes, three or more, -1 is none; of -1, 0 and 1 it is one.
    numbered = labels - {"-1"} == set(map(str, range(len(labels) - 1))) and len(labels) > 3
    missing: dict[str, None] = {"-1": None} if numbered else {}
    return sorted(labels - {*missing}), missing


def _rows(file: str) -> int:
    """Return the approximate number of rows of a text."""
    from augury.corpora.files import examine
    from augury.corpora.tables import examine_parquet

    parquet = Path(file).is_dir() or Path(file).suffix == ".parquet"
    return sum(part.lines for part in (examine_parquet(file) if parquet else [examine(file)]))
