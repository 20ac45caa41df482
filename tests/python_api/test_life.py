# SPDX-License-Identifier: Apache-2.0
"""Starts and ends: the interpreter's end, forks, signals; in each Python."""

from __future__ import annotations

from pathlib import Path

import nereid_server
import pytest

from .conftest import RunScript

START = """
import os, signal, sys, threading, time
import numpy as np
import nereid_server

server = nereid_server.Server(sys.argv[1], model_control_mode="explicit", startup_models=["identity_fp32", "slow", "wait_for_cancel"])
one = {"INPUT0": np.array([1], np.int32)}

def works():
    value = np.array([1, 2], np.float32)
    assert (server.model("identity_fp32").infer({"INPUT0": value})["OUTPUT0"] == value).all()

works()
"""


def test_a_server_can_be_started_again(models: Path) -> None:
    server = nereid_server.Server({"echo": models / "identity_fp32"}, start=False)
    assert not server.is_live()
    with pytest.raises(nereid_server.UnavailableError, match="the server does not run"):
        server.metadata()
    for _ in range(2):
        with server:
            assert server.is_live()
            assert server.is_ready()
            assert server.model("echo").infer({"INPUT0": [1.5]})["OUTPUT0"] == [1.5]
        assert not server.is_live()
        server.stop()  # once more does no harm


def test_outputs_outlive_the_server(models: Path) -> None:
    with nereid_server.Server({"echo": models / "identity_fp32"}) as server:
        response = server.model("echo").infer({"INPUT0": [1.5]})
        stream = server.model("echo").stream({"INPUT0": [2.5]})
    assert response["OUTPUT0"] == [1.5]
    assert [late["OUTPUT0"].tolist() for late in stream] == [[2.5]]


def test_two_servers_in_one_process(models: Path) -> None:
    with nereid_server.Server({"a": models / "identity_fp32"}) as first:
        with nereid_server.Server({"b": models / "identity_fp32"}) as second:
            assert [model["name"] for model in second.index()] == ["b"]
        assert first.model("a").infer({"INPUT0": [1]})["OUTPUT0"] == [1]


def test_a_wrong_start_says_why(models: Path, tmp_path: Path) -> None:
    with pytest.raises(nereid_server.InvalidArgumentError, match="there is no model repository"):
        nereid_server.Server()
    with pytest.raises(nereid_server.NotFoundError, match="model 'm': there is no file or folder"):
        nereid_server.Server({"m": tmp_path / "none"})
    with pytest.raises(nereid_server.InvalidArgumentError, match="'a/b' cannot be the name of a model"):
        nereid_server.Server({"a/b": tmp_path})
    with pytest.raises(nereid_server.InvalidArgumentError, match="not a valid directory"):
        nereid_server.Server(tmp_path / "none")
    with pytest.raises(TypeError, match="no option 'exit_timeot'; did you mean 'exit_timeout'"):
        nereid_server.Server(models, exit_timeot=1)
    with pytest.raises(TypeError, match="option 'exit_timeout' must be an int, not str"):
        nereid_server.Server(models, exit_timeout="1")
    with pytest.raises(nereid_server.InvalidArgumentError, match="'exit_timeout' is out of range"):
        nereid_server.Server(models, exit_timeout=-1)
    with pytest.raises(nereid_server.InvalidArgumentError, match="must be one of 'none', 'poll', 'explicit'"):
        nereid_server.Server(models, model_control_mode="always")


def test_misspelt_backends_and_settings_are_named(run_script: RunScript, models: Path) -> None:
    settings = {"identity": {"default-max-batchsize": "9"}, "identty": {"a": "b"}}
    done = run_script(
        f"""
        import sys, nereid_server
        folder = sys.argv[1] + "/identity_fp32"
        with nereid_server.Server({{"echo": folder}}, backend_configuration={settings}):
            pass
        """,
        models,
    )
    assert "(did you mean 'default-max-batch-size'?)" in done.stderr
    assert "the backend 'identty', which is not in " in done.stderr
    assert "(did you mean 'identity'?)" in done.stderr
    assert done.stderr.count("settings are given for the backend") == 1


