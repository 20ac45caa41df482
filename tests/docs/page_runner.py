# SPDX-License-Identifier: Apache-2.0
"""Runs the blocks of one page in a folder of its own (README.md)."""

from __future__ import annotations

import http.client
import importlib.util
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from docs.blocks import Block, commands_of, same_output
from support.poll import poll_until
from support.ports import free_ports
from support.stage import PROJECT_ROOT, python_package, server_binary, stage_root

BLOCK_SECONDS = 150
READY_SECONDS = 60.0
STOP_SECONDS = 45
PORTS = (8000, 8001, 8002, 8003, 8080, 8501)
SCHEMES = ("http", "https")
CLIENTS = (".go", ".mjs", ".py", ".sh")  # in examples/: these name ports
LINKED = ("abi", "backends", "bench", "deploy", "docs", "include", "python", "tools")

SHIM = """\
#!/bin/bash
case "$1" in
  serve) exec {python} -m nereid_server "$@" ;;
  explain|top|probe)
    case " $* " in *" --url"*|*--help*) exec {binary} "$@" ;; esac
    exec {binary} "$@" --url=http://127.0.0.1:{http} ;;
  --help*|--version) exec {binary} "$@" ;;
  --*) exec {binary} --http-port={http} --grpc-port={grpc} --metrics-port={metrics} \\
      --backend-config=python,python={python} "$@" ;;
  *) exec {binary} "$@" ;;
esac
"""
SERVE_CALL = re.compile(r"\bnereid_server\.serve\((\w+(?:\(\))?)\)")


class WrongPage(AssertionError):
    """What the page says is not so."""


def is_ready(url: str) -> bool:
    unverified = ssl._create_unverified_context() if url.startswith("https") else None
    try:
        with urllib.request.urlopen(f"{url}/v2/health/ready", timeout=5, context=unverified):
            return True
    except (OSError, http.client.HTTPException):
        return False


@dataclass(frozen=True)
class Printed:
    """What a program has written to its standard output and to its standard error."""

    output: str
    errors: str

    @property
    def all(self) -> str:
        return self.output + self.errors


def is_there(name: str) -> bool:
    """Whether Python has the module, or the path the program."""
    return importlib.util.find_spec(name) is not None or shutil.which(name) is not None


def is_python(block: Block) -> bool:
    return block.language == "python" or block.option("python") is not None


def status_of(block: Block) -> int:
    """The exit status that the block, or its last command, has to end with."""
    return int(block.option("status ") or 0)


