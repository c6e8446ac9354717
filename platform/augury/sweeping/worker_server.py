"""The process that workers are copied from: `python -m augury.sweeping.worker_server CONNECTION`

It imports what the trials of all tasks use, then what those of the sweep use, copies itself when
the command asks for it, and ends with the command, which holds the other end of the connection.
"""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle

from augury.sweeping import worker


def serve(number: int) -> int | None:
    """Answer requests on a file descriptor; return, in every copy, the descriptor of its own, and
    None where the command has ended.

    A request is the names of tasks and the log of this process, the log of a worker, followed by
    its descriptor, or the number of a process that has ended. The answers are none, the number of
    the copy, and the exit code.
    """
    with Connection(number) as connection:
        while True:
            try:
                request = connection.recv()
            except (EOFError, ConnectionError):
                return None
            if isinstance(request, tuple):
                tasks, log = request
                _write_to(log)
                worker.load(tasks)
                sys.stdout.flush()  # or every copy would write it
                continue
            if isinstance(request, int):
                _, status = os.waitpid(request, 0)
                connection.send(os.waitstatus_to_exitcode(status))
                continue
            descriptor = recv_handle(connection)
            copy = os.fork()
            if not copy:
                _set_apart(request)
                return descriptor
            os.close(descriptor)
            connection.send(copy)


def _set_apart(log: str) -> None:
    """Give a copy a process group and an output of its own."""
    os.setpgid(0, 0)
    _write_to(log)


def _write_to(log: str) -> None:
    """Append the output of this process to a file."""
    with open(log, "ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the command answers it for all its processes
    worker.load([])
    own = serve(int(sys.argv[1]))
    if own is not None:
        worker.run(own)
