"""Text from files, tables, Hugging Face datasets and built-in corpora as blocks of numbered
rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.errors import UserError, unknown
from augury.core.naming import counted
from augury.core.paths import expanded
from augury.core.rng import keys_of, uniform
from augury.corpora.corpus import Kind
from augury.corpora.files import (
    InputFile,
    examine,
    find,
    has_both_sides,
    layout_of,
    sentences,
)
from augury.corpora.tables import (
    BLOCK_ROWS,
    batches,
    class_names,
    examine_parquet,
    first_line,
    read_table,
    select_columns,
    strings,
)
from augury.corpora.text_settings import ParallelText, Role, Text

Reader: TypeAlias = "Callable[[], Iterator[pa.Table]]"
HUB_SPLITS = {"train": "train", "valid": "validation", "test": "test"}
SAVED = ("dataset_dict.json", "state.json")
"""Files that `save_to_disk` writes for a dataset with splits or without."""
LARGE, FEW = 0.1, 20
"""A group is large from this share of the rows on, beside at least so many groups."""


@dataclass(frozen=True)
class TextSource:
    """A validated text that can be read."""

    inputs: list[dict[str, Any]]
    """The files (path, bytes, lines, SHA-256), or the dataset with its fingerprint."""
    content: list[str]
    """Hashes or names that identify the content, independently of file names."""
    total: int
    """Number of input rows, or of lines if the input is a text file."""
    read: Reader
    """Reads blocks with the columns of the text (`source` and `target`, or `premise`, `hypothesis`
    and `label`), and `selected`, which is false for rows that are not part of the text."""
    first: int | None = None
    """Maximum number of selected rows; None for all."""
    note: str | None = None
    """A remark to show with results."""
    classes: tuple[str, ...] = ()
    """Names of the classes, if the label column holds their numbers."""
    first_line: int | None = None
    """The line of the first row of a file whose rows are lines; None for other text."""

    def blocks(self) -> Iterator[pa.Table]:
        """Yield the blocks of `read` with a column `row`, the number of the input row from 1."""
        row, remaining = 1, self.first
        for block in self.read():
            if remaining is not None:
                counts = np.cumsum(block.column("selected").to_numpy())
                block = block.slice(0, int(np.searchsorted(counts, remaining)) + 1)
                remaining -= min(remaining, int(counts[-1]))
            yield block.append_column("row", pa.array(np.arange(row, row + len(block))))
            row += len(block)
            if remaining == 0:
                return

    def location(self, row: int) -> str:
        """Return the location of a row, from 1, for messages: a line of a file, if rows are
        lines."""
        names = [source.get("path") or source["hub"] for source in self.inputs]
        name = ", ".join(names) or "the built-in text"
        if self.first_line is None:
            return f"row {row:,} of {name}"
        return f"{name}, line {row - 1 + self.first_line:,}"


def open_text(spec: Text, role: Role, languages: tuple[str, ...] = ()) -> TextSource:
    """Validate a text; raise UserError unless its files are intact, UTF-8 and of equal length, and
    its columns exist.

    `languages` are those of its records, for built-in text.
    """
    is_reversed = isinstance(spec, ParallelText) and spec.reversed and not spec.builtin
    if spec.origin == "lines":
        text = _open_lines(spec)
    elif spec.origin == "file":
        text = _open_table(spec)
    elif spec.origin == "hub":
        text = _open_hub(spec, role)
    else:  # built-in text is generated in the right direction
        text = _open_builtin(spec, role, languages)
    if is_reversed:
        text = replace(text, read=partial(_reversed, text.read))
    return _portion(text, spec.portion, spec.KIND) if spec.portion else text


def _reversed(read: Reader) -> Iterator[pa.Table]:
    """Yield blocks with source and target swapped."""
    names = {"source": "target", "target": "source"}
    for block in read():
        yield block.rename_columns([names.get(name, name) for name in block.column_names])


def _portion(text: TextSource, portion: tuple[float, float], kind: Kind) -> TextSource:
    """Return a text with only the rows of a portion selected; of labelled text, rows that share a
    sentence are in the same one."""
    start, end = portion
    grouped = cache(lambda: grouped_numbers(text.read(), kind.sentences))

    def read() -> Iterator[pa.Table]:
        row = 0
        for block in text.read():
            rows = range(row, row + len(block))
            numbers = grouped()[row : rows.stop] if kind.is_labelled else row_numbers(rows)
            selected = block.column("selected").to_numpy() & (start <= numbers) & (numbers < end)
            place = block.column_names.index("selected")
            yield block.set_column(place, "selected", pa.array(selected))
            row = rows.stop

    return replace(text, read=read)


def row_numbers(rows: Sequence[int]) -> np.ndarray:
    """Return a number in [0, 1) for every row, given its place in the text from 0."""
    return uniform(keys_of(list(map(str, rows)), "portion", 1), 0, 1)[:, 0]


def grouped_numbers(blocks: Iterable[pa.Table], sentences: Sequence[str]) -> np.ndarray:
    """Return a number in [0, 1) for every row of a labelled text: the same for rows that share a
    sentence, directly or by others, and spread evenly among those with the same label."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    table = pa.concat_tables(block.select([*sentences, "label"]) for block in blocks)
    count = len(table)
    sides = [pc.ascii_trim_whitespace(table.column(name)).combine_chunks() for name in sentences]
    texts = _codes(pa.concat_arrays(sides))
    edges = np.tile(np.arange(count), len(sides)), count + texts
    nodes = count + int(texts.max(initial=0)) + 1
    graph = coo_array((np.ones(len(texts), np.int8), edges), shape=(nodes, nodes))
    _, components = connected_components(graph, directed=False)
    _, firsts, groups, sizes = np.unique(
        components[:count], return_index=True, return_inverse=True, return_counts=True
    )
    labels = _most_frequent(groups, _codes(table.column("label").combine_chunks()))
    # A large group, which would fill a portion, is at 0 and leaves the numbers to the others.
    large = (sizes > LARGE * count) & (len(sizes) >= FEW)
    weights = np.where(large, 0, sizes)
    order = np.lexsort((row_numbers(firsts.tolist()), labels))
    before = np.cumsum(weights[order]) - weights[order] / 2
    totals = np.bincount(labels, weights)
    starts = np.cumsum(totals) - totals
    own = labels[order]
    shares = (before - starts[own]) / np.maximum(totals[own], 1)
    shares += row_numbers(range(len(totals)))[own]
    of_groups = np.empty(len(sizes))
    of_groups[order] = shares % 1
    of_groups[large] = 0
    return of_groups[groups]


