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
from augury.corpora.files import (
    InputFile,
    examine,
    find,
    has_both_sides,
    layout_of,
    line_blocks,
    lines,
    sentences,
)
from augury.corpora.tables import (
    BLOCK_ROWS,
    USUAL,
    batches,
    class_names,
    dialect_of,
    examine_parquet,
    line_of,
    read_table,
    select_columns,
    strings,
)
from augury.corpora.text_settings import BaseText, Role

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
    and `label`), `id` if the text has ids, and `selected`, which is false for rows that are not
    part of the text."""
    first: int | None = None
    """Maximum number of selected rows; None for all."""
    note: str | None = None
    """A remark to show with results."""
    classes: tuple[str, ...] = ()
    """Names of the classes, if the label column holds their numbers."""
    line_of: Callable[[int], int | None] = lambda row: None
    """Returns the line that an input row, from 1, begins in; None if rows are not lines."""

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
        """Return the location of a row for messages: a line of a file, if rows are lines."""
        name = (
            ", ".join(source.get("path") or source["hub"] for source in self.inputs)
            or "the built-in text"
        )
        line = self.line_of(row)
        return f"row {row:,} of {name}" if line is None else f"{name}, line {line:,}"


def open_text(spec: BaseText, role: Role, languages: tuple[str, ...] = ()) -> TextSource:
    """Validate a text; raise UserError unless its files are intact, UTF-8 and of equal length, and
    its columns exist.

    `languages` are those of its records, for built-in text.
    """
    if spec.portion:
        return _portion(open_text(spec.model_copy(update={"portion": None}), role, languages), spec)
    if spec.swapped and spec.kind != "builtin":  # which is generated in the right direction
        return _reversed(
            open_text(spec.model_copy(update={"reversed": False}), role, languages[::-1])
        )
    if spec.sides and spec.kind in ("aligned", "lines"):
        return _open_lines(spec)
    if spec.kind == "table":
        return _open_table(spec)
    if spec.kind == "hub":
        return _open_hub(spec, role)
    assert spec.kind == "builtin"
    return _open_builtin(spec, role, languages)


def _portion(text: TextSource, spec: BaseText) -> TextSource:
    """Return a text with only the rows of a portion selected; of labelled text, rows that share a
    sentence are in the same one."""
    assert spec.portion is not None
    start, end = spec.portion
    labelled = "label" in spec.COLUMNS
    sentences = [column for column in spec.COLUMNS if column != "label"]
    grouped = cache(lambda: grouped_numbers(text.read(), sentences, spec.portion_seed))

    def read() -> Iterator[pa.Table]:
        row = 0
        for block in text.read():
            rows = range(row, row + len(block))
            numbers = (
                grouped()[row : rows.stop] if labelled else row_numbers(rows, spec.portion_seed)
            )
            selected = block.column("selected").to_numpy() & (start <= numbers) & (numbers < end)
            place = block.column_names.index("selected")
            yield block.set_column(place, "selected", pa.array(selected))
            row = rows.stop

    content = [*text.content, "by sentence"] if labelled else text.content
    return replace(text, content=content, read=read)


def row_numbers(rows: Sequence[int], seed: int) -> np.ndarray:
    """Return a number in [0, 1) for every row, given its place in the text from 0."""
    return uniform(keys_of(list(map(str, rows)), "portion", seed), 0, 1)[:, 0]


def grouped_numbers(blocks: Iterable[pa.Table], sentences: Sequence[str], seed: int) -> np.ndarray:
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
    order = np.lexsort((row_numbers(firsts.tolist(), seed), labels))
    before = np.cumsum(weights[order]) - weights[order] / 2
    totals = np.bincount(labels, weights)
    starts = np.cumsum(totals) - totals
    own = labels[order]
    shares = (before - starts[own]) / np.maximum(totals[own], 1)
    shares += row_numbers(range(len(totals)), seed)[own]
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


def _reversed(text: TextSource) -> TextSource:
    """Return a text with source and target swapped."""
    names = {"source": "target", "target": "source"}

    def read() -> Iterator[pa.Table]:
        for block in text.read():
            yield block.rename_columns([names.get(name, name) for name in block.column_names])

    return replace(text, read=read)


def _open_lines(spec: BaseText) -> TextSource:
    sides = spec.sides
    if len(sides) > 1:
        _check_distinct(*sides)
    number, paths = len(sides[0]), [*chain.from_iterable(sides)]
    with ThreadPoolExecutor(2) as pool:  # hashing and decompression release the GIL
        files = list(pool.map(examine, paths))
    layouts = [spec.format or layout_of(path) for path in paths]
    texts = [
        partial(sentences, find(path), layout, place // number)
        for place, (path, layout) in enumerate(zip(paths, layouts, strict=True))
    ]
    counts = [
        file.lines if layout == "lines" else sum(1 for _ in text())
        for file, layout, text in zip(files, layouts, texts, strict=True)
    ]
    for index, (source, *targets) in enumerate(zip(*sides, strict=True)):
        for target, count in zip(targets, counts[index + number :: number], strict=True):
            if counts[index] != count:
                raise UserError(
                    f"{source} has {counted(counts[index], 'line')} and {target} has {count:,}: "
                    "they must be aligned line by line"
                )

    def blocks(path: str, layout: str, text: Callable[[], Iterator[bytes]]) -> Iterator[pa.Array]:
        if layout == "lines":
            return line_blocks(find(path), BLOCK_ROWS)
        return map(strings, batches(text()))

    def read() -> Iterator[pa.Table]:
        of_files = list(map(blocks, paths, layouts, texts))
        columns = [
            chain.from_iterable(of_files[first : first + number])
            for first in range(0, len(paths), number)
        ]
        for values in zip(*columns, strict=True):
            yield _block(dict(zip(spec.COLUMNS, values, strict=True)))

    told = [layout for layout in layouts if layout != spec.format and layout != "lines"]
    if "seg" in layouts and any(b"&" in line for path in paths for line in lines(find(path))):
        told.append("entities")
    text = _text_source(spec, files, sum(counts[:number]), read, told)
    rows_are_lines = number == 1 and {*layouts} == {"lines"}
    return replace(text, line_of=lambda row: row) if rows_are_lines else text


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


def _open_table(spec: BaseText) -> TextSource:
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
    told = dialect_of(path, layout).told(layout) if layout in USUAL else classes
    text = _text_source(spec, files, sum(file.lines for file in files), read, told)
    return replace(text, classes=classes, line_of=partial(line_of, path, layout, spec.header))


def _open_hub(spec: BaseText, role: Role) -> TextSource:
    name = spec.hub
    assert name is not None
    dataset = _load(name, spec.configuration, spec.split, HUB_SPLITS[role])

    def read() -> Iterator[pa.Table]:
        return (_select(table, spec) for table in _hub_blocks(dataset, _columns(spec), name))

    if next(read(), None) is None:  # raises if a column does not exist
        raise UserError(f"split {dataset.split} of {name} has no rows: choose another split")
    fingerprint = str(dataset._fingerprint)
    inputs = [{"hub": name, "split": str(dataset.split), "fingerprint": fingerprint}]
    classes = _hub_classes(dataset, spec.columns()["label"]) if "label" in spec.COLUMNS else ()
    return TextSource(inputs, [fingerprint], len(dataset), read, spec.first, classes=classes)


def _load(name: str, configuration: str | None, split: str | None, default: str) -> Any:
    """Load a split as a `datasets.Dataset`; `default` is the split if none is given. Raise
    UserError if that fails."""
    try:
        import datasets
    except ImportError as error:
        raise UserError(
            "text from the hub needs the library `datasets`: pip install augury[hub]"
        ) from error
    directory = expanded(name)
    try:
        if not any(
            (directory / file).exists() for file in SAVED
        ):  # on the hub, or a directory of data files
            return datasets.load_dataset(
                str(directory) if directory.is_dir() else name,
                configuration,
                split=split or default,
            )
        dataset = datasets.load_from_disk(str(directory))
    except Exception as error:  # from many libraries: network, filesystems, dataset builders
        description = f"dataset '{name}' (configuration {configuration}, split {split or default})"
        raise UserError(
            f"{description} cannot be loaded: {' '.join(str(error).split())[:300]}"
        ) from error
    if isinstance(dataset, datasets.Dataset):
        if split:
            raise UserError(f"'{name}' is a dataset without splits: remove split: {split}")
        return dataset
    if (split or default) not in dataset:
        raise unknown(f"split of {name}", split or default, dataset)
    return dataset[split or default]


def _hub_blocks(dataset: Any, columns: Sequence[str], name: str) -> Iterator[pa.Table]:
    """Yield the given columns as strings, block by block."""
    for table in dataset.with_format("arrow").iter(batch_size=BLOCK_ROWS):
        yield select_columns(table, columns, name)


def _hub_classes(dataset: Any, column: str) -> tuple[str, ...]:
    """Return the class names of a `ClassLabel` column, and an empty tuple for other columns."""
    return tuple(getattr(dataset.features.get(column), "names", None) or ())


def _open_builtin(spec: BaseText, role: Role, languages: tuple[str, ...]) -> TextSource:
    assert spec.builtin is not None
    content, note, columns, generate = spec.generated(role, languages)
    generate()  # raises for an invalid size or lexicon; sentences are generated lazily

    def read() -> Iterator[pa.Table]:
        for batch in batches(generate()):
            texts = dict(zip(columns, map(pa.array, zip(*batch, strict=True)), strict=True))
            yield _block({name: texts[name] for name in spec.COLUMNS}, ids=texts.get("id"))

    return TextSource([], content, spec.builtin, read, spec.first, note)


def _text_source(
    spec: BaseText, files: Sequence[InputFile], total: int, read: Reader, told: Sequence[str] = ()
) -> TextSource:
    """Return the text of files; `told` is what their bytes say of how they are read."""
    content = [*(file.sha256 for file in files), *told]
    return TextSource([asdict(file) for file in files], content, total, read, spec.first)


def _columns(spec: BaseText) -> list[str]:
    columns = [*spec.columns().values(), spec.id_column, *spec.where]
    return list(dict.fromkeys(column for column in columns if column))


def _select(table: pa.Table, spec: BaseText) -> pa.Table:
    """Return a block from a table, with the mask of the rows that are part of the text."""
    columns = {name: table.column(column) for name, column in spec.columns().items()}
    selected = np.ones(len(table), bool)
    for column, value in spec.where.items():
        selected &= pc.equal(table.column(column), str(value)).to_numpy()
    if spec.placeholders:
        marks = pa.array(spec.placeholders, pa.string())
        for side in columns.values():
            selected &= ~pc.is_in(pc.ascii_trim_whitespace(side), value_set=marks).to_numpy()
    return _block(columns, selected, table.column(spec.id_column) if spec.id_column else None)


def _block(
    columns: dict[str, Any], selected: np.ndarray | None = None, ids: Any = None
) -> pa.Table:
    rows = len(next(iter(columns.values())))
    mask = pa.array(np.ones(rows, bool) if selected is None else selected)
    return pa.table({**columns, "selected": mask} | ({} if ids is None else {"id": ids}))