class PageRunner:
    """One page's folder, ports and server; a context manager. Not thread-safe."""

    def __init__(self, base: Path) -> None:
        self._folder = base / "page"
        self._programs = base / "programs"
        self._log = base / "server.log"
        self._ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        self._server: subprocess.Popen[bytes] | None = None
        self._printed: Printed | None = None  # by the block before
        self._python = ""  # the Python blocks before, as far as they belong together
        self._make_folder()
        self._make_programs()

    def __enter__(self) -> PageRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_server()

    def do(self, block: Block) -> None:
        """Runs a block, or compares it with the output of the one before. Raises WrongPage."""
        if not all(is_there(name) for name in block.needs()):
            self._printed = None
            return
        {
            "run": self._run,
            "server": self._serve,
            "console": self._run_console,
            "output": self._check_output,
            "file": self._write_file,
            "skip": lambda _: None,
        }[block.verb](block)

    # -- kinds of blocks -----------------------------------------------------------------------

    def _write_file(self, block: Block) -> None:
        path = self._folder / block.argument
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._with_free_ports(block.text), encoding="utf-8")

    def _run(self, block: Block) -> None:
        text = block.text
        if is_python(block):
            if block.option("after the others") is not None:
                text = self._python + text
            self._python = text
        self._printed = self._execute(text, is_python(block), status_of(block))

    def _run_console(self, block: Block) -> None:
        commands = commands_of(block.text)
        for number, (command, expected) in enumerate(commands, 1):
            status = status_of(block) if number == len(commands) else 0
            self._compare(expected, self._execute(command, False, status), block)

    def _check_output(self, block: Block) -> None:
        if self._printed is not None:  # None: the block before needs what is not there
            self._compare(block.text, self._printed, block)

    def _serve(self, block: Block) -> None:
        self._stop_server()
        text = block.text
        if is_python(block):
            http_port, grpc, metrics, *_ = self._ports.values()
            ports = f"http_port={http_port}, grpc_port={grpc}, metrics_port={metrics}"
            if block.option("after the others") is not None:
                text = self._python + text
            self._python = SERVE_CALL.sub("", text)
            text = SERVE_CALL.sub(rf"nereid_server.serve(\1, {ports})", text)
        with self._log.open("wb") as log:
            self._server = subprocess.Popen(
                self._command(text, is_python(block)),
                cwd=self._folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        poll_until("the page's server", self._is_ready, READY_SECONDS, self._log_text)

    # -- processes -----------------------------------------------------------------------------

    def _execute(self, text: str, python: bool, status: int) -> Printed:
        try:
            done = subprocess.run(
                self._command(text, python),
                cwd=self._folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=BLOCK_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise WrongPage(f"not done after {BLOCK_SECONDS} s:\n{text}") from error
        texts = (done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
        printed = Printed(*map(self._as_on_the_page, texts))
        if done.returncode != status:
            raise WrongPage(
                f"exit status {done.returncode}, not {status}:\n{text}\n{printed.all}\n"
                f"{self._log_text()[-4000:]}"
            )
        return printed

    def _command(self, text: str, python: bool) -> list[str]:
        text = self._with_free_ports(text)
        for path in ("build/stage/bin/nereid", ".venv/bin/python"):
            text = text.replace(path, Path(path).name)
        if python:
            return [sys.executable, "-c", text]
        return ["bash", "-e", "-o", "pipefail", "-c", text]

    def _environment(self) -> dict[str, str]:
        inherited = {key: value for key, value in os.environ.items() if "NEREID" not in key}
        paths = [str(python_package()), os.environ.get("PYTHONPATH", "")]
        return inherited | {
            "HOME": str(self._folder),
            "BASH_ENV": str(self._folder / ".bash_env"),
            "NO_COLOR": "1",
            "COLUMNS": "200",  # tables of `nereid top` lose none
            "PATH": f"{self._programs}:{os.environ['PATH']}",
            "PYTHONPATH": ":".join(filter(None, paths)),
            "NEREID_HOME": str(stage_root()),
        }

    def _is_ready(self) -> bool:
        assert self._server is not None
        if self._server.poll() is not None:
            raise WrongPage(f"the server ended:\n{self._log_text()}")
        return any(is_ready(f"{scheme}://127.0.0.1:{self._ports[8000]}") for scheme in SCHEMES)

    def _stop_server(self) -> None:
        if self._server is None or self._server.poll() is not None:
            return
        os.killpg(self._server.pid, signal.SIGTERM)
        try:
            self._server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._server.pid, signal.SIGKILL)
            raise
        finally:
            self._server = None

    def _log_text(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    # -- texts ---------------------------------------------------------------------------------

    def _with_free_ports(self, text: str) -> str:
        return re.sub(r"\b80(?:0[0-3]|80)\b", lambda match: str(self._ports[int(match[0])]), text)

    def _as_on_the_page(self, text: str) -> str:
        for usual, port in self._ports.items():
            text = re.sub(rf"\b{port}\b", str(usual), text)
        return text.replace(f"{self._folder}/", "")

    def _compare(self, expected: str, printed: Printed, block: Block) -> None:
        """A page shows all that the program prints, or its standard output alone."""
        vary = block.option("numbers vary") is not None
        if not any(same_output(expected, text, vary) for text in (printed.output, printed.all)):
            raise WrongPage(f"the page shows\n{expected}\nand the program prints\n{printed.all}")

    # -- the folder ----------------------------------------------------------------------------

    def _make_folder(self) -> None:
        self._folder.mkdir()
        (self._folder / ".curlrc").write_text("silent\nshow-error\n")
        shutil.copytree(PROJECT_ROOT / "examples", self._folder / "examples")
        for client in (self._folder / "examples").rglob("*"):
            if client.suffix in CLIENTS:
                client.write_text(self._with_free_ports(client.read_text(encoding="utf-8")))
        for name in LINKED:
            (self._folder / name).symlink_to(PROJECT_ROOT / name)
        (self._folder / "build").mkdir()
        (self._folder / "build/stage").symlink_to(stage_root())

    def _make_programs(self) -> None:
        http_port, grpc, metrics, *_ = self._ports.values()
        self._programs.mkdir()
        texts = {
            name: SHIM.format(
                python=sys.executable,
                binary=server_binary(name),
                http=http_port,
                grpc=grpc,
                metrics=metrics,
            )
            for name in ("nereid", "tritonserver")
        }
        python = f'#!/bin/sh\nexec {sys.executable} "$@"\n'
        for name, text in (texts | {"python": python, "python3": python}).items():
            (self._programs / name).write_text(text)
            (self._programs / name).chmod(0o755)
