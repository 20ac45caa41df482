# SPDX-License-Identifier: Apache-2.0
"""A server with Python models that stop at given points, and whose processes the test kills."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import shutil
import signal
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
import numpy as np
from tritonclient.grpc import service_pb2, service_pb2_grpc

from python_models.left_behind import MARK, marked, memory_files, shared_memory_names, zombies
from python_models.servers import OUR_ENVIRONMENT
from support import raw_http
from support.nereid import start_nereid
from support.poll import poll_until

MODELS = Path(__file__).resolve().parent / "kill_models"
STREAM_LENGTH = 6
SECONDS = 60.0  # for an answer, and for a model to come back


def write_repository(root: Path) -> Path:
    for model in sorted(MODELS.iterdir()):
        if (model / "config.pbtxt").exists():
            shutil.copytree(model, root / model.name, ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(MODELS / "common" / "stopping.py", root / model.name / "1")
            (root.parent / "marks" / model.name).mkdir(parents=True)
    return root


class Answer:
    """The answer to a request that is sent from a separate thread. Exactly one of `values`, `error`
    and `lost` (the connection has ended) is set."""

    def __init__(self) -> None:
        self.values: list[int] | None = None
        self.error: str | None = None
        self.lost = False

    def is_right(self, x: Sequence[int]) -> bool:
        return self.values == [value + 1 for value in x]


class Victims:
    """One server and its models. Not thread-safe, except for `fresh`, `ask` and `ask_stream`."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.mark = uuid.uuid4().hex
        self._fresh = itertools.count()
        self.repository = write_repository(folder / "models")
        self._shared_memory = shared_memory_names()
        self.server = start_nereid(
            self.repository,
            folder / "log",
            [
                "--model-control-mode=explicit",
                "--load-model=*",
                "--backend-config=python,fork-server-keep-seconds=1",  # it ends within unload_all
                *options,
            ],
            {**OUR_ENVIRONMENT, MARK: self.mark},
        )
        self.server.wait_for()
        self.http = self.server.http_url
        self.grpc = self.server.grpc_url
        self._seen = memory_files(marked(self.mark))
        assert self._seen, "there is memory to be left behind"

    # -- points --------------------------------------------------------------------------------------

    def _marks(self, model: str) -> Path:
        return self.repository.parent / "marks" / model

    def stop_at(self, model: str, point: str) -> None:
        (self._marks(model) / f"stop-at-{point}").touch()

    def go_on(self, model: str, point: str) -> None:
        (self._marks(model) / f"stop-at-{point}").unlink(missing_ok=True)
        for mark in self._marks(model).glob(f"at-{point}-*"):
            mark.unlink()

    def wait_at(self, model: str, point: str) -> int:
        """Waits until a process has reached the point; returns the process id."""

        def found() -> int | None:
            alive = set(marked(self.mark))
            for mark in self._marks(model).glob(f"at-{point}-*"):
                pid = int(mark.name.rsplit("-", 1)[1])
                if pid in alive:
                    return pid
            return None

        pid = poll_until(f"{model} to stop at {point}", found, SECONDS, self._last_words)
        assert pid is not None
        return pid

    def processes_of(self, model: str) -> list[int]:
        alive = set(marked(self.mark))
        pids = [int(mark.name[4:]) for mark in self._marks(model).glob("pid-*")]
        return [pid for pid in pids if pid in alive]

    def _last_words(self) -> str:
        return self.server.log_text()[-4000:]

    # -- requests ------------------------------------------------------------------------------------

    def fresh(self) -> list[int]:
        """Inputs that were not sent before, so that every answer can be told apart."""
        first = next(self._fresh)
        return list(range(first, first + STREAM_LENGTH))

    def ask(self, model: str, x: Sequence[int]) -> Answer:
        """Sends a request over HTTP. If no answer comes in time, the test fails."""
        answer = Answer()
        tensor = {"name": "X", "shape": [len(x)], "datatype": "INT32", "data": list(x)}
        path = f"/v2/models/{model}/infer"
        try:
            got = self._post(path, {"inputs": [tensor]})
        except TimeoutError:
            raise AssertionError(f"{model}: no answer within {SECONDS} s") from None
        except (OSError, http.client.HTTPException):
            answer.lost = True
            return answer
        if got.status == 200:
            answer.values = got.json()["outputs"][0]["data"]
        else:
            answer.error = got.error()
        return answer

    def _post(self, path: str, document: Any) -> raw_http.HttpAnswer:
        body = json.dumps(document).encode()
        return raw_http.request(self.http, "POST", path, body, timeout=SECONDS)

    def ask_stream(self, x: Sequence[int]) -> Answer:
        """Sends a request to the model `streams`; gets its responses up to the end or an error."""
        answer = Answer()
        message = service_pb2.ModelInferRequest(model_name="streams")
        message.inputs.add(name="X", datatype="INT32", shape=[len(x)])
        message.raw_input_contents.append(np.array(x, np.int32).tobytes())
        message.parameters["triton_enable_empty_final_response"].bool_param = True
        values: list[int] = []
        with grpc.insecure_channel(self.grpc) as channel:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            try:
                for one in stub.ModelStreamInfer(iter([message]), timeout=SECONDS):
                    if one.error_message:
                        answer.error = one.error_message
                        return answer
                    for raw in one.infer_response.raw_output_contents:
                        values += np.frombuffer(raw, np.int32).tolist()
                answer.values = values
            except grpc.RpcError as error:
                assert error.code() != grpc.StatusCode.DEADLINE_EXCEEDED, "the stream hangs"
                answer.lost = True
        return answer

    def control(self, what: str, model: str) -> str:
        """Loads or unloads a model; returns the error, or an empty text."""
        answer = self._post(f"/v2/repository/models/{model}/{what}", {})
        return "" if answer.status == 200 else answer.error()

    def wait_well(self, model: str) -> None:
        """Waits until the model gives right answers again."""

        def well() -> bool:
            x = self.fresh()
            answer = self.ask_stream(x) if model == "streams" else self.ask(model, x)
            return answer.is_right(x)

        poll_until(f"{model} to answer again", well, SECONDS, self._last_words)

    # -- ends ----------------------------------------------------------------------------------------

    def kill(self, pid: int) -> None:
        """Kills a process. Notes the existing memory files, which must not be left behind."""
        self._seen |= memory_files(marked(self.mark))
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:  # it has ended by itself
            pass

    def kill_server(self) -> None:
        self.kill(self.server.process.pid)
        self.server.wait_exit()

    def unload_all(self) -> None:
        """Unloads all models, and checks that the server holds nothing of them."""
        for model in sorted(path.name for path in self.repository.iterdir()):
            assert self.control("unload", model) == ""
        pid = self.server.process.pid
        # A process that has ended loses its mark before the server has waited for it.
        alone = lambda: (  # noqa: E731
            marked(self.mark) == [pid] and not memory_files([pid]) and not zombies(pid)
        )
        poll_until("the server to be alone", alone, SECONDS, self._held)

    def check_nothing_left(self) -> None:
        """Checks that nothing is left behind. REQUIRES: the server has ended."""
        poll_until("all processes to end", lambda: not marked(self.mark), SECONDS, self._held)
        # A process that ends loses its environment, by which it is found, before its files.
        left = lambda: memory_files() & self._seen  # noqa: E731
        poll_until("all memory files to be freed", lambda: not left(), SECONDS, lambda: str(left()))
        new = shared_memory_names() - self._shared_memory
        # The memory of clients in tests that run at the same time is theirs.
        new = {name for name in new if "nereid" in name and not name.startswith("nereid-test-")}
        assert not new, new

    def _held(self) -> str:
        pids = marked(self.mark)
        lines = []
        for pid in pids:
            try:
                command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            lines.append(f"{pid}: {command}")
        return "\n".join([*lines, str(memory_files(pids)), self._last_words()])


class InBackground(threading.Thread):
    """Calls `action` and keeps its result; `result` waits for it."""

    def __init__(self, action: Any) -> None:
        super().__init__(daemon=True)
        self._action = action
        self._result: Any = None
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self._result = self._action()
        except BaseException as error:  # handed to the test's thread
            self._error = error

    def result(self) -> Any:
        self.join(2 * SECONDS)
        assert not self.is_alive(), "a request hangs"
        if self._error is not None:
            raise self._error
        return self._result
