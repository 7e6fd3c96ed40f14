"""A server for the page: on the loopback alone, and of its own files alone."""

from __future__ import annotations

import errno
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from perceptive.playground.page import PAGE

HOST = "127.0.0.1"
PORTS = 50  # are tried, one after the other
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Server(ThreadingHTTPServer):
    """Serves the page at `url`, on the port that is asked for or the next free one.

    Examples
    --------
    >>> with Server(0) as server:
    ...     server.url.startswith("http://127.0.0.1:")
    True
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port: int) -> None:
        for candidate in range(port, min(port + PORTS, 65536)) if port else (0,):
            try:
                super().__init__((HOST, candidate), _Handler)
                return
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    raise
        raise OSError(f"the ports {port} … {port + PORTS - 1} are all in use; give another with --port")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has gone before its answer came; the rest is told as usual."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version = "perceptive"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        # Another site's name that resolves to this address (DNS rebinding) has no business here.
        if self.headers.get("Host") not in (f"{HOST}:{self.server.port}", f"localhost:{self.server.port}"):
            self._send(HTTPStatus.MISDIRECTED_REQUEST, "text/plain; charset=utf-8", b"this server is for 127.0.0.1\n")
            return
        name = self.path.partition("?")[0].removeprefix("/") or "index.html"
        if name not in PAGE:
            self._send(HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", b"there is no such file\n")
            return
        self._send(HTTPStatus.OK, *PAGE[name])

    do_HEAD = do_GET

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing: the page is for one person, who sees it."""
