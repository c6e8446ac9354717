"""Whether the workers of a cluster reach the storage, and what is said of its nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core import cluster
from augury.core.errors import UserError
from tests.conftest import Remote


@pytest.mark.slow
def test_the_storage_is_written_and_read_from_a_worker(local_ray: Any, tmp_path: Path) -> None:
    cluster.check_storage(str(tmp_path))
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_a_worker_that_cannot_open_the_storage_is_named(local_ray: Any, remote: Remote) -> None:
    with pytest.raises(UserError, match=r"storage remote://\S+ cannot be used from node .*:"):
        cluster.check_storage("remote://bucket")
