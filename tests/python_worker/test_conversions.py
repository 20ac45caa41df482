# SPDX-License-Identifier: Apache-2.0
"""What the classes for models accept: text, numbers, truth values and lists as Triton's binding
accepts them, for every argument of every class and function."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from .conftest import Session
from .fake_server import (
    INFER,
    IS_MODEL_READY,
    LOAD_MODEL,
    LOG,
    METRIC_FAMILY_NEW,
    METRIC_INCREMENT,
    METRIC_NEW,
    METRIC_OBSERVE,
    METRIC_SET,
    UNLOAD_MODEL,
)

pytestmark = pytest.mark.one_interpreter

MADE = """
    def made(**given):
        given = {"model_name": "m", "inputs": [], "requested_output_names": [], **given}
        return pb_utils.InferenceRequest(**given)
"""
METRIC = "pb_utils.MetricFamily('n', 'd', pb_utils.MetricFamily.GAUGE).Metric()"

# Each kind of argument: what is taken, in all its forms, and what is not.
TEXT = (["'ä'", "'ä'.encode()", "np.bytes_('ä'.encode())", "np.str_('ä')"], ["1", "None", "b'\\xff'", "['ä']"])
MESSAGE = (["'ä'", "'ä'.encode()", "np.bytes_('ä'.encode())", "np.str_('ä')"], ["1", "None", "['ä']"])
NUMBER = (["3", "np.int64(3)", "np.uint8(3)", "np.array(3)"], ["'3'", "b'3'", "3.0", "None", "[3]", "2**64"])
REAL = (["3", "3.0", "np.float32(3)", "np.int64(3)", "True + 2"], ["'3'", "b'3'", "None", "[3]"])
TRUTH = (["True", "1", "np.bool_(True)", "np.int64(7)", "np.array([True])"], ["'no'", "b''", "[]", "np.ones(2)"])

# Pieces of Python: a call with the argument @, and what shows what came of it.
ARGUMENTS = {
    "request.model_name": ("q = made(model_name=@)", "q._model[0]", TEXT),
    "request.request_id": ("q = made(request_id=@)", "q.request_id()", TEXT),
    "request.requested_output_names": (
        "q = made(requested_output_names=[@])",
        "*q.requested_output_names()",
        TEXT,
    ),
    "request.model_version": ("q = made(model_version=@)", "q._model[1]", NUMBER),
    "request.flags": ("q = made(flags=@)", "q.flags()", NUMBER),
    "request.timeout": ("q = made(timeout=@)", "q.timeout()", NUMBER),
    "request.set_flags": ("request.set_flags(@)", "request.flags()", NUMBER),
    "request.set_release_flags": (
        "q = made(); q.set_release_flags(@)",
        "q._release_flags",
        NUMBER,
    ),
    "request.exec": ("r = made().exec(@)", "type(r).__name__", TRUTH),
    "sender.send": (
        "from _nereid.senders import _checked; flags = _checked(None, @)",
        "flags",
        NUMBER,
    ),
    "error.message": ("e = pb_utils.TritonError(@)", "e.message()", MESSAGE),
    "memory.preferred_device_id": (
        "p = pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_CPU, @)",
        "p._device_id",
        NUMBER,
    ),
    "tensor.name": ("t = pb_utils.Tensor(@, np.zeros(1))", "t.name()", TEXT),
    "tensor.from_dlpack": (
        "t = pb_utils.Tensor.from_dlpack(@, np.zeros(1).__dlpack__())",
        "t.name()",
        TEXT,
    ),
    "family.name": ("pb_utils.MetricFamily(@, 'd', pb_utils.MetricFamily.GAUGE)", "asked[1]", TEXT),
    "family.description": (
        "pb_utils.MetricFamily('n', @, pb_utils.MetricFamily.GAUGE)",
        "asked[2]",
        TEXT,
    ),
    "metric.buckets": (
        "pb_utils.MetricFamily('n', 'd', pb_utils.MetricFamily.HISTOGRAM).Metric(buckets=[@])",
        "asked[2][0]",
        REAL,
    ),
    "metric.increment": (f"{METRIC}.increment(@)", "asked[1]", REAL),
    "metric.set": (f"{METRIC}.set(@)", "asked[1]", REAL),
    "metric.observe": (f"{METRIC}.observe(@)", "asked[1]", REAL),
    "load_model.model_name": ("pb_utils.load_model(@)", "asked[0]", TEXT),
    "load_model.config": ("pb_utils.load_model('m', @)", "asked[1]", TEXT),
    "unload_model.model_name": ("pb_utils.unload_model(@)", "asked[0]", TEXT),
    "unload_model.unload_dependents": ("pb_utils.unload_model('m', @)", "asked[1]", TRUTH),
    "is_model_ready.model_name": ("pb_utils.is_model_ready(@)", "asked[0]", TEXT),
    "is_model_ready.model_version": ("pb_utils.is_model_ready('m', @)", "asked[1]", TEXT),
    **{
        f"logger.{method}": (f"pb_utils.Logger.{method}(@)", "logged", MESSAGE)
        for method in ("log", "log_info", "log_warn", "log_error")
    },
}


@pytest.fixture(autouse=True)
def _made(session: Session) -> None:
    session.run(MADE)


@pytest.fixture
def server(session: Session) -> Session:
    """A server that answers everything. The last call is shown as `asked`, the last line as `logged`."""
    numbers = itertools.count(1)
    session.asked = ()

    def note(kind: int, answer: Any) -> None:
        def handle(*arguments: Any) -> Any:
            session.asked = arguments
            if kind == INFER:
                return next(numbers) if arguments[11] else (None, (), "")
            return answer() if callable(answer) else answer

        session.worker.handlers[kind] = handle

    for kind in (METRIC_FAMILY_NEW, METRIC_NEW):
        note(kind, lambda: next(numbers))
    for kind in (METRIC_INCREMENT, METRIC_SET, METRIC_OBSERVE, LOAD_MODEL, UNLOAD_MODEL, INFER):
        note(kind, None)
    note(IS_MODEL_READY, True)
    return session


def shown(server: Session, call: str, result: str) -> str:
    text = server.run(call)
    if text != "None":
        return text
    if result == "logged":
        return repr(server.worker.posted(LOG)[-1][-1])
    if result.startswith("asked"):
        return repr(eval(result, {"asked": server.asked}))
    return server.evaluate(result)


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_every_form_is_taken_and_nothing_else(server: Session, argument: str) -> None:
    call, result, (taken, refused) = ARGUMENTS[argument]
    first, *others = (shown(server, call.replace("@", form), result) for form in taken)
    assert not first.startswith(("TypeError", "Error")) and others == [first] * len(others)
    if argument.startswith("logger."):
        server.worker.posts.clear()
    for form in refused:
        text = server.run(call.replace("@", form))
        assert text.startswith("TypeError: "), (form, text)
        assert "(): incompatible function arguments. '" in text, (form, text)


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("['A', b'B', 'A']", "{'A', 'B'}"),
        ("('A', 'B')", "{'A', 'B'}"),
        ("{'A', 'B'}", "{'A', 'B'}"),
        ("np.array(['A', 'B'])", "{'A', 'B'}"),
        ("np.array([b'A', b'B'], dtype=object)", "{'A', 'B'}"),
        ("(name for name in 'AB')", "{'A', 'B'}"),
    ],
)
def test_any_sequence_is_a_list_of_names(session: Session, form: str, names: str) -> None:
    made = f"made(requested_output_names={form})"
    assert session.evaluate(f"{made}.requested_output_names() == {names}") == "True"


@pytest.mark.parametrize("form", ["'AB'", "b'AB'", "{'A': 1}", "3", "None"])
def test_what_is_no_list(session: Session, form: str) -> None:
    for argument in ("inputs", "requested_output_names"):
        text = session.evaluate(f"made({argument}={form})")
        assert text.startswith("TypeError: InferenceRequest(): incompatible function arguments. "), text
    text = session.evaluate(f"pb_utils.InferenceResponse({form})")
    assert text.startswith("TypeError: InferenceResponse(): incompatible function arguments. "), text


def test_any_sequence_is_a_list_of_tensors(session: Session) -> None:
    session.run("a, b = (pb_utils.Tensor(name, np.zeros(1)) for name in 'AB')")
    for form in ("[a, b]", "(a, b)", "(t for t in (a, b))", "{'A': a, 'B': b}.values()"):
        names = f"[t.name() for t in made(inputs={form}).inputs()]"
        assert session.evaluate(names) == "['A', 'B']", form
        names = f"[t.name() for t in pb_utils.InferenceResponse({form}).output_tensors()]"
        assert session.evaluate(names) == "['A', 'B']", form


@pytest.mark.parametrize(
    ("argument", "highest"),
    [("flags", 2**32 - 1), ("timeout", 2**64 - 1), ("model_version", 2**63 - 1), ("correlation_id", 2**64 - 1)],
)
def test_numbers_have_limits(session: Session, argument: str, highest: int) -> None:
    assert session.run(f"made({argument}={highest})") == "None"
    text = session.run(f"made({argument}={highest + 1})")
    assert text.startswith("TypeError: ") and f"'{argument}' must be from " in text, text


def test_a_correlation_id_is_what_it_is_in_the_original(session: Session) -> None:
    for form in ("np.uint64(5)", "b'5'", "1.5"):
        assert session.evaluate(f"made(correlation_id={form})") == (
            "TritonModelException: Correlation ID must be integer or string"
        )


# --- Parameters.


def test_a_float_is_a_parameter(session: Session) -> None:
    made = "made(parameters={'a': 0.7, 'b': -2**63, 'c': True, 'd': 'x'})"
    assert session.evaluate(f"{made}.parameters()") == repr(
        '{"a": 0.7, "b": -9223372036854775808, "c": true, "d": "x"}'
    )


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1])
def test_a_parameter_beyond_64_bits(session: Session, number: int) -> None:
    for made in ("made(", "pb_utils.InferenceResponse([], "):
        assert session.evaluate(f"{made}parameters={{'seed': {number}}})") == (
            "TritonModelException: Expect parameters values that are integers to fit 64 bits with a sign, "
            f"found {number} for parameter 'seed'"
        )


# --- The module itself.


def test_the_names_of_the_module(session: Session) -> None:
    """Those of Triton, which models also import by `*`."""
    assert session.evaluate("[pb_utils.np is np, pb_utils.json.dumps(1), pb_utils.struct.calcsize('I')]") == (
        "[True, '1', 4]"
    )
    names = "{name for name in dir(pb_utils) if not name.startswith('__')} ^ set(pb_utils.__all__)"
    assert session.evaluate(names) == "set()"
    session.run("import c_python_backend_utils as compiled")
    names = names.replace("pb_utils", "compiled")
    assert session.evaluate(names) == "set()"
