"""What several tests share: one small Ray, a remote store, a run that is about to begin, the place
of the real corpora, cards of exports."""

from __future__ import annotations

import errno
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_TRAIN_HEALTH_CHECK_INTERVAL_S", "0.2")
os.environ.setdefault(
    "RAY_worker_niceness", "0"
)  # Ray's 15 lets workers starve behind the tests of other processes
# What tests agree to is theirs, and not remembered for the user who runs them.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="augury-tests-")
os.environ["AUGURY_ALLOW_CODE"] = "any"
os.environ["PYTHONPATH"] = os.pathsep.join(
    [
        str(Path(__file__).parents[1] / "platform"),
        str(Path(__file__).parents[1]),
        os.environ.get("PYTHONPATH", ""),
    ]
)

import hypothesis
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from pyarrow import fs

from augury.core import files, messages
from augury.core import store as stores

# How long an example takes says how busy the machine is.
hypothesis.settings.register_profile("busy", deadline=None)
hypothesis.settings.load_profile("busy")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first, so that all processes of pytest-xdist have work until
    the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Let every test fail that trains a model in this process and has no marker `trains`."""
    if "torch" not in sys.modules:
        return
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    marked = {item.nodeid for item in session.items if item.get_closest_marker("trains")}

    def check(*_: Any) -> None:
        test, _, _ = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")
        assert test in marked, f"{test} trains a model: mark it `trains`"

    register_optimizer_step_pre_hook(check)


@pytest.fixture(scope="session", autouse=True)
def messages_on_standard_error() -> Iterator[None]:
    """What tests call directly says what it has to say as under the command line."""
    with messages.shown():
        yield


@pytest.fixture(scope="session")
def local_ray() -> Iterator[Any]:
    """Ray on this machine, shared by the session's tests."""
    import ray

    from augury.core.ray_connection import connect

    ray.shutdown()  # of a Ray that a command of another test has started
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=True,
        log_to_driver=False,
        object_store_memory=200_000_000,
    )
    connect()
    yield ray
    ray.shutdown()


class Remote(MemoryFileSystem):
    """A filesystem that is not mounted, as object stores are.

    Its writer can be made to die after some files.
    """

    protocol, store, pseudo_dirs = "remote", {}, [""]  # not those that all memory filesystems share
    allowed: Iterator[int] | None = None

    def die_after(self, files: int | None) -> None:
        """Let so many files be written and refuse the next; None: refuse none."""
        self.allowed = None if files is None else iter(range(files))

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if "w" in mode and self.allowed is not None and next(self.allowed, None) is None:
            raise OSError(errno.EIO, "the writer died")
        return super()._open(path, mode, **options)


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Remote:
    """What stores at `remote://` lie on."""
    backend = Remote(skip_instance_cache=True)
    backend.store.clear()
    filesystem, opened = fs.PyFileSystem(fs.FSSpecHandler(backend)), files.open_root

    def open_root(root: str) -> tuple[fs.FileSystem, str]:
        if root.startswith("remote://"):
            return filesystem, root.removeprefix("remote:/")
        return opened(root)

    monkeypatch.setattr(files, "open_root", open_root)
    monkeypatch.setattr(stores, "_known", {})
    return backend


@pytest.fixture
def store(tmp_path: Path) -> stores.Store:
    return stores.Store(tmp_path / "results")


@pytest.fixture
def run(store: stores.Store) -> Any:
    """A `run_folders.Run` that is about to begin."""
    from tests.run_folders import ADDRESS, Run

    return Run(store.folder("runs", f"{ADDRESS}/seed-3"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The directory of real corpora; tests that need it are skipped where AUGURY_DATA is unset."""
    if not os.environ.get("AUGURY_DATA"):
        pytest.skip("AUGURY_DATA is unset: no real corpora")
    return Path(os.environ["AUGURY_DATA"])


RunCard = Callable[..., list[str]]


@pytest.fixture
def run_card(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunCard:
    """Runs the code in the card of an exported model with other values of its variables.

    Returns the lines that it prints.
    """

    def run(directory: Path, **values: Any) -> list[str]:
        block = re.search(
            "```python\n(.*?)```", (directory / "README.md").read_text(encoding="utf-8"), re.DOTALL
        )
        assert block is not None
        code = block[1]
        for name, value in values.items():
            line = f"{name} = {value!r}"
            code, count = re.subn(rf"(?m)^{name} = .*", lambda _, line=line: line, code)
            assert count == 1
        monkeypatch.chdir(directory)
        capsys.readouterr()
        exec(code, {})
        return capsys.readouterr().out.split("\n")[:-1]

    return run
