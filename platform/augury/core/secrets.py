"""Remove passwords and keys from what is printed, and from the URIs of records and pages.

URIs of storages, databases and servers may hold them, and so may the variables that errors quote.
"""

from __future__ import annotations

import re
from typing import IO, Any

HIDDEN = "***"
# A password may hold slashes, as keys of object stores do; a user without password may not.
_USER = re.compile(r"(\b[a-z][a-z0-9+.-]*://)(?:[^\s\"'<>@/]*:[^\s\"'<>@]*|[^\s\"'<>@/]+)@", re.I)
_KEYS = (
    r"\w*(?:access_?key(?:_?id)?|secret|secret_?key|token|password|passwd|pwd)"
    r"|X-Amz-(?:Signature|Credential|Security-Token)"
)
_PARAMETER = re.compile(rf"(?<![\w-])((?:{_KEYS})=)[^&;\s\"'<>]+", re.I)
_URI = re.compile(r"[a-z][a-z0-9+.-]*://[^\s\"'<>]+", re.I)


def redacted(text: str) -> str:
    """Return a text without the passwords and keys of URIs and of assignments in it."""
    return _PARAMETER.sub(rf"\g<1>{HIDDEN}", _USER.sub(rf"\g<1>{HIDDEN}@", text))


def with_redacted_uris(text: str) -> str:
    """Return a text without the passwords and keys of its URIs; all else stays."""
    return _URI.sub(lambda uri: redacted(uri[0]), text) if "://" in text else text


class RedactedStream:
    """A text stream that writes without passwords and keys."""

    def __init__(self, stream: IO[str]):
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, redacted."""
        return self._stream.write(redacted(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def redacted_values(value: Any) -> Any:
    """Return JSON-like values without the passwords and keys of URIs."""
    if isinstance(value, str):
        return with_redacted_uris(value)
    if isinstance(value, dict):
        return {redacted_values(key): redacted_values(item) for key, item in value.items()}
    return [redacted_values(item) for item in value] if isinstance(value, list | tuple) else value
