"""Parts of the reference that are generated from the code, so that they cannot say something else."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def commands() -> str:
    """Every command with its options, from the parsers."""
    from perceptive.cli import parser

    top = parser(everything=True)
    [found] = [
        action
        for action in top._actions
        if isinstance(action, argparse._SubParsersAction)
    ]
    overview = _table(
        ("command", "what it does"),
        (
            (f"[`{one.dest}`](#{one.dest})", _escaped(one.help or ""))
            for one in found._choices_actions
        ),
    )
    return "\n".join(
        [*overview, *map(_command, found.choices, found.choices.values())]
    )


def _command(name: str, command: argparse.ArgumentParser) -> str:
    lines = [f"## {name}", "", command.description or "", ""]
    if command.epilog:
        lines += [
            "```text",
            inspect.cleandoc(command.epilog.partition("\n")[2]),
            "```",
            "",
        ]
    for group in command._action_groups:
        actions = [
            action
            for action in group._group_actions
            if not isinstance(action, argparse._HelpAction)
        ]
        if actions:
            title = group.title or ""
            if title not in ("positional arguments", "options"):
                lines += [f"**{_escaped(title[:1].upper() + title[1:])}**", ""]
            lines += _table(
                ("", ""),
                (
                    (_usage(action), _escaped(action.help or ""))
                    for action in actions
                ),
            )
    return "\n".join(lines)


def _usage(action: argparse.Action) -> str:
    """An option with its values, as `--rule perceptron|pa`."""
    value = ""
    if action.nargs != 0:
        value = (
            "|".join(map(str, action.choices))
            if action.choices
            else action.metavar or action.dest.upper()
        )
    if not action.option_strings:
        return f"`{value}`"
    names = ", ".join(f"`{name}`" for name in action.option_strings)
    if isinstance(action, argparse.BooleanOptionalAction) or not value:
        return names
    return names + (
        " " + ", ".join(f"`{one}`" for one in value.split("|"))
        if action.choices
        else f" `{value}`"
    )


def parameters() -> str:
    """Every parameter of the estimators, from its one declaration."""
    from perceptive import estimators, parameter_groups
    from perceptive.cli.options import option_of
    from perceptive.declarations import Group, declared

    classes = [
        cls
        for name in estimators.__all__
        if inspect.isclass(cls := getattr(estimators, name))
    ]
    taken = {cls: declared(cls) for cls in classes}
    options = _options("train")
    lines = []
    for group in vars(parameter_groups).values():
        if not (inspect.isclass(group) and issubclass(group, Group)):
            continue
        rows = []
        for name, one in vars(group).items():
            users = {
                cls: said[name].facts
                for cls, said in taken.items()
                if issubclass(cls, group) and name in said
            }
            users = {
                cls: {**said, "default": getattr(cls, name)}
                for cls, said in users.items()
            }
            if users and "help" in getattr(one, "facts", {}):
                option = (
                    f"<br>`{option_of(name)}`"
                    if option_of(name) in options
                    else ""
                )
                rows.append(
                    (
                        f"`{name}`{option}",
                        _by_class(users, _default),
                        _by_class(users, _meaning),
                    )
                )
        if rows:
            title = (group.__doc__ or "").rstrip(".")
            lines += [
                f"## {title}",
                "",
                *_table(("parameter", "default", "meaning"), rows),
            ]
    return "\n".join(lines)


def _options(name: str) -> set[str]:
    from perceptive.cli import parser

    top = parser([name])
    [found] = [
        action
        for action in top._actions
        if isinstance(action, argparse._SubParsersAction)
    ]
    return {
        option
        for action in found.choices[name]._actions
        for option in action.option_strings
    }


def _by_class(
    users: dict[type, dict[str, Any]], told: Callable[[dict[str, Any]], str]
) -> str:
    """What is told of a parameter; where classes differ, what most say, and then the others by name."""
    found: dict[str, list[str]] = {}
    for cls, said in users.items():
        found.setdefault(told(said), []).append(cls.__name__)
    most = max(found, key=lambda text: len(found[text]))
    if 2 * len(found[most]) <= len(users):
        most = ""
    others = (
        f"*{', '.join(classes)}:* {text}"
        for text, classes in found.items()
        if text != most
    )
    return "<br>".join([most, *others] if most else others)


def _default(said: dict[str, Any]) -> str:
    return f"`{said['default']!r}`".replace("'", '"')


def _meaning(said: dict[str, Any]) -> str:
    text = " ".join((said.get("doc") or said["help"]).split())
    text = (
        text[:1].upper() + text[1:]
        if text[:2].isascii() and text[:2].isalpha()
        else text
    )
    choices = getattr(said["check"], "choices", ())
    if choices and set(choices) != {True, False}:
        text = (
            text.rstrip(".")
            + ". One of "
            + ", ".join(
                f"``{choice!r}``".replace("'", '"') for choice in choices
            )
        )
    return _escaped(text.rstrip(".") + ".")


def roles() -> str:
    """Which roles go together, and the reasons why others do not."""
    from perceptive.roles import as_text

    table, _, reasons = as_text().partition("\n1: ")
    lines: list[str] = []
    head: list[str] = []
    for line in table.splitlines():
        if line.startswith("  "):
            lines += _table((), [line.split()])[2:-1]
        elif line.startswith(("rule ", "hypothesis ")):
            head = line.split()
        elif line:  # a representation and what it is
            name, _, what = line.partition(": ")
            title = f"**{name[:1].upper()}{name[1:]}:** {_escaped(what)}"
            lines += ["", title, "", *_table(head, ())[:-1]]
    found = re.split(r"\n\d+: ", reasons.strip())
    return "\n".join(
        [*lines, "", *(f"{i}. {one}" for i, one in enumerate(found, 1))]
    )


def benchmarks() -> str:
    """The benchmarks' own page, whose links lead out of the site's folder, without its heading."""
    text = (
        (ROOT / "benchmarks" / "README.md")
        .read_text(encoding="utf-8")
        .partition("\n")[2]
    )
    return text.replace("](../docs/", "](../")


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head = list(head)
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]


def _escaped(text: str) -> str:
    """Text within a cell of a table: code as Markdown has it, and nothing that means something else there."""
    parts = re.split(r"``(.+?)``|`(.+?)`", " ".join(text.split()))
    for i in range(0, len(parts), 3):
        parts[i] = re.sub(r"([|\[*_<])", r"\\\1", parts[i] or "")
        code = i + 2 < len(parts) and (parts[i + 1] or parts[i + 2])
        parts[i + 1 : i + 3] = (
            [f"`{code}`".replace("|", "\\|"), ""]
            if code
            else parts[i + 1 : i + 3]
        )
    return "".join(part or "" for part in parts)
