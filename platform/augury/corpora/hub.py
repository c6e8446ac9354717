"""Hugging Face datasets from the hub, from `save_to_disk`, or from a directory of data files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from augury.core.errors import UserError, unknown
from augury.core.paths import expanded
from augury.corpora.tables import BLOCK_ROWS, select_columns

SAVED = ("dataset_dict.json", "state.json")
"""Files that `save_to_disk` writes for a dataset with splits or without."""


def load(name: str, configuration: str | None, split: str | None, default: str) -> Any:
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


def blocks(dataset: Any, columns: Sequence[str], name: str) -> Iterator[pa.Table]:
    """Yield the given columns as strings, block by block."""
    for table in dataset.with_format("arrow").iter(batch_size=BLOCK_ROWS):
        yield select_columns(table, columns, name)


def classes(dataset: Any, column: str) -> tuple[str, ...]:
    """Return the class names of a `ClassLabel` column, and an empty tuple for other columns."""
    return tuple(getattr(dataset.features.get(column), "names", None) or ())