def test_a_failing_model_fails_the_start(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    (broken / "1").mkdir(parents=True)
    (broken / "config.pbtxt").write_text('backend: "no such backend"')
    with pytest.raises(nereid_server.InternalError):
        nereid_server.Server(tmp_path)
    with nereid_server.Server(tmp_path, exit_on_error=False) as server:
        assert server.is_live()
        assert not server.is_ready()


def test_the_end_of_the_interpreter_stops_the_server(run_script: RunScript, models: Path) -> None:
    done = run_script(START + "nereid_server.log(nereid_server.LogLevel.WARN, 'last words')", models)
    assert "script.py:" in done.stderr
    assert "last words" in done.stderr


def test_the_end_waits_for_requests_in_flight(run_script: RunScript, models: Path) -> None:
    run_script(
        START
        + """
calls = [server.model("slow").stream(one) for _ in range(3)]
threading.Thread(target=server.model("slow").infer, args=(one,), daemon=True).start()
time.sleep(0.05)
""",
        models,
    )


def test_a_hanging_model_does_not_hold_up_the_end(run_script: RunScript, models: Path) -> None:
    done = run_script(
        """
import sys, threading, time
import numpy as np
import nereid_server
server = nereid_server.Server({"never": sys.argv[1]}, exit_timeout=0)
one = {"INPUT0": np.array([1], np.int32)}
call = server.model("never").stream(one)
threading.Thread(target=server.model("never").infer, args=(one,), daemon=True).start()
""",
        models / "wait_for_cancel",
    )
    assert "a server did not stop" in done.stderr


def test_a_forked_child_gets_a_clear_error(run_script: RunScript, models: Path) -> None:
    done = run_script(
        START
        + """
response = server.model("identity_fp32").infer({"INPUT0": np.array([5], np.float32)})
stream = server.model("slow").stream(one)
child = os.fork()
if child == 0:
    assert response["OUTPUT0"] == [5]
    for use in (works, server.metadata, server.start and nereid_server.Server, lambda: next(stream)):
        try:
            use()
        except nereid_server.UnavailableError as error:
            assert "forked" in str(error), error
        else:
            raise AssertionError(use)
    assert not server.is_live()
    del response, stream
    sys.exit(7)  # runs all handlers of the end
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert next(stream)["OUTPUT0"] == [1]
works()
""",
        models,
    )
    assert "Traceback" not in done.stderr


def test_processes_of_multiprocessing_end(run_script: RunScript, models: Path) -> None:
    run_script(
        START
        + """
import multiprocessing
if __name__ == "__main__":
    process = multiprocessing.get_context("fork").Process(target=os.getpid)
    process.start()
    process.join(20)
    assert process.exitcode == 0
    works()
""",
        models,
    )


def test_a_child_can_have_a_server_of_its_own(run_script: RunScript, models: Path) -> None:
    run_script(
        """
import os, sys
import nereid_server
child = os.fork()
with nereid_server.Server({"echo": sys.argv[1]}) as server:
    assert server.model("echo").infer({"INPUT0": [1.5]})["OUTPUT0"] == [1.5]
if child != 0:
    assert os.waitpid(child, 0)[1] == 0
""",
        models / "identity_fp32",
    )


def test_ctrl_c_interrupts_a_blocking_call(run_script: RunScript, models: Path) -> None:
    run_script(
        START
        + """
def interrupt():
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)

for ask in (
    lambda: server.model("wait_for_cancel").infer(one),
    lambda: next(server.model("wait_for_cancel").stream(one)),
):
    threading.Thread(target=interrupt).start()
    try:
        ask()
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("not interrupted")
    works()
# Both requests were cancelled, so that the only instance is free.
stream = server.model("wait_for_cancel").stream(one, timeout=10)
stream.cancel()
try:
    next(stream)
except nereid_server.CancelledError:
    pass
""",
        models,
    )


def test_a_handler_of_signals_runs_while_a_call_blocks(run_script: RunScript, models: Path) -> None:
    run_script(
        START
        + """
came = []
signal.signal(signal.SIGALRM, lambda number, frame: came.append(number))
signal.setitimer(signal.ITIMER_REAL, 0.05)
assert server.model("slow").infer(one)["OUTPUT0"] == [1]
assert came == [signal.SIGALRM]
""",
        models,
    )


def test_what_users_do_works_in_each_python(run_script: RunScript, models: Path) -> None:
    run_script(
        START
        + """
import asyncio, gc

server.load("identity_bytes")
server.load("decoupled")
texts = server.model("identity_bytes").infer({"INPUT0": ["a", b"b"]})
assert texts["OUTPUT0"].tolist() == [b"a", b"b"]
assert len(list(server.model("decoupled").stream({"INPUT0": np.array([3], np.int32)}))) == 3
tensor = server.model("identity_fp32").infer({"INPUT0": [1, 2]}).tensors["OUTPUT0"]
view = memoryview(tensor)
assert (view.shape, view.format, view.tolist()) == ((2,), "f", [1.0, 2.0])
view.release()
if hasattr(np, "from_dlpack"):
    assert np.from_dlpack(tensor).tolist() == [1, 2]

async def ask():
    responses = await asyncio.gather(
        *(server.model("identity_fp32").async_infer({"INPUT0": [number]}) for number in range(20))
    )
    assert [response["OUTPUT0"].tolist() for response in responses] == [[n] for n in range(20)]
    return [r async for r in server.model("decoupled").async_stream({"INPUT0": np.array([2], np.int32)})]

assert len(asyncio.run(ask())) == 2
assert server.metrics().value("nv_inference_count", model="identity_fp32") >= 20

import nereid_server.tritonserver as tritonserver

with_original_names = tritonserver.Server(model_repository=[sys.argv[1]], model_control_mode=tritonserver.ModelControlMode.EXPLICIT)
with_original_names.start(wait_until_ready=True)
model = with_original_names.load("identity_fp32")
(answer,) = model.infer(inputs={"INPUT0": np.array([1.5], np.float32)})
assert answer.outputs["OUTPUT0"].shape == (1,)
with_original_names.stop()
""",
        models,
    )
