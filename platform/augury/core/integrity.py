"""Checksums, by which damage to stored files is found before they are used.

A record is a JSON file with a checksum of its own content; it may also have those of other files,
which it vouches for: the manifest of a folder for all of its files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import xxhash

from augury.core.errors import UserError

OWN, OTHERS = "checksum", "checksums"
"""The entries of a record: the checksum of its own content, and size and checksum of other files
by name."""
CHUNK = 1 << 22
"""Bytes that are read at once."""

Checksum = tuple[int, str]
"""The size of a file in bytes, and the XXH3 hash of its content in 64 bits."""


class Damaged(UserError):
    """A stored file is not as it was written."""


def checksums(record: Mapping[str, Any]) -> dict[str, Checksum]:
    """Return the checksums of a record, by file."""
    return {name: (size, text) for name, (size, text) in record.get(OTHERS, {}).items()}


def checksum(chunks: Iterable[bytes]) -> Checksum:
    """Return the checksum of a content that comes in pieces."""
    size, state = 0, xxhash.xxh3_64()
    for chunk in chunks:
        state.update(chunk)
        size += len(chunk)
    return size, state.hexdigest()


def difference(expected: Checksum, actual: Checksum) -> str | None:
    """Return in words how a file differs from what was written; None where it does not."""
    if actual[0] != expected[0]:
        return f"has {actual[0]:,} bytes instead of {expected[0]:,}"
    return None if actual[1] == expected[1] else "has changed since it was written"


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a record with its own checksum."""
    plain = {key: value for key, value in content.items() if key != OWN}
    return {**plain, OWN: _own(plain)}


def parse(content: bytes, name: str) -> Any:
    """Return the value of a JSON file, whose name is for messages; Damaged if it is none."""
    try:
        return json.loads(content)
    except ValueError as error:
        raise Damaged(f"{name} is damaged: it is no JSON ({error})") from error


def unseal(content: bytes, name: str) -> dict[str, Any]:
    """Return the content of a record; Damaged where it is no JSON object, or not as it was
    written."""
    record = parse(content, name)
    if not isinstance(record, dict):
        raise Damaged(f"{name} is damaged: it holds {type(record).__name__} instead of an object")
    if record.pop(OWN, None) != _own(record):
        raise Damaged(f"{name} is damaged: it has changed since it was written")
    return record


def _own(content: Mapping[str, Any]) -> str:
    # As it is read: keys that are no strings, for one, become some.
    text = json.dumps(json.loads(json.dumps(content)), sort_keys=True)
    return str(xxhash.xxh3_64_hexdigest(text.encode()))
