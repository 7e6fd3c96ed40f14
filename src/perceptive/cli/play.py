"""``perceptive play``: the perceptron game in a browser."""

from __future__ import annotations

import argparse
import sys

from perceptive.cli.options import whole

EXAMPLE = """\
examples:
  perceptive play
  perceptive play --port 8080 --no-browser
  perceptive play --export game.html
"""
PORT = 8642


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Open the perceptron game in a browser: play A or B and see what the theorem allows, with kernels, ranking, "
        "Viterbi and the prediction game. The page is served only to this machine, and uses no network."
    )
    parser.add_argument(
        "--port", type=whole(0), default=PORT, help=f"port to serve on, or the next free one (default: {PORT})"
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    parser.add_argument("--export", metavar="FILE", help="write the page to one file, which works offline, and exit")


def run(options: argparse.Namespace) -> None:
    if options.export is not None:
        from perceptive.cli.paths import check_paths, output
        from perceptive.playground import exported

        check_paths([options.export], [])
        with output(options.export, [], sys.stdout.buffer) as file:
            file.write(exported().encode("utf-8"))
        return
    from perceptive.errors import UsageError
    from perceptive.playground import Server

    if options.port > 65535:
        raise UsageError(f"--port {options.port}: ports go up to 65535")
    with Server(options.port) as server:
        if options.port not in (0, server.port):
            print(f"port {options.port} is in use; took {server.port}", file=sys.stderr)
        print(f"the perceptron game is at {server.url} (Ctrl-C ends it)", flush=True)
        if not options.no_browser:
            import webbrowser

            webbrowser.open(server.url)
        server.serve_forever()
