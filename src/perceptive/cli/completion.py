"""``perceptive completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "fish")
EXAMPLE = """\
examples:
  eval "$(perceptive completion bash)"         # in ~/.bashrc
  eval "$(perceptive completion zsh)"          # in ~/.zshrc
  perceptive completion fish | source          # in ~/.config/fish/config.fish
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Print a script that makes a shell complete commands, options and their choices."
    parser.add_argument("shell", choices=SHELLS)


def run(options: argparse.Namespace) -> None:
    commands = _commands()
    print(_fish(commands) if options.shell == "fish" else _bash(commands, zsh=options.shell == "zsh"))


def _commands() -> dict[str, dict[str, list[str]]]:
    """Command → option → its choices."""
    from perceptive.cli import parser

    top = parser(everything=True)
    [commands] = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    return {
        name: {
            option: [str(choice) for choice in action.choices or ()]
            for action in command._actions
            for option in action.option_strings
        }
        for name, command in commands.choices.items()
    }


def _bash(commands: dict[str, dict[str, list[str]]], zsh: bool) -> str:
    lines = ["autoload -U +X compinit && compinit", "autoload -U +X bashcompinit && bashcompinit"] if zsh else []
    lines += [
        "_perceptive() {",
        '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""',
        '    case "${COMP_WORDS[1]} $before" in',
    ]
    for name, options in commands.items():
        for option, choices in options.items():
            if choices:
                lines.append(f'        "{name} {option}") words="{" ".join(choices)}";;')
    lines += ["        *)", '            case "${COMP_WORDS[1]}" in']
    for name, options in commands.items():
        lines.append(f'                {name}) words="{" ".join(options)}";;')
    lines += [
        "            esac;;",
        "    esac",
        f'    if [ "$COMP_CWORD" -eq 1 ]; then words="{" ".join(commands)}"; fi',
        '    COMPREPLY=( $(compgen -W "$words" -- "$word") )',
        "}",
        "complete -o default -F _perceptive perceptive",
    ]
    return "\n".join(lines)


def _fish(commands: dict[str, dict[str, list[str]]]) -> str:
    lines = [f"complete -c perceptive -n __fish_use_subcommand -f -a '{' '.join(commands)}'"]
    for name, options in commands.items():
        for option, choices in options.items():
            flag = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            extra = f" -x -a '{' '.join(choices)}'" if choices else ""
            lines.append(f"complete -c perceptive -n '__fish_seen_subcommand_from {name}' {flag}{extra}")
    return "\n".join(lines)
