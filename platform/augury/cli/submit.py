"""`augury submit`: run a command on a Ray cluster, as a job of it."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from augury.cli.common import add_cluster, print_json
from augury.core.errors import UserError, unknown
from augury.core.progress import say

HELP = "Run another command of Augury on a Ray cluster: send it with its files, and follow it."
EXAMPLE = """augury submit --address http://127.0.0.1:8265 train my.yaml --storage s3://bucket/results
  augury submit --follow augury-train-20260102-030405-6789"""
SENT = ("AUGURY_DATA", "MLFLOW_TRACKING_URI")
"""Variables of the shell that are sent where they are set."""
INTERRUPTED = 130
SECRET = re.compile(
    r"(?:^|_)(?:(?:api|access)?keys?|secrets?|token|password|passwd|pwd|credentials?)(?:_|$)", re.I
)
"""Words in names of variables that hold keys."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add_cluster(parser)
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help="a variable of the command there, by default with its value here; repeatable. "
        f"{' and '.join(SENT)} are sent anyway",
    )
    parser.add_argument(
        "--directory",
        default=".",
        metavar="DIR",
        help="directory to send, up to 100 MB without what .gitignore and .rayignore name; the "
        "command runs in its copy (default: the working directory)",
    )
    parser.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="PATTERN",
        help="files to leave out, as in .gitignore; repeatable",
    )
    existing = parser.add_mutually_exclusive_group()
    existing.add_argument("--follow", metavar="JOB", help="show the output of a job until it ends")
    existing.add_argument("--stop", metavar="JOB", help="stop a job; it continues when repeated")
    parser.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        metavar="VERB ...",
        help="the command to run there, with its arguments",
    )


def run(arguments: argparse.Namespace) -> int:
    from augury.cli import jobs

    if arguments.command and (arguments.follow or arguments.stop):
        raise UserError("--follow and --stop take a job of before: give no command with them")
    if arguments.stop:
        stopped = jobs.stop(jobs.connect(arguments.address), arguments.stop)
        if arguments.json:
            print_json({"job": arguments.stop, "stopped": stopped})
        else:
            print(f"{arguments.stop}: {'is being stopped' if stopped else 'has ended already'}")
        return 0
    if arguments.follow:
        return _follow(jobs.connect(arguments.address), arguments.follow, arguments)
    return _submit(_command(arguments.command), arguments)


def run_remotely(arguments: argparse.Namespace, verb: str, argv: Sequence[str]) -> int:
    """Run a verb that was given `--address` on that cluster."""
    words = _without_cluster(argv)
    defaults = argparse.Namespace(env=[], directory=".", exclude=[])
    return _submit([verb, *words], argparse.Namespace(**vars(defaults) | vars(arguments)))


def _command(words: Sequence[str]) -> list[str]:
    """Return a verb and its arguments; UserError or SystemExit where they are not valid."""
    from augury.cli import verbs

    words = list(words[1:] if words[:1] == ["--"] else words)
    if not words:
        raise UserError("no command is given: augury submit train my.yaml --storage s3://…")
    verb, *rest = words
    allowed = [known for known in verbs.VERBS if known != "submit"]
    if verb not in allowed:
        raise unknown("verb", verb, allowed)
    verbs.parse(verb, rest)
    return words


def _submit(command: list[str], arguments: argparse.Namespace) -> int:
    from augury.cli import jobs

    directory = Path(arguments.directory)
    if not directory.is_dir():
        raise UserError(f"--directory '{directory}' is no directory")
    _check_words(command)
    job = jobs.Job(
        name=f"augury-{command[0]}-{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(2).hex()}",
        command=command,
        directory=directory,
        variables=_variables(arguments.env),
        excludes=arguments.exclude,
    )
    client = jobs.connect(arguments.address)
    address = client.get_address()
    if not job.excludes:  # Ray's own command would apply them to the code of Augury too
        say(f"plain    {job.plain(address)}")
    jobs.submit(client, job)
    say(f"job      {job.name} on {address}")
    say(f"follow   augury submit --address {address} --follow {job.name}")
    say(f"stop     augury submit --address {address} --stop {job.name}")
    if not arguments.detach:
        return _follow(client, job.name, arguments)
    if arguments.json:
        print_json({"job": job.name, "address": address, "state": "SUBMITTED"})
    return 0


def _follow(client: Any, name: str, arguments: argparse.Namespace) -> int:
    """Show the output of a job; return the exit code of its command."""
    from augury.cli import jobs

    output = sys.stderr if arguments.json else sys.stdout

    def write(text: str) -> None:
        output.write(text)
        output.flush()

    try:
        state = jobs.follow(client, name, write)
    except KeyboardInterrupt:
        address = client.get_address()
        say(f"\n{name} goes on without this command")
        say(f"follow   augury submit --address {address} --follow {name}")
        say(f"stop     augury submit --address {address} --stop {name}")
        return INTERRUPTED
    say(f"job      {name} {state.lower()}")
    reason = jobs.failure(client, name) if state == jobs.FAILED else None
    if reason:
        say(f"reason   {reason}")
    if arguments.json:
        result = {"job": name, "address": client.get_address(), "state": state}
        print_json(result | ({"reason": reason} if reason else {}))
    return 0 if state == jobs.SUCCEEDED else jobs.exit_code(client, name)


def _check_words(command: Sequence[str]) -> None:
    """Raise UserError for a file that is not sent, and warn of keys that others can read."""
    from augury.core.secrets import redacted

    for word in command:
        if word.startswith("../") and Path(word).exists():
            raise UserError(
                f"'{word}' is outside of what is sent: give --directory, and paths relative to it"
            )
    if any(redacted(word) != word for word in command):
        say(
            "warning: whoever reaches the cluster can read the keys in this command: give them to "
            "its machines, by a role or ~/.aws/credentials"
        )


def _variables(words: Sequence[str]) -> dict[str, str]:
    """Return the variables to send; UserError for one that is not set, or holds a secret."""
    from augury.core.secrets import redacted

    variables = {name: os.environ[name] for name in SENT if name in os.environ}
    for word in words:
        name, given, value = word.partition("=")
        if not given and name not in os.environ:
            raise UserError(f"--env {name}: it is not set here: give {name}=VALUE")
        variables[name] = value if given else os.environ[name]
    for name, value in variables.items():
        if SECRET.search(name) or redacted(value) != value:
            raise UserError(
                f"the variable {name} is, or has, a key, and Ray writes variables into its logs in "
                "clear: leave it out here, and give keys to the machines of the cluster, by a role "
                "or a file"
            )
    return variables


def _without_cluster(argv: Sequence[str]) -> list[str]:
    """Return the arguments of a verb without those of `add_cluster`."""
    words, rest = [], iter(argv)
    for word in rest:
        if word == "--address":
            next(rest, None)
        elif word != "--detach" and not word.startswith("--address="):
            words.append(word)
    return words
