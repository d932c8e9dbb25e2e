"""What is bound, when, and to which names it answers."""

import signal
import socket
import subprocess
import sys

import pytest

from tests.serving.server.support import LIKELIHOOD, assert_right, raw, running
from tfdsmcmc.serving.server import development_server
from tfdsmcmc.serving.server.application import is_loopback
from tfdsmcmc.serving.server.development_server import make_server


@pytest.mark.parametrize("host", ["127.1", "127.0.0.1", "localhost", "2130706433"])
def test_loopback_is_that_which_is_bound(foreign, host):
    with running(foreign, host=host) as server:
        head = b"GET / HTTP/1.1\r\nHost: "
        assert raw(server, head + b"evil.example\r\n\r\n").startswith(b"HTTP/1.1 403 ")
        assert raw(server, head + b"localhost\r\n\r\n").startswith(b"HTTP/1.1 200 ")


def test_other_addresses_answer_to_every_name(foreign):
    with running(foreign, host="0.0.0.0") as server:
        assert raw(server, b"GET / HTTP/1.1\r\nHost: some.example\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    assert is_loopback("//[::ffff:127.0.0.1]")
    assert not any(is_loopback(f"//{name}") for name in ("[::ffff:10.0.0.1]", "127.1", ""))


def test_an_address_that_cannot_be_had_is_told_before_anything_is_loaded(folder, monkeypatch):
    monkeypatch.setattr(development_server, "Predictions", None)  # it would fail otherwise
    for host in (None, 3, b"localhost", "a\0b", "é..b", ""):
        with pytest.raises(ValueError, match="host must be.*Received: host="):
            make_server(folder, host=host, port=0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"in use.*, for host='127.0.0.1' and port={port}"):
            make_server(folder, port=port)
    with pytest.raises(OSError, match="for host='192.0.2.1' and port=0"):  # an address for documents alone
        make_server(folder, host="192.0.2.1", port=0)


def test_what_fails_to_load_is_closed(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ValueError, match="There must be a SavedModel"):
        make_server(tmp_path, port=port)
    socket.create_server(("127.0.0.1", port)).close()


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8501", "127.9.9.9", "[::1]:80"])
def test_names_of_this_machine(ask, host):
    assert ask("GET", "/v1/models/tiny", Host=host)[0] == 200
    assert ask("GET", "/v1/models/tiny", Origin=f"http://{host}")[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8501", "localhost.evil.example", "10.0.0.1", "", "::"])
def test_other_names_and_other_sites_are_refused(ask, direct, host):
    status, answer = ask("GET", "/v1/models/tiny", Host=host)
    assert status == 403 and "this machine" in answer["error"]
    site = f"http://{host or 'a.example'}"
    assert ask("POST", "/v1/models/tiny:predict", {"inputs": LIKELIHOOD}, Origin=site)[0] == 403
    assert ask("GET", "/", Origin="null")[0] == ask("GET", "/", Origin="http://[")[0] == 403
    for site in ("http://evil.example//localhost", "http://localhost@evil.example", "http://evil.example/?//localhost"):
        assert ask("GET", "/v1/models/tiny", Origin=site)[0] == 403
    assert_right(ask, direct)


@pytest.mark.slow
def test_serve_says_where_and_ends_on_an_interrupt(foreign):
    # in a shell's background, as of a whole suite, interrupts are ignored
    program = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    program += f"from tfdsmcmc.serving.server.development_server import serve\nserve({str(foreign)!r}, port=0)"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", program], **pipes)
    said = process.stdout.readline()
    assert "Development server" in said and "http://127.0.0.1:" in said
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and "ended" in rest and "Traceback" not in errors


def test_an_interrupt_before_it_serves_ends_it_too(monkeypatch, capsys):
    class Interrupted:
        url, closed = "http://127.0.0.1:1", False
        predictions = type("Predictions", (), {"name": "a"})

        def serve_forever(self):
            raise KeyboardInterrupt

        def server_close(self):
            self.closed = True

    server = Interrupted()
    monkeypatch.setattr(development_server, "make_server", lambda *where: server)
    development_server.serve("a")
    assert server.closed and capsys.readouterr().out.endswith("\nended\n")
