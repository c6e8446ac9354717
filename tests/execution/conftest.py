"""A run that is about to begin."""

from tests.runs.conftest import run, store  # noqa: F401
