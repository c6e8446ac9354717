"""Hugging Face datasets: from the hub, from a directory written by `save_to_disk`, or from one of data files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from augury.core.errors import UserError, unknown
from augury.corpora.tables import BLOCK_ROWS, pick

SAVED = ("dataset_dict.json", "state.json")
"""Files that `save_to_disk` writes to the directory of several splits or of one dataset."""


def load(name: str, configuration: str | None, split: str | None, default: str) -> Any:
    """Return the `datasets.Dataset` of a split, by default `default`; raise UserError where anything is missing."""
    try:
        import datasets
    except ImportError as error:
        raise UserError("texts from the hub need the library `datasets`: pip install augury[hub]") from error
    directory = Path(name).expanduser()
    try:
        if not any((directory / file).exists() for file in SAVED):  # of data files, such as a clone of a repository
            return datasets.load_dataset(
                str(directory) if directory.is_dir() else name, configuration, split=split or default
            )
        dataset = datasets.load_from_disk(str(directory))
    except Exception as error:  # of many libraries: network, file systems, builders
        description = f"dataset '{name}' (configuration {configuration}, split {split or default})"
        raise UserError(f"{description} cannot be loaded: {' '.join(str(error).split())[:300]}") from error
    if isinstance(dataset, datasets.Dataset):
        if split:
            raise UserError(f"'{name}' is one dataset without splits: leave out split: {split}")
        return dataset
    if (split or default) not in dataset:
        raise unknown(f"split of {name}", split or default, dataset)
    return dataset[split or default]


def blocks(dataset: Any, columns: Sequence[str], name: str) -> Iterator[pa.Table]:
    """Yield the named columns as strings, block by block."""
    for table in dataset.with_format("arrow").iter(batch_size=BLOCK_ROWS):
        yield pick(table, columns, name)


def classes(dataset: Any, column: str) -> tuple[str, ...]:
    """Return the names of the classes whose numbers a column holds; none where it holds something else."""
    return tuple(getattr(dataset.features.get(column), "names", None) or ())