def _codes(values: pa.Array) -> np.ndarray:
    return values.dictionary_encode().indices.to_numpy()


def _most_frequent(groups: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the most frequent label of every group, the first of several."""
    pairs, counts = np.unique(np.stack([groups, labels]), axis=1, return_counts=True)
    order = np.lexsort((-pairs[1], counts))  # the most frequent last, which is kept
    chosen = np.empty(int(groups.max(initial=-1)) + 1, int)
    chosen[pairs[0, order]] = pairs[1, order]
    return chosen


def _open_lines(spec: Text) -> TextSource:
    sides = spec.sides
    if len(sides) > 1:
        _check_distinct(*sides)
    number, paths = len(sides[0]), [*chain.from_iterable(sides)]
    with ThreadPoolExecutor(2) as pool:  # hashing and decompression release the GIL
        files = list(pool.map(examine, paths))
    layouts = [spec.format or layout_of(path) for path in paths]
    columns = [place // number for place in range(len(paths))]
    counts = [
        file.lines if layout == "lines" else sum(1 for _ in sentences(find(path), layout, column))
        for path, file, layout, column in zip(paths, files, layouts, columns, strict=True)
    ]
    for place, (path, count) in enumerate(zip(paths, counts, strict=True)):
        if count != counts[place % number]:
            raise UserError(
                f"{paths[place % number]} has {counted(counts[place % number], 'line')} and {path} "
                f"has {count:,}: they must be aligned line by line"
            )

    def column(place: int) -> Iterator[pa.Array]:
        """Yield blocks of the files of a column, one file after the other."""
        of_column = slice(place * number, (place + 1) * number)
        for path, layout in zip(paths[of_column], layouts[of_column], strict=True):
            yield from map(strings, batches(sentences(find(path), layout, place)))

    def read() -> Iterator[pa.Table]:
        for values in zip(*map(column, range(len(sides))), strict=True):
            yield _block(dict(zip(spec.KIND.read, values, strict=True)))

    text = _text_source(spec, files, sum(counts[:number]), read)
    return replace(text, first_line=1 if number == 1 and {*layouts} == {"lines"} else None)


def _check_distinct(sources: Sequence[str], targets: Sequence[str]) -> None:
    if len(sources) != len(targets):
        raise UserError(
            f"{len(sources)} source files and {len(targets)} target files: give equal numbers of "
            "both"
        )
    for source in sources:
        for target in targets:
            if os.path.samefile(find(source), find(target)) and not has_both_sides(source):
                raise UserError(
                    f"source '{source}' and target '{target}' are the same file: give two files"
                )


def _open_table(spec: Text) -> TextSource:
    path, layout = spec.file, spec.layout
    assert path is not None
    files = examine_parquet(path) if layout == "parquet" else [examine(path)]

    def read() -> Iterator[pa.Table]:
        return (
            _select(table, spec) for table in read_table(path, layout, _columns(spec), spec.header)
        )

    if next(read(), None) is None:  # raises if a column does not exist
        raise UserError(f"{path} has a header but no rows: give a table with rows")
    classes = class_names(path, spec.columns().get("label", "")) if layout == "parquet" else ()
    text = _text_source(spec, files, sum(file.lines for file in files), read)
    return replace(text, classes=classes, first_line=first_line(path, layout, spec.header))


def _open_hub(spec: Text, role: Role) -> TextSource:
    name, split = str(spec.hub), spec.split or HUB_SPLITS[role]
    dataset = _load(name, spec.configuration, split)

    def read() -> Iterator[pa.Table]:
        for table in dataset.with_format("arrow").iter(batch_size=BLOCK_ROWS):
            yield _select(select_columns(table, _columns(spec), name), spec)

    if next(read(), None) is None:  # raises if a column does not exist
        raise UserError(f"split {split} of {name} has no rows: choose another split")
    fingerprint = str(dataset._fingerprint)
    inputs = [{"hub": name, "split": str(dataset.split), "fingerprint": fingerprint}]
    label = dataset.features.get(spec.columns().get("label"))  # numbers classes where it has names
    classes = tuple(getattr(label, "names", None) or ())
    return TextSource(inputs, [fingerprint], len(dataset), read, spec.first, classes=classes)


def _load(name: str, configuration: str | None, split: str) -> Any:
    """Load a split as a `datasets.Dataset`; raise UserError if that fails."""
    directory = expanded(name)
    is_saved = any((directory / file).exists() for file in SAVED)
    try:
        import datasets

        if not is_saved:  # on the hub, or a directory of data files
            place = str(directory) if directory.is_dir() else name
            return datasets.load_dataset(place, configuration, split=split)
        loaded = datasets.load_from_disk(str(directory))
    except ImportError as error:
        raise UserError(
            "text from the hub needs the library `datasets`: pip install augury[hub]"
        ) from error
    except Exception as error:  # from many libraries: network, filesystems, dataset builders
        raise UserError(
            f"dataset '{name}' (configuration {configuration}, split {split}) cannot be loaded: "
            f"{' '.join(str(error).split())[:300]}"
        ) from error
    if isinstance(loaded, datasets.Dataset):  # saved without splits
        return loaded
    if split not in loaded:
        raise unknown(f"split of {name}", split, loaded)
    return loaded[split]


def _open_builtin(spec: Text, role: Role, languages: tuple[str, ...]) -> TextSource:
    # The grammars take longer to import than most texts to read.
    from augury.corpora.builtin_nli import builtin_text

    assert spec.builtin is not None
    made = builtin_text(spec, role, languages)

    def read() -> Iterator[pa.Table]:
        for batch in batches(builtin_text(spec, role, languages).rows):
            columns = map(pa.array, zip(*batch, strict=True))
            yield _block(dict(zip(spec.KIND.read, columns, strict=True)))

    return TextSource([], made.content, spec.builtin, read, spec.first, made.note)


def _text_source(spec: Text, files: Sequence[InputFile], total: int, read: Reader) -> TextSource:
    inputs, content = [asdict(file) for file in files], [file.sha256 for file in files]
    return TextSource(inputs, content, total, read, spec.first)


def _columns(spec: Text) -> list[str]:
    return list(dict.fromkeys([*spec.columns().values(), *spec.where]))


def _select(table: pa.Table, spec: Text) -> pa.Table:
    """Return a block from a table, with the mask of the rows that are part of the text."""
    columns = {name: table.column(column) for name, column in spec.columns().items()}
    selected = np.ones(len(table), bool)
    for column, value in spec.where.items():
        selected &= pc.equal(table.column(column), str(value)).to_numpy()
    if spec.missing:
        marks = pa.array(spec.missing, pa.string())
        for side in spec.KIND.sentences:
            trimmed = pc.ascii_trim_whitespace(columns[side])
            selected &= ~pc.is_in(trimmed, value_set=marks).to_numpy()
    return _block(columns, selected)


def _block(columns: dict[str, Any], selected: np.ndarray | None = None) -> pa.Table:
    rows = len(next(iter(columns.values())))
    mask = np.ones(rows, bool) if selected is None else selected
    return pa.table({**columns, "selected": pa.array(mask)})
