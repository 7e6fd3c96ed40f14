"""The server of the page: the loopback alone, its own files alone; the page as one file."""

import http.client
import re
import signal
import socket
import subprocess
import sys

import pytest

from command_line import perceptive
from perceptive.playground import PAGE, Server, exported
from perceptive.playground.page import in_order


def ask(server, path="/", method="GET", host=None):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request(method, path, headers={"Host": host or f"127.0.0.1:{server.port}"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def test_files_and_headers(server):
    for name, (kind, content) in PAGE.items():
        answer, body = ask(server, f"/{name}")
        assert (answer.status, body) == (200, content)
        assert answer.headers["Content-Type"] == kind
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert ask(server)[1] == ask(server, "/index.html")[1] == ask(server, "/?x=1")[1]
    head, body = ask(server, method="HEAD")
    assert (head.status, body) == (200, b"")
    assert int(head.headers["Content-Length"]) == len(PAGE["index.html"][1])
    assert "Python" not in head.headers["Server"]


@pytest.mark.parametrize(
    "path", ["/server.py", "/../server.py", "/%2e%2e/server.py", "//etc/passwd", "/static/", "/.."]
)
def test_nothing_else_is_served(server, path):
    answer, body = ask(server, path)
    assert answer.status == 404
    assert b"import" not in body
    assert ask(server, method="POST")[0].status == 501


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "", "localhost.evil.example"])
def test_other_hosts_are_refused(server, host):
    assert ask(server, host=host or "-")[0].status == 421
    assert ask(server, host=f"localhost:{server.port}")[0].status == 200


def test_only_the_loopback(server):
    assert server.server_address[0] == "127.0.0.1"


def test_a_browser_that_goes_away_is_no_error(server, capfd):
    for error, told in [(BrokenPipeError(), ""), (ConnectionResetError(), ""), (KeyError("odd"), "KeyError: 'odd'")]:
        try:
            raise error
        except Exception:
            server.handle_error(None, ("127.0.0.1", 1))
        assert told in capfd.readouterr().err if told else not capfd.readouterr().err


def test_the_next_port_is_taken():
    with Server(0) as first, Server(first.port) as second:
        assert second.port > first.port


def test_the_page_is_small_and_asks_for_nothing_from_elsewhere():
    assert sum(len(content) for _, content in PAGE.values()) <= 150_000
    assert len(exported().encode()) <= 150_000
    for name, (_, content) in PAGE.items():
        text = content.decode().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|\beval\(|innerHTML", text), name


def test_the_modules_are_all_in_the_exported_file():
    assert sorted(in_order()) == sorted(name for name in PAGE if name.endswith(".js"))
    page = exported()
    assert "import {" not in page
    assert 'src="main.js"' not in page
    assert "Content-Security-Policy" in page


class TestCommand:
    """``perceptive play``."""

    def test_export(self, tmp_path):
        perceptive("play", "--export", tmp_path / "game.html")
        assert (tmp_path / "game.html").read_text(encoding="utf-8") == exported()
        done = perceptive("play", "--export", tmp_path / "nowhere" / "game.html", code=1)
        assert "the folder does not exist" in done.stderr

    def test_wrong_ports(self):
        assert "ports go up to 65535" in perceptive("play", "--port", "70000", code=2).stderr
        assert "whole number" in perceptive("play", "--port", "x", code=2).stderr

    def test_it_serves_until_ctrl_c_and_says_where(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            command = [sys.executable, "-m", "perceptive", "play", "--no-browser", "--port", str(port)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as play:
                line = play.stdout.readline()
                found = int(re.search(r"http://127\.0\.0\.1:(\d+)/", line)[1])
                assert found != port
                connection = http.client.HTTPConnection("127.0.0.1", found, timeout=10)
                connection.request("GET", "/")
                assert connection.getresponse().status == 200
                connection.close()
                play.send_signal(signal.SIGINT)
                _, errors = play.communicate(timeout=20)
                assert play.returncode == 130
                assert f"port {port} is in use; took {found}" in errors
