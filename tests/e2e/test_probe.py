# SPDX-License-Identifier: Apache-2.0
"""`nereid probe`: health checks without curl, by HTTP and gRPC."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from conftest import ServerFactory
from support.certificates import make_certificate
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import server_binary

SCHEMES = ("http", "grpc")
KEY = "key-of-the-probe-012345"


def probe(*arguments: str, url: str | None = None) -> subprocess.CompletedProcess[str]:
    """`url`: the environment's."""
    env = {name: value for name, value in os.environ.items() if name != "NEREID_PROBE_URL"}
    if url is not None:
        env["NEREID_PROBE_URL"] = url
    command = [str(server_binary()), "probe", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)


def address(server: ServerProcess, scheme: str) -> str:
    return f"{scheme}://127.0.0.1:{server.port('http' if 'http' in scheme else 'grpc')}"


def assert_yes(done: subprocess.CompletedProcess[str], text: str) -> None:
    assert (done.returncode, done.stdout, done.stderr) == (0, text, "")


def assert_no(done: subprocess.CompletedProcess[str], text: str) -> None:
    """`text`: a regular expression of the whole sentence."""
    assert (done.returncode, done.stderr) == (1, ""), done
    assert re.fullmatch(text, done.stdout), done.stdout


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_server_that_serves(example_server: ServerProcess, scheme: str) -> None:
    url = address(example_server, scheme)
    assert_yes(probe(f"--url={url}"), f"The server at {url} is ready.\n")
    assert_yes(probe("--ready", url=url), f"The server at {url} is ready.\n")
    assert_yes(probe("--live", f"--url={url}"), f"The server at {url} is live.\n")
    assert_yes(probe("--model=digits", f"--url={url}"), f"Model 'digits' at {url} is ready.\n")
    assert_yes(
        probe("--model=digits:1", f"--url={url}"), f"Model 'digits' version 1 at {url} is ready.\n"
    )


def test_a_model_that_is_not_there(example_server: ServerProcess) -> None:
    http, grpc = (address(example_server, scheme) for scheme in SCHEMES)
    assert_no(
        probe("--model=no / such", f"--url={http}"),
        f"Model 'no / such' at {http} is not ready: it answers HTTP 404: "
        r""".*Request for unknown model: 'no / such' .*\.\n""",
    )
    assert_no(
        probe("--model=digits:7", f"--url={http}"),
        f"Model 'digits' version 7 at {http} is not ready: it answers HTTP 404: .*\n",
    )
    for model in ("no / such", "digits:7"):
        assert probe(f"--model={model}", f"--url={grpc}").returncode == 1


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_failed_model_leaves_the_server_live(
    server_factory: ServerFactory, model_repository: ModelRepository, scheme: str
) -> None:
    model_repository.add("broken", 'backend: "none-such"')
    server = server_factory(model_repository, "--exit-on-error=false", wait_for="/v2/health/live")
    url = address(server, scheme)
    assert probe("--live", f"--url={url}").returncode == 0
    reason = ": it answers HTTP 503.*" if scheme == "http" else ""
    assert_no(probe(f"--url={url}"), rf"The server at {url} is not ready{reason}\.\n")


def test_a_lame_duck_is_not_ready(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository, "--lame-duck-secs=3600")
    server.send_signal(signal.SIGTERM)
    for scheme in SCHEMES:
        arguments = ("--ready", f"--url={address(server, scheme)}")
        poll_until("the probe fails", lambda: probe(*arguments).returncode == 1, 30)
    server.kill()


def test_keys(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    keys.write_text(f"health {KEY}\n", encoding="utf-8")
    model_repository.add_identity("echo")
    server = server_factory(model_repository, f"--api-key-file={keys}", wait_for=None)
    for scheme, refusal in (("http", "HTTP 401"), ("grpc", "UNAUTHENTICATED")):
        url = f"--url={address(server, scheme)}"
        header = f"--header=Authorization: Bearer {KEY}"
        poll_until("ready", lambda: probe(header, url).returncode == 0, 30)
        done = probe(url)
        assert done.returncode == 1 and f"it answers {refusal}" in done.stdout, done


@pytest.mark.parametrize("scheme", ["https", "grpcs"])
def test_tls(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path, scheme: str
) -> None:
    certificate, key = make_certificate(tmp_path)
    stranger, _ = make_certificate(tmp_path, "stranger")
    port = scheme.removesuffix("s")
    model_repository.add_identity("echo")
    server = server_factory(
        model_repository,
        f"--{port}-use-ssl-mutual=true",
        f"--{port}-server-cert={certificate}",
        f"--{port}-server-key={key}",
        f"--{port}-root-cert={certificate}",
        wait_for=None,
    )
    url = f"--url={address(server, scheme).replace('127.0.0.1', 'localhost')}"
    own = (f"--client-cert={certificate}", f"--client-key={key}")
    poll_until("ready", lambda: probe(url, *own).returncode == 0, 30)
    assert probe(url, *own, f"--root-cert={certificate}").returncode == 0
    untrusted = probe(url, *own, f"--root-cert={stranger}")
    assert untrusted.returncode == 1 and "its certificate is not trusted" in untrusted.stdout
    # The certificate names localhost, and no address.
    misnamed = probe(f"--url={address(server, scheme)}", *own, f"--root-cert={certificate}")
    assert misnamed.returncode == 1 and "its certificate is not trusted" in misnamed.stdout
    assert probe(url).returncode == 1
    missing = probe(url, f"--root-cert={tmp_path / 'none'}")
    assert missing.returncode == 2 and "--root-cert: '" in missing.stderr


def test_nothing_listens() -> None:
    done = probe("--url=http://127.0.0.1:1")
    assert_no(done, "No answer from http://127.0.0.1:1: nothing listens there\\.\n")


def test_wrong_arguments_end_with_2() -> None:
    done = probe("--url=127.0.0.1:8000")
    assert done.returncode == 2 and done.stdout == ""
    assert "nereid probe: --url: the URL '127.0.0.1:8000' has to be http://HOST:PORT" in done.stderr
