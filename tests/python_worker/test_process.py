# SPDX-License-Identifier: Apache-2.0
"""The process: how it starts, imports the model, handles signals, forks, and ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from .conftest import Session, StartWorker, request
from .fake_server import FINALIZE, LOG


def ends(pid: int) -> bool:
    """Waits for the end of a process that is nobody's child here, or a zombie."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([fd], [], [], 30)[0])
    finally:
        os.close(fd)


# --- The model's file.


def test_a_failing_initialize(start: StartWorker) -> None:
    worker = start(
        """
        class TritonPythonModel:
            def initialize(self, args):
                lorem_ipsum
        """,
        initialize=False,
    )
    assert worker.initialize() == (
        "NameError: name 'lorem_ipsum' is not defined\n\nAt:\n"
        f"  {worker.model_file}(4): initialize\n"
    )


@pytest.mark.one_interpreter
def test_a_failing_import(start: StartWorker) -> None:
    worker = start("import no_such_module", initialize=False)
    text = worker.initialize()
    assert isinstance(text, str)
    assert text.startswith(
        "ModuleNotFoundError: No module named 'no_such_module'\n\nAt:\n"
        f"  {worker.model_file}(1): <module>\n  <frozen importlib"
    )
    assert "worker_main" not in text and "_nereid" not in text


@pytest.mark.one_interpreter
def test_a_file_that_is_no_python(start: StartWorker) -> None:
    worker = start("class", initialize=False)
    assert worker.initialize() == "SyntaxError: invalid syntax (model.py, line 1)"


@pytest.mark.one_interpreter
def test_no_class(start: StartWorker) -> None:
    worker = start("x = 1", initialize=False)
    assert worker.initialize() == (
        "AttributeError: module '1.model' has no attribute 'TritonPythonModel'"
    )


@pytest.mark.one_interpreter
def test_no_file(start: StartWorker) -> None:
    worker = start(initialize=False)
    assert worker.initialize() == (
        f"TritonModelException: Python model file not found in '{worker.model_file}'"
    )


def test_names_paths_and_helpers(start: StartWorker) -> None:
    worker = start(
        """
        import sys

        import beside
        import triton_python_backend_utils as pb_utils

        from .beside import VALUE
        from triton_python_backend_utils import InferenceResponse, Tensor


        class TritonPythonModel:
            def initialize(self, args):
                assert all(type(value) is str for value in args.values())
                seen = [__name__, __package__, __file__, VALUE, beside.VALUE, sys.argv,
                        sys.executable, pb_utils.get_model_dir(), args["model_name"]]
                print(seen)
        """,
        initialize=False,
    )
    (worker.folder / "1" / "beside.py").write_text("VALUE = 5")
    assert worker.initialize() is False
    seen = ["1.model", "1", str(worker.model_file), 5, 5, [""]]
    shown = worker.log.read_text()
    assert shown.startswith(repr(seen)[:-1]), shown
    assert shown.endswith(f"'{worker.folder}/1', 'model']\n")


@pytest.mark.one_interpreter
def test_a_file_whose_name_is_no_module(start: StartWorker) -> None:
    worker = start(initialize=False)
    worker.model_file = worker.folder / "1" / "my model-2.py"
    worker.model_file.write_text("class TritonPythonModel: pass")
    assert worker.initialize(module="1.my model-2") is False


