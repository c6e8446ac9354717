"""`augury init`: write an experiment file for the user's own texts and check it."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from augury.cli import config
from augury.cli.columns import Columns, Table, by_content, by_name, language_code, task_of
from augury.cli.common import flag_of
from augury.cli.drafting import draft
from augury.core.errors import UserError
from augury.core.messages import say
from augury.core.naming import command, file_name
from augury.core.paths import expanded
from augury.core.plugin_files import is_path
from augury.core.store import Store
from augury.corpora.files import find, layout_of
from augury.corpora.identification import ROWS, language_of
from augury.corpora.ingest import cached_corpus
from augury.corpora.labels import MOST_LABELS, are_labels
from augury.corpora.languages import check_language
from augury.corpora.readers import open_text
from augury.corpora.spec import RESERVED, BaseSpec
from augury.corpora.tables import column_index
from augury.corpora.text_settings import EXTENSIONS, Text, extension
from augury.experiments.systems import load
from augury.experiments.task import Drafts, capable, find_task

EXAMPLE = """augury init my.yaml --source train.de --target train.en
  augury init my.yaml --train reviews.csv
  augury init my.yaml --train train.tsv --columns de en --test news news.tsv"""
FILE = "experiment.yaml"

NO_LABELS = frozenset(["", "NaN", "nan", "NULL", "null", "NA", "N/A", "#N/A", "n/a", "<NA>", "\\N"])
"""Labels of rows without one, as pandas reads and databases write them."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add = parser.add_argument
    texts: dict[str, Any] = {"nargs": "+", "metavar": "TEXT"}
    add("file", nargs="?", default=FILE, metavar="FILE", help=f"to write (default: {FILE})")
    add("--task", help="nmt, classification, nli or the path of one (default: by the files)")
    add("--train", **texts, help="two aligned files, or a table: TSV, CSV, JSON lines, Parquet")
    add("--source", metavar="TEXT", help="with --target, the same as --train")
    add("--target", metavar="TEXT", help="see --source")
    add("--valid", **texts, help="validation text (default: random rows of the training text)")
    add(
        "--test",
        nargs="+",
        action="append",
        default=[],
        metavar=("[NAME] TEXT", "TEXT"),
        help="a test set, called test without a name; repeatable (default: random rows, too)",
    )
    add("--columns", nargs="+", metavar="NAME", help="of tables: de en, or text label")
    for flag, side in (("--source-language", "source"), ("--target-language", "target")):
        add(flag, metavar="CODE", help=f"of the {side} (default: that of the text)")
    add("--language", metavar="CODE", help="of texts in a single language")
    add("--model", metavar="NAME", help="pretrained: its name on the hub, or directory; or tiny")
    add("--force", action="store_true", help="overwrite an existing file")
    parser.set_defaults(words=argv)


def run(arguments: argparse.Namespace) -> int:
    path = Path(arguments.file)
    if path.exists() and not arguments.force:
        raise UserError(
            f"{path} already exists: choose another file, or add --force to overwrite it"
        )
    text = _drafted(arguments, path)
    with suppress(FileExistsError):  # the parent is a file, as the next line says
        path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    say(f"wrote {path}")
    try:
        loaded = load(path)
        for split in loaded.corpus.splits():
            cached_corpus(loaded.corpus, split, Store(loaded.storage).root)
    except UserError as error:
        check = command("augury", "config", arguments.file)
        raise UserError(f"{error}; {path} is written: mend it, and check it: {check}") from error
    words = [
        word for word in arguments.words if word not in ("--model", arguments.model, "--force")
    ]
    without_model = command("augury", "init", *words, "--model", "tiny", "--force")
    # What it says of other settings is mended in the file.
    return config.show(str(path), (), as_json=arguments.json, without_model=without_model)


