"""Text from files of lines, tables, Hugging Face datasets and built-in corpora as blocks of
numbered rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.errors import UserError, unknown
from augury.core.naming import counted
from augury.core.paths import expanded
from augury.core.rng import keys_of, uniform
from augury.corpora import tables
from augury.corpora.corpus import Kind
from augury.corpora.files import InputFile, examine, find, layout_of, segments, sentences
from augury.corpora.filters import composed
from augury.corpora.text_settings import Role, Text

HUB_SPLITS = {"train": "train", "valid": "validation", "test": "test"}
Reader: TypeAlias = "Callable[[], Iterator[pa.Table]]"
LARGE, FEW = 0.1, 20
"""A group is large from this share of the rows on, beside at least so many groups."""


@dataclass(frozen=True)
class TextSource:
    """A validated text that can be read."""

    inputs: list[dict[str, Any]]
    """The files: path, bytes, lines, SHA-256."""
    content: list[str]
    """Hashes or names that identify the content, independently of file names."""
    total: int
    """Number of input rows, or of lines if the input is a text file."""
    read: Reader
    """Reads blocks with the columns of the text (`source` and `target`, or `premise`, `hypothesis`
    and `label`), `selected`, which is false for rows that are not part of the text, and
    `tables.LINE`, where rows have lines of a file."""
    first: int | None = None
    """Maximum number of selected rows; None for all."""
    note: str | None = None
    """A remark to show with results."""
    classes: tuple[str, ...] = ()
    """Names of the classes, if the label column holds their numbers."""

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

    def location(self, block: pa.Table, place: int) -> str:
        """Return the location of a row of a block for messages: a line of a file, if it has one."""
        names = ", ".join(source["path"] for source in self.inputs) or "the built-in text"
        if tables.LINE in block.column_names:
            return f"{names}, line {block.column(tables.LINE)[place].as_py():,}"
        return f"row {block.column('row')[place].as_py():,} of {names}"


def open_text(spec: Text, role: Role, languages: tuple[str, ...] = ()) -> TextSource:
    """Validate a text; raise UserError unless its files are intact, UTF-8 and of equal length, and
    its columns exist.

    `languages` are those of its records, for built-in text.
    """
    if spec.origin == "lines":
        text = _open_lines(spec)
    elif spec.origin == "file":
        text = _open_table(spec)
    elif spec.origin == "hub":
        text = _open_hub(spec, role)
    else:
        text = _open_builtin(spec, role, languages[::-1] if spec.reversed else languages)
    if spec.reversed:
        text = replace(text, read=partial(_reversed, text.read))
    return _portion(text, spec.portion, spec.KIND) if spec.portion else text


def _reversed(read: Reader) -> Iterator[pa.Table]:
    """Yield blocks with source and target swapped."""
    for block in read():
        yield block.rename_columns({"source": "target", "target": "source"})


def _portion(text: TextSource, portion: tuple[float, float], kind: Kind) -> TextSource:
    """Return a text with only the rows of a portion selected: equal rows are in the same one, and
    of labelled text rows that share a sentence."""
    start, end = portion
    grouped = grouped_numbers if kind.is_labelled else distinct_numbers
    numbers_of = cache(lambda: grouped(text.read(), kind.sentences))

    def read() -> Iterator[pa.Table]:
        row = 0
        for block in text.read():
            numbers = numbers_of()[row : row + len(block)]
            selected = block.column("selected").to_numpy() & (start <= numbers) & (numbers < end)
            place = block.column_names.index("selected")
            yield block.set_column(place, "selected", pa.array(selected))
            row += len(block)

    return replace(text, read=read)


def row_numbers(rows: Sequence[int]) -> np.ndarray:
    """Return a number in [0, 1) for every row, given its place in the text from 0."""
    return uniform(keys_of(list(map(str, rows)), "portion", 1), 0, 1)[:, 0]


def distinct_numbers(blocks: Iterable[pa.Table], sentences: Sequence[str]) -> np.ndarray:
    """Return a number in [0, 1) for every row: that of the first row with the same sentences, on
    whichever side, so that a text that is read reversed has the same portions."""
    keys, numbers, row = [], [], 0
    for block in blocks:
        sides = [pc.ascii_trim_whitespace(block.column(name)).to_pylist() for name in sentences]
        # Python's own hashes tell equal from different as well as stable ones, at a tenth of the
        # time; a sum, as the sides of a text may be swapped.
        hashes = [np.fromiter(map(hash, side), np.int64, len(side)) for side in sides]
        keys.append(np.sum(hashes, axis=0))
        numbers.append(row_numbers(range(row, row + len(block))))
        row += len(block)
    _, firsts, equal = np.unique(np.concatenate(keys), return_index=True, return_inverse=True)
    return np.concatenate(numbers)[firsts[equal]]


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


class _SideFile(NamedTuple):
    """A file of one side of a text."""

    file: InputFile
    layout: str
    side: int

    def sentences(self) -> Iterator[bytes]:
        return sentences(find(self.file.path), self.layout, self.side)

    def names(self) -> Iterator[tuple[str, str]]:
        """Yield the names of document and segment of every sentence that has some."""
        found = segments(find(self.file.path), self.side) if self.layout == "seg" else ()
        return (names for names, _ in found)

    def length(self) -> int:
        return self.file.lines if self.layout == "lines" else sum(1 for _ in self.sentences())


def _open_lines(spec: Text) -> TextSource:
    numbers = [len(side) for side in spec.sides]
    if len(set(numbers)) > 1:
        raise UserError(
            f"{numbers[0]} source files and {numbers[1]} target files: give equal numbers of both"
        )
    sides = []
    for side, paths in enumerate(spec.sides):
        sides.append([_SideFile(examine(path), layout_of(path), side) for path in paths])
    total = 0
    for aligned in zip(*sides, strict=True):
        if len(aligned) == 2:
            _check_order(*aligned)
        lengths = [part.length() for part in aligned]
        if len(set(lengths)) > 1:
            raise UserError(
                f"{aligned[0].file.path} has {counted(lengths[0], 'line')} and "
                f"{aligned[1].file.path} has {lengths[1]:,}: they must be aligned line by line"
            )
        total += lengths[0]
    files = [*chain(*sides)]
    are_lines = numbers[0] == 1 and {part.layout for part in files} == {"lines"}

    def column(parts: Sequence[_SideFile]) -> Iterator[pa.Array]:
        """Yield blocks of the files of a side, one file after the other."""
        for part in parts:
            yield from map(tables.strings, tables.batches(part.sentences()))

    def read() -> Iterator[pa.Table]:
        begin = 1
        for blocks in zip(*map(column, sides), strict=True):
            columns = dict(zip(spec.KIND.read, blocks, strict=True))
            end = begin + len(blocks[0])
            if are_lines:
                columns[tables.LINE] = pa.array(range(begin, end))
            yield _block(columns)
            begin = end

    return _text_source(spec, [part.file for part in files], total, read)


def _check_order(source: _SideFile, target: _SideFile) -> None:
    """Raise UserError where a segment of one side stands elsewhere on the other, by its name, if
    all have some."""
    sides = [*source.names()], [*target.names()]
    if not all(name for _, name in chain(*sides)):
        return
    counts = [Counter((document.casefold(), name) for document, name in side) for side in sides]
    once = {names for names, count in counts[0].items() if count == counts[1][names] == 1}
    for number, (one, other) in enumerate(zip(*sides, strict=False), start=1):
        folded = {(document.casefold(), name) for document, name in (one, other)}
        if len(folded) == 2 and not once.isdisjoint(folded):
            shown = [" of document ".join(filter(None, names[::-1])) for names in (one, other)]
            raise UserError(
                f"segment {number} of {source.file.path} is {shown[0]}, and of {target.file.path} "
                f"{shown[1]}: write the same ones in the same order; if they are, without their ids"
            )


def _open_table(spec: Text) -> TextSource:
    path, layout = spec.file, spec.layout
    assert path is not None
    files = tables.examine_parquet(path) if layout == "parquet" else [examine(path)]
    names = list(dict.fromkeys([*spec.table_columns.values(), *spec.where]))

    def read() -> Iterator[pa.Table]:
        blocks = tables.read_table(path, layout, names, spec.header)
        return (_select(block, spec) for block in blocks)

    if next(read(), None) is None:  # raises if a column does not exist
        raise UserError(f"{path} has a header but no rows: give a table with rows")
    text = _text_source(spec, files, sum(file.lines for file in files), read)
    if layout != "parquet":
        return text
    return replace(text, classes=tables.class_names(path, spec.table_columns.get("label", "")))


def _open_hub(spec: Text, role: Role) -> TextSource:
    name, split = str(spec.hub), spec.split or HUB_SPLITS[role]
    dataset = _dataset(name, spec.configuration, split)
    columns = list(dict.fromkeys([*spec.table_columns.values(), *spec.where]))

    def read() -> Iterator[pa.Table]:
        for table in dataset.with_format("arrow").iter(batch_size=tables.BLOCK_ROWS):
            yield _select(tables.select_columns(table, columns, name), spec)

    if next(read(), None) is None:  # raises if a column does not exist
        raise UserError(f"split {split} of {name} has no rows: choose another split")
    fingerprint = str(dataset._fingerprint)
    inputs = [{"path": name, "split": str(dataset.split), "fingerprint": fingerprint}]
    # It numbers classes where it has names.
    label = dataset.features.get(spec.table_columns.get("label"))
    classes = tuple(getattr(label, "names", None) or ())
    return TextSource(inputs, [fingerprint], len(dataset), read, spec.first, classes=classes)


def _dataset(name: str, configuration: str | None, split: str) -> Any:
    """Load a split as a `datasets.Dataset`; raise UserError if that fails."""
    place = expanded(name)
    try:
        import datasets

        if not any((place / file).exists() for file in ("dataset_dict.json", "state.json")):
            source = str(place) if place.is_dir() else name
            return datasets.load_dataset(source, configuration, split=split)
        loaded = datasets.load_from_disk(str(place))  # written by `save_to_disk`
    except ImportError as error:
        raise UserError(
            "text from the hub needs the library `datasets`: pip install augury[hub]"
        ) from error
    except Exception as error:  # from many libraries: network, filesystems, dataset builders
        reason = " ".join(str(error).split())[:300]
        raise UserError(f"split {split} of dataset '{name}' cannot be loaded: {reason}") from error
    if isinstance(loaded, datasets.Dataset):  # saved without splits
        return loaded
    if split not in loaded:
        raise unknown(f"split of {name}", split, loaded)
    return loaded[split]


def _open_builtin(spec: Text, role: Role, languages: tuple[str, ...]) -> TextSource:
    # The grammar takes longer to import than most texts to read.
    from augury.corpora.builtin import NOTE, builtin_text

    assert spec.builtin is not None
    content, _ = builtin_text(spec, role, languages)

    def read() -> Iterator[pa.Table]:
        for batch in tables.batches(builtin_text(spec, role, languages)[1]):
            yield _block(dict(zip(spec.KIND.read, zip(*batch, strict=True), strict=True)))

    return TextSource([], content, spec.builtin, read, spec.first, NOTE)


def _text_source(spec: Text, files: Sequence[InputFile], total: int, read: Reader) -> TextSource:
    inputs, content = [asdict(file) for file in files], [file.sha256 for file in files]
    return TextSource(inputs, content, total, read, spec.first)


def _select(table: pa.Table, spec: Text) -> pa.Table:
    """Return a block from a table, with the mask of the rows that are part of the text."""
    columns = {name: table.column(column) for name, column in spec.table_columns.items()}
    if "label" in columns:
        columns["label"] = composed(columns["label"])
    selected = np.ones(len(table), bool)
    for column, value in spec.where.items():
        selected &= pc.equal(table.column(column), str(value)).to_numpy()
    if spec.missing:
        marks = pa.array(spec.missing, pa.string())
        for side in spec.KIND.sentences:
            trimmed = pc.ascii_trim_whitespace(columns[side])
            selected &= ~pc.is_in(trimmed, value_set=marks).to_numpy()
    lines = {tables.LINE: table.column(tables.LINE)} if tables.LINE in table.column_names else {}
    return _block({**columns, **lines}, selected)


def _block(columns: dict[str, Any], selected: np.ndarray | None = None) -> pa.Table:
    mask = np.ones(len(next(iter(columns.values()))), bool) if selected is None else selected
    return pa.table({**columns, "selected": pa.array(mask)})
