"""The command line: ``perceptive COMMAND``. A command is imported, and its options are made, when it is called."""

from __future__ import annotations

import argparse
import io
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn

from perceptive import __version__
from perceptive.errors import ClusterError, NotWritten, OfParameters, OrderMatters, UsageError, naming_full, told

# What each command does; its module has `configure(parser)`, `EXAMPLE` and `run(options)`.
COMMANDS = {
    "train": "train a model from files, or continue training",
    "predict": "label the examples of files",
    "rank": "order the candidates of lists in files",
    "tag": "label the tokens of sentences, in files or in a text",
    "eval": "compare predictions with the answers in files",
    "explain": "show what made each prediction: the features, and what they add to the score",
    "inspect": "show what a model is made of: its heaviest features",
    "certify": "how many mistakes training made, and how many the theorem allows",
    "convert": "convert sentences and labels to another format or scheme, and repair labels",
    "trace": "show a run on a small table round by round: weights, scores, mistakes and lemmas",
    "play": "open the perceptron game in a browser, or write it as a page",
    "roles": "show which rules and hypotheses each task accepts, and why not the others",
    "demo": "learn handwritten digits and play a game against the mistake bound",
    "completion": "print a completion script for a shell",
}
USE_MODELS = {"predict", "rank", "tag", "explain", "eval", "inspect", "certify"}  # are one module
CODES = (
    "exit codes: 0 done, 1 failed (bad data, a damaged model, an unreadable file), 2 wrong usage (an option or its "
    "value, options that do not go together or with the model), 130 interrupted"
)
_interrupts: list[int] = []  # signals of the program
NEGATIVE = re.compile(r"-[0-9.]")  # begins a value, such as -1,1, and no option


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted.

    Without arguments this is the program: it takes those of the process, and sets up signals and streams. With
    arguments it leaves the process of the caller as it is.
    """
    program = arguments is None
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if program:
        _set_up(arguments)
    options = None
    try:
        options = parser(arguments).parse_args(arguments)
        with _telling_warnings(), naming_full("standard output"):
            code = _module(options.command).run(options)
            sys.stdout.flush()
        return int(code or 0)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _say_no_more(program)  # the reader has gone
        return 0
    except UsageError as error:
        called = " ".join(["perceptive", *_called(arguments)])
        print(f"{called}: error: {_message(error, options)}\ntry '{called} --help'", file=sys.stderr)
        return 2
    except (OSError, ValueError, ImportError, MemoryError, ClusterError) as error:
        if isinstance(error, ImportError) and _interrupts:
            raise KeyboardInterrupt from None
        print(f"perceptive: {_message(error, options)}", file=sys.stderr)
        if isinstance(error, OSError):
            _say_no_more(program)
        return 1


class Parser(argparse.ArgumentParser):
    """Raises `UsageError` for wrong usage, and takes values that begin with a minus and a digit."""

    uses_model = False  # whether the command that is called does

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._negative_number_matcher = NEGATIVE

    def error(self, message: str) -> NoReturn:
        cure = "; write a value that begins with a dash as --option=value" if "expected one" in message else ""
        if self.uses_model and "unrecognized" in message and any(map(_is_of_train, message.split())):
            cure = "; give it to perceptive train: the model keeps what it was trained with"
        raise UsageError(message + cure)

    def _get_option_tuples(self, option_string: str) -> Any:
        """What an abbreviation may stand for: nothing, where it is an option of train in full."""
        return [] if _is_of_train(option_string) else super()._get_option_tuples(option_string)


def _is_of_train(word: str) -> bool:
    """Whether this is an option of train, with its value perhaps."""
    if not word.startswith("--"):
        return False
    train = Parser()
    _module("train").configure(train)
    return word.split("=")[0] in train._option_string_actions


def _called(arguments: Sequence[str]) -> list[str]:
    """The command that is called, where there is one."""
    return [word for word in arguments if not word.startswith("-")][:1] if COMMANDS.keys() & {*arguments} else []


def parser(arguments: Sequence[str] = (), everything: bool = False) -> argparse.ArgumentParser:
    """The parser; only the command that is called has its options, unless ``everything`` is wanted."""
    top = Parser(
        prog="perceptive",
        description="Learning from mistakes, certified.",
        epilog=f"perceptive COMMAND --help shows details and examples. {CODES}.",
    )
    top.add_argument("--version", action="version", version=f"perceptive {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    called, alone = _called(arguments), COMMANDS.keys() & {*arguments[:1]}
    top.uses_model = bool(USE_MODELS & {*called})
    for name in COMMANDS if everything or not alone else alone:  # to make the others takes longer than to parse
        command = commands.add_parser(name, help=COMMANDS[name], formatter_class=argparse.RawDescriptionHelpFormatter)
        if everything or name in called:
            module = _module(name)
            module.configure(command)
            command.epilog = module.EXAMPLE
            default_of = {action.dest: action.default for action in command._actions}.get
            command.set_defaults(default_of=default_of)  # tells what was given
    return top


def _set_up(arguments: Sequence[str]) -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Greek letters
    if not any(argument.startswith("--kernel") for argument in arguments):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # idle threads would take time from the parsers
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not ignored, as in the background
        signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # unfinished files are cleared away


def _interrupt(number: int, _: object) -> NoReturn:
    """Raise as Python does, and remember it: numpy, while it is imported, turns it into an ImportError."""
    _interrupts.append(number)
    raise KeyboardInterrupt


@contextmanager
def _telling_warnings() -> Iterator[None]:
    """Tell in plain words, and at once, of what a run goes on in spite of."""
    with warnings.catch_warnings():
        show = warnings.showwarning
        for category in (NotWritten, OrderMatters):
            warnings.simplefilter("always", category)

        def tell(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, NotWritten | OrderMatters):
                print(f"perceptive: {message}", file=sys.stderr, flush=True)
            else:
                show(message, category, *where, **more)

        warnings.showwarning = tell
        yield


def _say_no_more(program: bool) -> None:
    """Let what waits to be written to standard output go nowhere, so that the end of the program is silent."""
    if program:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _module(command: str) -> Any:
    if command in USE_MODELS:
        return import_module("perceptive.cli.model_commands").COMMANDS[command]
    return import_module(f"perceptive.cli.{command}")


def _message(error: BaseException, options: argparse.Namespace | None = None) -> str:
    if isinstance(error, MemoryError):
        linear = getattr(options, "task", None) in ("classify", "rank") and getattr(options, "kernel", None) is None
        return "there is not enough memory" + ("; hash the features into fewer with --bits" if linear else "")
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return told(error)
    if isinstance(error, OfParameters):
        from perceptive.cli.options import as_option

        return error.worded(lambda parameter: as_option(parameter, getattr(options, "task", None)))
    said = str(error) or type(error).__name__
    if type(error).__name__ == "BrokenLine":
        said += "; --on-error skip leaves such lines out"
        if getattr(error, "labelled", False) and hasattr(options, "unlabelled"):
            said += ", and --unlabelled reads texts without labels"
    return said