def _drafted(arguments: argparse.Namespace, path: Path) -> str:
    """Return the experiment file by what flags say and the files show."""
    if arguments.task:
        capable(arguments.task, Drafts)
    sides = [arguments.source, arguments.target]
    if arguments.train and sides != [None, None]:
        raise UserError(
            "--train is the same as --source with --target: give the text by one of them"
        )
    train = arguments.train or sides
    if train == [None, None]:
        raise UserError("--train is missing: give the training text, two aligned files or a table")
    if None in train:
        side, other = ("source", "target") if arguments.source else ("target", "source")
        raise UserError(f"--{side} has no --{other}: give the file of the other side too")
    task = arguments.task or "nmt"
    if not arguments.task:
        _check_files(train, "--train", aligned=True)
        if len(train) == 1:
            table = Table(train[0])
            for column in arguments.columns or ():
                column_index(table.file, table.names, column)
            task = task_of(table, arguments.columns or ())
        say(f"task: {task}, by {' and '.join(train)}; others: --task")
    annotation = find_task(task).EXPERIMENT.model_fields["corpus"].annotation
    specs: Sequence[type[BaseSpec]] = get_args(annotation) or (annotation,)
    files = _files(arguments, train, aligned=bool(specs[0].KIND.lines))
    texts, spec, columns = _texts_by_role(files, specs, arguments.columns)
    text = spec.TEXT.model_validate(texts["train"])
    corpus: dict[str, Any] = {}
    if len(specs) > 1:
        corpus["form"] = spec.model_fields["form"].default
    codes = {key: vars(arguments)[key] for key in spec.model_fields if key.endswith("language")}
    for key in ("language", "source_language", "target_language"):
        if vars(arguments)[key] and key not in codes:
            takes = " and ".join(map(flag_of, codes))
            raise UserError(f"{flag_of(key)} is not for task {task}: give {takes}, or leave it out")
    if arguments.columns and columns is None:
        raise UserError("--columns is for tables, and no text is one: leave it out")
    names = columns.names if columns else []
    if len(train) == 2:
        names = [extension(file)[1:] for file in train]
    corpus |= _languages(codes, names, text)
    missing: list[str] = []
    if "labels" in spec.model_fields:
        corpus["labels"], missing = _labels(text)
    for settings in texts.values() if text.KIND.is_labelled else ():
        if without := [*missing, *_blank_labels(spec.TEXT.model_validate(settings))]:
            settings["labels"] = dict.fromkeys(without)

    folder = path.parent
    for settings in texts.values():
        for key in ("file", "source", "target"):
            if key in settings:
                settings[key] = _relative(settings[key], folder)
    model = arguments.model
    if model and Path(model).is_dir() and (moved := _relative(model, folder)) != model:
        model = os.path.join(".", moved)
    if is_path(task) and (moved := _relative(task, folder)) != task:
        task = os.path.join(".", moved)
    return draft(
        re.sub(r"[^\w.-]+", "-", path.stem).strip("-.")[:100] or "experiment",
        task,
        rows=open_text(text, "train").total,
        corpus=corpus,
        train=texts.pop("train"),
        valid=texts.pop("valid", None),
        tests={role.removeprefix("tests."): settings for role, settings in texts.items()},
        model=model,
    )


def _texts_by_role(
    files: Mapping[str, Sequence[str]], specs: Sequence[type[BaseSpec]], names: Sequence[str] | None
) -> tuple[dict[str, dict[str, Any]], type[BaseSpec], Columns | None]:
    """Return the settings of every text, the kind of corpus that they are of, and the columns of
    the first table, None where there is none; `names` are those of --columns."""
    texts: dict[str, dict[str, Any]] = {}
    spec, columns = specs[0], None
    for role, of_role in files.items():
        if len(of_role) == 2:
            texts[role] = dict(zip(("source", "target"), of_role, strict=True))
            continue
        kinds = specs if columns is None else [spec]
        spec, own = _columns(Table(of_role[0]), kinds, names, columns)
        columns = columns or own
        by_role = zip(spec.KIND.read, own.names, strict=True)
        texts[role] = {"file": of_role[0], "columns": dict(by_role)}
        if own.header:
            texts[role]["header"] = own.header
    return texts, spec, columns


def _relative(name: str, folder: Path) -> str:
    """Return a path as it is read in an experiment file of this folder: relative to it."""
    kept = expanded(name).is_absolute() or folder.resolve() == Path.cwd()
    return name if kept else os.path.relpath(name, folder)


def _files(
    arguments: argparse.Namespace, train: Sequence[str], aligned: bool
) -> dict[str, Sequence[str]]:
    """Return the files of every text, the training text first; UserError for those that are none.

    A test set is called test where no name is given before its files.
    """
    files = {"train": train, **({"valid": arguments.valid} if arguments.valid else {})}
    for role, of_role in files.items():
        _check_files(of_role, f"--{role}", aligned)
    for values in arguments.test:
        name, of_test = "test", values
        unnamed = aligned and len(values) == 2 and Path(values[0]).is_file()
        if len(values) > 1 and not unnamed:
            name, *of_test = values
        _check_files(of_test, "--test" if of_test == values else f"--test {name}", aligned)
        if file_name(name, "--test ") in RESERVED:
            raise UserError(f"--test: '{name}' is the name of no test set: call it otherwise")
        if f"tests.{name}" in files:
            raise UserError(
                f"--test: several test sets are called {name}: give each a name of its own before "
                "its text, as in --test news news.de news.en"
            )
        files[f"tests.{name}"] = of_test
    return files


def _check_files(files: Sequence[str], flag: str, aligned: bool) -> None:
    """Raise UserError if there are too many files for a text, one does not exist, or one side of
    two is missing."""
    if len(files) > (2 if aligned else 1):
        what = "two aligned files or one table" if aligned else "one table"
        raise UserError(f"{flag} {' '.join(files)}: a text is {what}")
    for file in files:
        is_table = find(file).is_dir() or extension(file) in EXTENSIONS
        if not is_table:
            layout_of(file)  # which names one that is no text
        if not is_table and len(files) == 1:
            other_side = (
                f"its other side is missing, give both, as in {flag} {file} OTHER_SIDE (or {file}, "
                "if it has both); or "
            )
            raise UserError(
                f"{flag} has one file, {file}, and its extension is not that of a table: "
                f"{other_side if aligned else ''}call a table .tsv, .csv, .jsonl or .parquet"
            )


