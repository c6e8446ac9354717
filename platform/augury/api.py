"""Augury from Python, for notebooks: what the command line does, with pandas frames as results.

import augury
augury.run("my.yaml")
augury.results("results")
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augury.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from augury.augment.operator import Operator
    from augury.text.alphabet import Mode


def run(experiment: str | Path | Mapping[str, Any], **settings: Any) -> pd.DataFrame:
    """Run an experiment, a file or its content, and return the results of its runs, as `results` has them.

    `settings` override those of the experiment; a dotted key is written as `**{"regime.beta": 5}`. What exists is not
    trained again. UserError for settings that cannot be used, and where runs have failed.

        frame = augury.run("my.yaml", seeds=[1, 2, 3])
        frame.pivot_table("value", "system", ["test", "metric"])
    """
    from augury.core import config
    from augury.experiments.experiment import load, parse
    from augury.experiments.running import run_experiment
    from augury.tracking.tracker import Tracker

    if isinstance(experiment, Mapping):
        described = parse(config.merge(experiment, settings))
    else:
        described = load(experiment, settings=settings)
    runs, failures = run_experiment(described, Tracker)
    if failures:
        raise UserError("; ".join(failures))
    frame = results(described.storage)
    folders = [folder.uri for seeds in runs.values() for folder in seeds.values()]
    return frame[frame["run"].isin(folders)].reset_index(drop=True)


def results(storage: str | Path = "results") -> pd.DataFrame:
    """Return a row for every scored run, test set and metric of a storage, with its interval and cost.

    frame = augury.results("results")
    """
    frame: pd.DataFrame = import_module("augury.reporting.frames").results(storage)
    return frame


def compare(baseline: str | Path, system: str | Path) -> pd.DataFrame:
    """Compare two systems, given by folders of runs or configurations: the difference, its interval and p-value.

    augury.compare("results/runs/ADDRESS", "results/runs/OTHER")
    """
    frame: pd.DataFrame = import_module("augury.reporting.frames").compare(baseline, system)
    return frame


def encipher(
    texts: pd.Series | Sequence[str], key: int, *, alphabet: str | None = None, mode: Mode = "alpha", min_count: int = 1
) -> pd.Series:
    """Encipher texts with ROT-`key`: every letter moves so many places in the alphabet, by default that of the texts.

    The result has the index of `texts`. UserError for a key that leaves the text as it is.

        frame["rot-1"] = augury.encipher(frame["source"], 1)
    """
    from unicodedata import normalize

    import pandas as pd
    import pyarrow as pa

    from augury.text.alphabet import build_alphabet, count_letters, explicit_alphabet
    from augury.text.rot import Rot

    if isinstance(texts, str):
        raise UserError("encipher takes several texts: give a list or a column, such as ['ein Haus']")
    series = texts if isinstance(texts, pd.Series) else pd.Series(list(texts), dtype="str")
    if series.isna().any():
        raise UserError(
            f"{int(series.isna().sum())} of {len(series)} texts are missing: fill them, or drop them (dropna())"
        )
    lines = [normalize("NFC", text) for text in series]
    counts = {} if alphabet else count_letters(pa.array(lines, pa.string()))
    letters = explicit_alphabet(alphabet) if alphabet else build_alphabet(counts, mode, min_count)
    rot = Rot(letters, key)
    return pd.Series([rot.text(line) for line in lines], index=series.index, name=series.name, dtype="str")


def apply(frame: pd.DataFrame, operator: str, *, language: str | None = None, **parameters: Any) -> pd.DataFrame:
    """Apply an operator, by name or path, to sentences, and return the rows that it makes, without those of `frame`.

    `frame` has the columns that the operator reads: source and target, premise and hypothesis (and label),
    or text.
    `language` is a code, where the frame has no column of languages and the operator depends on them. The rows have the
    same columns, `origin` (the name of the view or operator) and `parent` (the index of the row each comes from).
    UserError for parameters and columns that cannot be used, and for operators that work with trained models, which
    `augury augment FILE` trains, or on token ids.

        copies = augury.apply(frame, "eda", copies=2, language="en")
        larger = pd.concat([frame, copies])
    """
    import pandas as pd

    from augury.augment import operator as operators
    from augury.core.store import Store

    if not isinstance(frame, pd.DataFrame):
        raise UserError(f"apply takes a DataFrame with the columns of texts, not a {type(frame).__name__}")
    chosen = operators.parse({"operator": operator, **parameters})
    if chosen.works_with_models:
        raise UserError(f"operator {chosen.operator} works with trained models: use `augury augment FILE`")
    if any(part.makes() == operators.DRAW for part in chosen.parts()):
        raise UserError(f"operator {chosen.operator} changes subwords anew in every pass of training: it makes no text")
    records = _records(frame, chosen, language)
    fitted = chosen.fit([chosen.fit_block(records)])
    with tempfile.TemporaryDirectory() as directory:
        rows = [_rows(frame, part.bind(fitted, Store(directory))(records).table, part) for part in chosen.parts()]
    return pd.concat(rows, ignore_index=True)


def _records(frame: pd.DataFrame, operator: Operator, language: str | None) -> pa.Table:
    """The rows of a frame as records of a corpus, numbered."""
    import pyarrow as pa

    from augury.corpora.corpus import LABELLED, NLI, PARALLEL

    schema = PARALLEL if "source" in frame else LABELLED if "text" in frame else NLI
    languages = {name for name in schema.names if name.endswith("language") and name not in frame}
    operator.check(["id", *languages, *frame.columns])
    reads = operator.reads(schema.names)
    if language is None and (unknown := languages.intersection(reads)):
        raise UserError(
            f"operator {operator.operator} depends on the language: give it, such as language='en', or the column "
            f"{min(unknown)}"
        )
    ids = pa.array(map(str, range(len(frame))), pa.string())
    columns = {
        field.name: pa.array(frame[field.name] if field.name in frame else [None] * len(frame), field.type)
        for field in schema
    }
    columns |= {name: pa.array([language or "und"] * len(frame), pa.string()) for name in languages}
    records = pa.table({**columns, "id": ids}, schema=schema)
    if empty := [name for name in reads if records.column(name).null_count]:
        raise UserError(f"column '{empty[0]}' has rows without text: fill them, or drop them (frame.dropna())")
    operator.check_text(records.select(list(reads)))
    return records


def _rows(frame: pd.DataFrame, table: pa.Table, part: Operator) -> pd.DataFrame:
    """What a part has made, in the columns of the frame."""
    from augury.augment.operator import RECORDS

    ids = table.column("id").to_pylist()
    if part.makes() == RECORDS:
        ids = [lineage["parents"][0] for lineage in table.column("lineage").to_pylist()]
    parents = list(map(int, ids))
    rows = frame.iloc[parents].reset_index(drop=True)
    for name in ("source", "target", "premise", "hypothesis", "label"):
        column = "text" if name == "source" and "text" in table.column_names else name
        if column in table.column_names and name in frame:
            rows[name] = table.column(column).to_pylist()
    return rows.assign(origin=part.name(), parent=frame.index[parents])