def test_no_numpy(start: StartWorker, python: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('broken\\nin detail')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    worker = start("class TritonPythonModel: pass", initialize=False)
    text = (
        f"numpy cannot be imported by {python}: broken; install it with '{python} -m pip install "
        "numpy'"
    )
    assert worker.initialize() == text
    assert worker.auto_complete("{}") == ("error", text)


# --- Its end.


def test_finalize_and_exit(start: StartWorker) -> None:
    worker = start(
        """
        import atexit
        import threading

        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def initialize(self, args):
                threading.Thread(target=threading.Event().wait).start()  # for ever
                atexit.register(print, "at exit")

            def finalize(self):
                print("finalized", end=" ")
                for i in range(2000):  # more than the ring holds
                    pb_utils.Logger.log_info(str(i))
        """
    )
    assert worker.command(FINALIZE, None) is None
    assert worker.wait_for_end() == 0
    assert worker.log.read_text() == "finalized at exit\n"
    assert [int(text) for *_, text in worker.posted(LOG)] == list(range(2000))


@pytest.mark.one_interpreter
def test_a_failing_finalize(start: StartWorker) -> None:
    worker = start(
        """
        class TritonPythonModel:
            def finalize(self):
                raise ValueError("so")
        """
    )
    assert worker.command(FINALIZE, None) == (
        f"ValueError: so\n\nAt:\n  {worker.model_file}(4): finalize\n"
    )
    assert worker.wait_for_end() == 0


@pytest.mark.one_interpreter
def test_signals_that_the_server_gets_too(session: Session) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(session.worker.pid, number)
        assert session.evaluate("1 + 1") == "2"
    # Programs that a model starts can be ended.
    assert session.run(
        """
        import subprocess
        other = subprocess.Popen(["sleep", "1000"])
        other.terminate()
        result = other.wait()
        """
    ) == str(-signal.SIGTERM)


STARTER = """
    import sys
    from pathlib import Path

    sys.path[:0] = sys.argv[1:3]
    from python_worker.conftest import SESSION, Session, Worker

    worker = Worker(sys.executable, Path(sys.argv[3]), SESSION)
    assert worker.initialize() is False
    session = Session(worker)
    session.run(sys.argv[4])
    child = session.run("child = os.fork()\\nif child == 0: threading.Event().wait()\\nresult = child")
    print(worker.pid, child, flush=True)
    sys.stdin.read()
"""


# A forked child runs this before anything else.
SLOW_CHILDREN = """
import ctypes, time
callback = ctypes.CFUNCTYPE(None)(lambda: time.sleep(1))
assert getattr(ctypes.CDLL(None), "__register_atfork")(None, None, callback, None) == 0
result = None
"""


@pytest.mark.one_interpreter
@pytest.mark.parametrize("prepare", ["result = None", SLOW_CHILDREN], ids=["quick", "slow"])
def test_it_ends_with_the_server(prepare: str, tmp_path: Path) -> None:
    """And so do children that the model has forked, however early."""
    tests = Path(__file__).resolve().parents[1]
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(STARTER), tests, tests.parent, tmp_path, prepare],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        worker, child = map(int, server.stdout.readline().split())
        server.kill()
    assert ends(worker)
    assert ends(child)


@pytest.mark.one_interpreter
def test_a_server_that_has_gone_already(python: str, session: Session) -> None:
    """The number of another process in place of the server's."""
    main = session.run("import sys; result = sys.modules['__main__'].__file__").strip("'")
    ran = subprocess.run([python, main, "1", "title"], capture_output=True, text=True)
    assert ran.returncode == 1


@pytest.mark.one_interpreter
def test_started_by_hand(python: str, session: Session) -> None:
    main = session.run("import sys; result = sys.modules['__main__'].__file__").strip("'")
    ran = subprocess.run([python, main], capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stderr == (
        f"{python} cannot run Python models: this program is started by the server only\n"
    )
    ran = subprocess.run([python, main, str(os.getpid()), "t"], capture_output=True, text=True)
    assert "this process was not started by the server: it has no control file" in ran.stderr


# --- Its children.


def test_multiprocessing(start: StartWorker) -> None:
    worker = start(
        """
        import multiprocessing

        import triton_python_backend_utils as pb_utils


        def square(number):
            return number * number


        class TritonPythonModel:
            def execute(self, requests):
                sums = []
                for method in ("fork", "spawn"):
                    with multiprocessing.get_context(method).Pool(2) as pool:
                        sums.append(str(sum(pool.map(square, range(5)))))
                error = pb_utils.TritonError(" ".join(sums))
                return [pb_utils.InferenceResponse(error=error)]
        """
    )
    assert worker.execute(request(1)) == ("ok", (((1, "30 30"), (), ""),), (1,))


def test_a_child_that_is_terminated_at_once_ends(session: Session) -> None:
    assert session.run(
        """
        import signal, time

        def ends():
            child = os.fork()
            if child == 0:
                while True:
                    time.sleep(1)
            os.kill(child, signal.SIGTERM)
            deadline = time.monotonic() + 5
            while time.monotonic() < deadline:
                ended, status = os.waitpid(child, os.WNOHANG)
                if ended:
                    return os.WTERMSIG(status) == signal.SIGTERM
                time.sleep(0.001)
            os.kill(child, signal.SIGKILL)
            return False

        result = all(ends() for _ in range(20)), signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()
        """
    ) == "(True, True)"


def test_what_the_title_and_the_descriptors_are(session: Session) -> None:
    assert Path(f"/proc/{session.worker.pid}/comm").read_text() == "model_0_0\n"
    listed = session.run(
        """
        import subprocess
        result = subprocess.run(["ls", "-l", "/proc/self/fd"], close_fds=False,
                                stdout=subprocess.PIPE).stdout
        """
    )
    assert "/log" in listed
    assert "memfd" not in listed and "eventfd" not in listed and "socket" not in listed