def _columns(
    table: Table,
    specs: Sequence[type[BaseSpec]],
    chosen: Sequence[str] | None,
    known: Columns | None,
) -> tuple[type[BaseSpec], Columns]:
    """Return the kind of corpus that a table is for, and its columns: those that are chosen, or of
    the first table (`known`), else those with common names, else by content."""
    kinds = {len(spec.KIND.read): spec for spec in specs}
    wanted = ", or ".join(" ".join(spec.KIND.read) for spec in specs)
    if chosen and known is None:
        if len(chosen) not in kinds:
            numbers = " or ".join(map(str, kinds))
            raise UserError(f"{' '.join(chosen)}: give {numbers} columns, {wanted}")
        for column in chosen:
            column_index(table.file, table.names, column)
            if chosen.count(column) > 1:
                raise UserError(
                    f"--columns gives '{column}' several times: give a column of {table.file} for "
                    f"each, of {', '.join(table.names)}"
                )
        return kinds[len(chosen)], Columns(list(chosen), [])
    if known and not known.header and set(known.names) <= set(table.names):
        return specs[0], known
    for count in sorted(kinds, reverse=True):
        if named := by_name(table.names, kinds[count].KIND.read):
            return kinds[count], Columns(named, [])
    content = by_content(table, "label" in specs[0].KIND.read)
    if content and len(content.names) in kinds:
        spec = kinds[len(content.names)]
        pairs = zip(spec.KIND.read, content.names, strict=True)
        by_role = ", ".join(f"{role} is {name}" for role, name in pairs)
        note = "without a header line" if content.header else f"columns by content, {by_role}"
        say(f"{table.file}: {note}; others: --columns {' '.join(spec.KIND.read)}")
        return spec, content
    if known and known.header and len(known.header) == len(table.names):
        return specs[0], known
    if known:
        raise UserError(
            f"{table.file} has the columns {', '.join(table.names)}, and not "
            f"{', '.join(known.names)}: call its columns as those of the first table"
        )
    raise UserError(
        f"--columns is missing: name those for {wanted} in {table.file}, which has "
        f"{', '.join(table.names)}"
    )


def _languages(codes: Mapping[str, str | None], sides: Sequence[str], text: Text) -> dict[str, str]:
    """Return language codes by setting: from flags, the names of the sides, or the text, which is
    said."""
    block = next(iter(open_text(text, "train").blocks()), None)
    checked = {}
    for index, (setting, code) in enumerate(codes.items()):
        flag = flag_of(setting)
        if code is None and len(codes) == 2:
            code = language_code(sides[index])
        if code is None and block:
            values = block.column(text.KIND.read[index]).slice(0, ROWS).to_pylist()
            if code := language_of([value for value in values if value]):
                say(f"{setting.replace('_', ' ')}: {code}, by the text; others: {flag}")
        if code is None:
            raise UserError(f"{flag} is missing: give the code of the language (de, en, ...)")
        checked[setting] = check_language(code)
    return checked


def _blank_labels(text: Text) -> list[str]:
    """Return the spellings of empty labels in a text, whose rows are left out, which is said; none
    for a text that cannot be read, which its check reports."""
    blank = set[str]()
    try:
        for block in open_text(text, "train").blocks():
            labels = block.column("label").unique().to_pylist()
            blank.update(label for label in labels if label.strip() in NO_LABELS)
    except UserError:
        return []
    if blank:
        spelt = ", ".join(sorted(blank - {""}))
        say(f"{text.file}: rows without a label{spelt and f' ({spelt})'} are left out")
    return sorted(blank)


def _labels(text: Text) -> tuple[list[str], list[str]]:
    """Return the labels of a table, and the names of those that stand for none; UserError for so
    many that they cannot be labels."""
    labels: set[str] = set()
    rows, opened = 0, open_text(text, "train")
    for block in opened.blocks():
        labels.update(label.strip() for label in block.column("label").unique().to_pylist())
        rows += len(block)
        if len(labels) > MOST_LABELS:
            break
    if not are_labels(len(labels), rows):
        raise UserError(
            f"{text.file}: column '{text.table_columns['label']}' has {len(labels):,} different "
            f"values in the first {rows:,} rows, so that it is none of labels: name that of labels "
            "last in --columns"
        )
    labels -= NO_LABELS
    if len(labels) < 2:
        raise UserError(
            f"{text.file}: column '{text.table_columns['label']}' has no two labels, but "
            f"{', '.join(labels) or 'none'}: name that of labels last in --columns"
        )
    if opened.classes:
        names = enumerate(opened.classes)
        return [name for number, name in names if str(number) in labels], []
    # Of numbered classes, three or more, -1 is none; of -1, 0 and 1 it is one.
    numbered = labels - {"-1"} == set(map(str, range(len(labels) - 1))) and len(labels) > 3
    missing = ["-1"] if numbered else []
    return sorted(labels - {*missing}), missing
