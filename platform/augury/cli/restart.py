"""Begins a command anew in the same process when its local Ray has died.

All that a command has made is in its storage, and it goes on from there, as it does when it is
repeated by hand. `exec` ends whatever waits in Ray's code, which cannot be interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from augury.core import cluster, local_ray
from augury.core.local_ray import RESTARTS
from augury.core.messages import logger, say
from augury.core.naming import command

VERBS = ("demo", "reproduce", "sweep", "train")
"""Verbs that read nothing from standard input, and write their result at the end."""
LIMIT = 5


def allow(verb: str, argv: Sequence[str]) -> None:
    """Let the command that this process runs be begun anew where its Ray dies."""
    directory = os.getcwd()

    def recover(name: str) -> None:
        """Replace this process; it ends where the verb cannot be repeated, or fails each time."""
        before = int(os.environ.get(RESTARTS, "0"))
        if verb not in VERBS or before >= LIMIT:
            logger.error(
                f"{name} has died{f' {before + 1} times' if before else ''}. Finished work is "
                f"kept; continue with: {command('augury', verb, *argv)}"
            )
            _close()
            os._exit(1)
        say(f"{name} has died: Ray is started anew, and the work continues from its checkpoints")
        _close()
        os.environ[RESTARTS] = str(before + 1)
        os.chdir(directory)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])

    def end(address: str) -> None:
        """End this process, as its cluster is lost."""
        logger.error(
            f"the Ray cluster at {address} is lost: its head does not answer; start it again. "
            f"Finished work is kept; continue with: {command('augury', verb, *argv)}"
        )
        _close()
        os._exit(1)

    local_ray.on_death(recover)
    cluster.on_loss(end)


def _close() -> None:
    """Leave the terminal as it was."""
    for handler in logger.handlers:
        handler.close()
    sys.stdout.flush()
    sys.stderr.flush()
