"""`augury completion`: a shell script that completes verbs, flags, their values and runs.

The script is static: completing a word starts no Python. Names of runs are read from the storage
of the command line, or `results`, by awk: they are in the first lines of each record.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Sequence

HELP = "Print a script that completes verbs, flags, values and runs with Tab, for bash or zsh."
EXAMPLE = """augury completion bash > ~/.local/share/bash-completion/completions/augury
  augury completion zsh > ~/.augury-completion   # then, in ~/.zshrc: source ~/.augury-completion"""
ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"
SCRIPT = """\
_augury_runs() {{
    local storage=results place
    [ "${{COMP_WORDS[1]}}" = runs ] && [ "$COMP_CWORD" -gt 2 ] && storage=${{COMP_WORDS[2]}}
    for ((place = 2; place < COMP_CWORD; place++)); do
        [ "${{COMP_WORDS[place]}}" = --storage ] && storage=${{COMP_WORDS[place + 1]}}
    done
    cat "$storage"/runs/*/seed-*/run.json 2>/dev/null | awk -F'"' '
        $1 == " " && $2 == "name" {{ name = $4 }}
        $1 == " " && $2 == "experiment" {{ print $4 "/" name }}' | sort -u
}}
_augury() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words=
    if [ "$COMP_CWORD" -eq 1 ]; then
        words={verbs}
    else
        case ${{COMP_WORDS[1]}} in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    case "$words  {of_runs} " in " "*" ${{COMP_WORDS[1]}} "*)
        local name
        while IFS= read -r name; do
            [[ $name == "${{word//\\\\/}}"* ]] && COMPREPLY+=("$(printf %q "$name")")
        done < <(_augury_runs) ;;
    esac
}}
complete -o default -F _augury augury
"""
CASE = """\
            {verb})
                words={positional}
                case $previous in
{values}
                esac
                case $word in -*) words={flags} ;; esac ;;"""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument("shell", choices=["bash", "zsh"], help="the shell that completes")


def run(arguments: argparse.Namespace) -> int:
    script = completion_script()
    print((ZSH if arguments.shell == "zsh" else "") + script, end="")
    return 0


def completion_script() -> str:
    """Return the functions of bash that complete the command line; zsh reads them too."""
    from augury.cli import listing, verbs
    from augury.sweeping import declarations

    named = {
        "list": [*listing.KINDS],
        "sweep": declarations.known(),
        "reproduce": declarations.tables(),
    }
    parsers = {verb: verbs.parser(verb, []) for verb in sorted(verbs.VERBS)}
    cases = [_case(verb, parser, named.get(verb, [])) for verb, parser in parsers.items()]
    of_runs = [verb for verb, parser in parsers.items() if _names_runs(parser)]
    return SCRIPT.format(
        verbs=_words(verbs.VERBS), cases="\n".join(cases), of_runs=" ".join(of_runs)
    )


def _names_runs(parser: argparse.ArgumentParser) -> bool:
    """Return whether a verb takes runs by name."""
    positional = [action for action in parser._actions if not action.option_strings]
    return any(action.metavar in ("RUN", "SYSTEM") for action in positional)


def _case(verb: str, parser: argparse.ArgumentParser, names: Sequence[str]) -> str:
    """Return the part of a verb: its flags, the values of these, and its positional arguments."""
    flags, values, positional = [], [], [*names]
    for action in parser._actions:
        flags += [flag for flag in action.option_strings if flag.startswith("--")]
        if action.choices and action.option_strings:
            options = "|".join(action.option_strings)
            values.append(f"                    {options}) words={_words(action.choices)} ;;")
        elif action.choices:
            positional += map(str, action.choices)
    return CASE.format(
        verb=verb,
        positional=_words(positional),
        values="\n".join(values) or "                    '') ;;",
        flags=_words(flags),
    )


def _words(words: Iterable[object]) -> str:
    return shlex.quote(" ".join(map(str, words)))
