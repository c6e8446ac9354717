"""Remove passwords and keys from what is printed and written.

URIs of storages, databases and servers may hold them; messages, JSON and pages pass through here.
"""

from __future__ import annotations

import re
from typing import IO, Any

HIDDEN = "***"
_STARTS = ("://", "=")
# A password may hold slashes, as keys of object stores do; a user without password may not.
_USER = re.compile(r"(\b[a-z][a-z0-9+.-]*://)(?:[^\s\"'<>@/]*:[^\s\"'<>@]*|[^\s\"'<>@/]+)@", re.I)
_KEYS = (
    r"\w*(?:access_?key(?:_?id)?|secret|secret_?key|token|password|passwd|pwd)"
    r"|X-Amz-(?:Signature|Credential|Security-Token)"
)
_PARAMETER = re.compile(rf"(?<![\w-])((?:{_KEYS})=)[^&;\s\"'<>]+", re.I)


def redacted(text: str) -> str:
    """Return a text without the passwords and keys of URIs and of assignments in it."""
    if not any(start in text for start in _STARTS):
        return text
    return _PARAMETER.sub(rf"\g<1>{HIDDEN}", _USER.sub(rf"\g<1>{HIDDEN}@", text))


class RedactedStream:
    """A text stream that writes without passwords and keys."""

    def __init__(self, stream: IO[str]):
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, redacted."""
        return self._stream.write(redacted(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
