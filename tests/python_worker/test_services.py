# SPDX-License-Identifier: Apache-2.0
"""The server's services for a model besides inference: metrics, model control, the log."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from .conftest import Session, StartWorker, request
from .fake_server import (
    IS_MODEL_READY,
    LOAD_MODEL,
    LOG,
    LOG_LEVELS,
    METRIC_DELETE,
    METRIC_FAMILY_DELETE,
    METRIC_FAMILY_NEW,
    METRIC_INCREMENT,
    METRIC_NEW,
    METRIC_OBSERVE,
    METRIC_SET,
    METRIC_VALUE,
    UNLOAD_MODEL,
    ServerError,
)

pytestmark = pytest.mark.one_interpreter

FAILED = "Failed to process the request for model 'model_0_0', message: "


# --- Metrics.


@pytest.fixture
def metrics(session: Session) -> Session:
    numbers = itertools.count(10)
    session.seen = []

    def note(kind: int, answer: Any) -> None:
        def handle(*arguments: Any) -> Any:
            session.seen.append((kind, *arguments))
            return answer() if callable(answer) else answer

        session.worker.handlers[kind] = handle

    for kind in (METRIC_FAMILY_NEW, METRIC_NEW):
        note(kind, lambda: next(numbers))
    for kind in (METRIC_INCREMENT, METRIC_SET, METRIC_OBSERVE):
        note(kind, None)
    note(METRIC_VALUE, 2.5)
    session.run(
        """
        MF = pb_utils.MetricFamily
        f = MF("name", "what it is", MF.COUNTER)
        """
    )
    return session


def test_a_metric(metrics: Session) -> None:
    metrics.run("m = f.Metric(labels={'a': 'b'}); m.increment(3); m.set(4.5); m.observe(1)")
    assert metrics.evaluate("m.value()") == "2.5"
    assert metrics.seen == [
        (METRIC_FAMILY_NEW, 0, "name", "what it is"),
        (METRIC_NEW, 10, {"a": "b"}, None),
        (METRIC_INCREMENT, 11, 3.0),
        (METRIC_SET, 11, 4.5),
        (METRIC_OBSERVE, 11, 1.0),
        (METRIC_VALUE, 11),
    ]


def test_a_histogram(metrics: Session) -> None:
    metrics.run("h = MF('h', 'd', MF.HISTOGRAM).Metric(buckets=[1, 2.5])")
    assert metrics.seen[1:] == [(METRIC_FAMILY_NEW, 2, "h", "d"), (METRIC_NEW, 11, {}, (1.0, 2.5))]


def test_a_metric_goes_before_its_family(metrics: Session) -> None:
    metrics.run("m = f.Metric()")
    metrics.run("del m")
    metrics.run("del f")
    metrics.run("")
    assert metrics.worker.posted(METRIC_DELETE) == [(11,)]
    assert metrics.worker.posted(METRIC_FAMILY_DELETE) == [(10,)]


def test_a_family_goes_before_its_metric(metrics: Session) -> None:
    metrics.run("m = f.Metric()")
    metrics.run("del f")
    assert metrics.evaluate("m.increment(1)") == (
        "TritonModelException: Failed to increment metric value: Invalid metric operation as the "
        "corresponding 'MetricFamily' has been deleted. The 'MetricFamily' object should be deleted "
        "AFTER its corresponding 'Metric' objects have been deleted."
    )
    metrics.run("del m")
    metrics.run("")
    assert metrics.worker.posted(METRIC_DELETE) == [(11,)]
    assert [post[0] for post in metrics.worker.posts] == [METRIC_DELETE, METRIC_FAMILY_DELETE]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("f.Metric(labels=5)", "Failed to create metric. Labels must be a dictionary."),
        ("f.Metric(buckets=(1,))", "Failed to create metric. Buckets must be a list."),
        ("f.Metric(buckets=[1.0])", "Failed to create metric. Unexpected buckets found."),
        (
            "MF('h', 'd', MF.HISTOGRAM).Metric()",
            "Failed to create metric. Missing required buckets.",
        ),
        (
            "f.Metric(labels={'a': 1})",
            "Failed to create metric. Names and values of labels must be strings, found "
            "<class 'str'> and <class 'int'>.",
        ),
    ],
)
def test_what_is_no_metric(metrics: Session, expression: str, text: str) -> None:
    assert metrics.evaluate(expression) == f"TritonModelException: {text}"


@pytest.mark.parametrize(
    ("kind", "expression", "what"),
    [
        (METRIC_FAMILY_NEW, "MF('n', 'd', MF.GAUGE)", "Error when creating MetricFamily"),
        (METRIC_NEW, "f.Metric()", "Error when creating Metric"),
        (METRIC_INCREMENT, "m.increment(-1)", "Failed to increment metric value"),
        (METRIC_SET, "m.set(1)", "Failed to set metric value"),
        (METRIC_OBSERVE, "m.observe(1)", "Failed to observe metric value"),
        (METRIC_VALUE, "m.value()", "Failed to get metric value"),
    ],
)
def test_the_server_refuses(metrics: Session, kind: int, expression: str, what: str) -> None:
    metrics.run("m = f.Metric()")

    def refuse(*_: Any) -> Any:
        raise ServerError(3, "not so")

    metrics.worker.handlers[kind] = refuse
    assert metrics.evaluate(expression) == (
        f"TritonModelException: {what}: Failed to process the request for model 'model_0_0', message: "
        "not so"
    )


def test_kinds_are_not_numbers(metrics: Session) -> None:
    assert metrics.evaluate("MF('n', 'd', 0)").startswith("TypeError: ")
    assert metrics.evaluate("pb_utils.COUNTER is MF.COUNTER") == "True"


# --- Model control.


def test_models_come_and_go(session: Session) -> None:
    seen = []
    for kind, answer in ((LOAD_MODEL, None), (UNLOAD_MODEL, None), (IS_MODEL_READY, True)):

        def handle(*arguments: Any, kind: int = kind, answer: Any = answer) -> Any:
            seen.append((kind, *arguments))
            return answer

        session.worker.handlers[kind] = handle
    session.run("pb_utils.load_model('m')")
    session.run("pb_utils.load_model(model_name='m', config='{}', files={'file:1/a': b'\\x00'})")
    session.run("pb_utils.unload_model('m')")
    session.run("pb_utils.unload_model(model_name='m', unload_dependents=True)")
    assert session.evaluate("pb_utils.is_model_ready('m')") == "True"
    session.run("pb_utils.is_model_ready(model_name='m', model_version='2')")
    assert seen == [
        (LOAD_MODEL, "m", "", {}),
        (LOAD_MODEL, "m", "{}", {"file:1/a": b"\0"}),
        (UNLOAD_MODEL, "m", False),
        (UNLOAD_MODEL, "m", True),
        (IS_MODEL_READY, "m", ""),
        (IS_MODEL_READY, "m", "2"),
    ]


@pytest.mark.parametrize(
    ("kind", "expression", "text"),
    [
        (LOAD_MODEL, "load_model('m')", f"Failed to load model: {FAILED}no"),
        (UNLOAD_MODEL, "unload_model('m')", f"Failed to unload model: {FAILED}no"),
        (IS_MODEL_READY, "is_model_ready('m')", f"Failed to check model readiness: {FAILED}no"),
        (
            LOAD_MODEL,
            "load_model('m', files=[])",
            "failed to load model 'm', files should be a dictionary of file paths and file contents",
        ),
    ],
)
def test_what_fails(session: Session, kind: int, expression: str, text: str) -> None:
    def refuse(*_: Any) -> Any:
        raise ServerError(1, "no")

    session.worker.handlers[kind] = refuse
    assert session.evaluate(f"pb_utils.{expression}") == f"TritonModelException: {text}"


def test_files_that_are_no_bytes(session: Session) -> None:
    text = session.evaluate("pb_utils.load_model('m', files={'file:a': 'text'})")
    assert text.startswith("TypeError: ") and "is not an instance of 'bytes'" in text


# --- The log.


def test_levels_and_places(start: StartWorker) -> None:
    worker = start(
        """
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def execute(self, requests):
                logger = pb_utils.Logger
                logger.log("a")
                logger.log("b", logger.WARNING)
                logger.log(message="c", level=logger.LogLevel.ERROR)
                logger.log_info("d")
                logger.log_warn("e")
                logger.log_error("f")
                logger.log_verbose("g")
                return [pb_utils.InferenceResponse([])]
        """
    )
    worker.execute(request(1))
    lines = [(level, line, text) for level, _, line, text in worker.posted(LOG)]
    assert lines == [
        (0, 8, "a"),
        (1, 9, "b"),
        (2, 10, "c"),
        (0, 11, "d"),
        (1, 12, "e"),
        (2, 13, "f"),
    ]
    assert {file for _, file, _, _ in worker.posted(LOG)} == {str(worker.model_file)}
    worker.posts.clear()
    worker._put("I", LOG_LEVELS, 0b1100)  # the server's levels count at once
    worker.execute(request(2))
    assert [text for *_, text in worker.posted(LOG)] == ["c", "f", "g"]


def test_what_is_no_line(session: Session) -> None:
    assert session.evaluate("pb_utils.Logger.log('a', 1)").startswith("TypeError: ")
    assert session.evaluate("pb_utils.Logger.log_info(None)").startswith("TypeError: ")


def test_a_forked_child_prints(session: Session) -> None:
    session.run(
        """
        child = os.fork()
        if child == 0:
            pb_utils.Logger.log_warn("from a child")
            os._exit(0)
        os.waitpid(child, 0)
        """
    )
    line = session.worker.log.read_text()
    assert line.startswith("W") and line.endswith("<string>:3]  from a child\n")
