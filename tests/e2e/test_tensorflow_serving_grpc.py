# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Serving's gRPC API, in front of ONNX and identity models, with the messages that the
port describes itself, and once with bytes made by hand from the public definitions."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import numpy as np
import pytest

from conftest import ServerFactory
from support.infer import assert_serving
from support.metrics import metric
from support.nereid import start_nereid
from support.poll import poll_until
from support.proto_bytes import field, values
from support.reflected import ReflectedClient
from support.repository import ModelRepository
from support.server_process import LOOPBACK, ServerProcess
from support.tensorflow_serving import REGRESS, add_classifier, add_half_plus

PREDICTION = "tensorflow.serving.PredictionService"
MODEL = "tensorflow.serving.ModelService"
FLOAT, INT32, STRING, HALF = 1, 3, 7, 19  # of DataType
AVAILABLE, END = 30, 50  # of ModelVersionStatus.State


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("tfs_grpc")
    models = ModelRepository(folder / "models")
    add_half_plus(models, "half_plus_two", {1: 2, 2: 3})
    add_classifier(models)
    models.add_identity("echo")
    models.add_identity("matrix", "INT32", (-1, -1), tensors=2)
    models.add_identity(
        "text", "STRING", parameters={"tfs.signature.guess": "classify INPUT0 -> classes=OUTPUT0"}
    )
    models.add_identity("half", "FP16")
    patient = {"behaviour": "wait_for_cancel", "delay_ms": "60000"}
    models.add_identity("patient", backend="testing", parameters=patient)
    options = ["--tfs-grpc-port=0", "--tfs-http-port=0", "--max-in-flight-bytes=200000000"]
    server = start_nereid(models.root, folder / "log", options)
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def shared_client(server: ServerProcess) -> Iterator[ReflectedClient]:
    with ReflectedClient(f"{LOOPBACK}:{server.port('tfs_grpc')}") as client:
        yield client


@pytest.fixture
def client(server: ServerProcess, shared_client: ReflectedClient) -> Iterator[ReflectedClient]:
    """Checks after each test that nothing is in flight and that the server answers."""
    yield shared_client
    assert server.is_alive(), server.log_text()[-2000:]
    assert_serving(server.http_url)
    poll_until(
        "all bytes given back", lambda: metric(server.metrics_url, "nereid_in_flight_bytes") == 0
    )


def tensor(client: ReflectedClient, dtype: int, shape: tuple[int, ...], **content: Any) -> Any:
    dims = [{"size": size} for size in shape]
    return client.message(
        "tensorflow.TensorProto", dtype=dtype, tensor_shape={"dim": dims}, **content
    )


def predict(client: ReflectedClient, model: str, inputs: dict[str, Any], **more: Any) -> Any:
    """`more`: of the specification of the model, but `output_filter` and `how`."""
    how, wanted = more.pop("how", {}), more.pop("output_filter", ())
    request = client.message(
        "tensorflow.serving.PredictRequest",
        model_spec={"name": model, **more},
        output_filter=wanted,
    )
    for key, value in inputs.items():
        request.inputs[key].CopyFrom(value)
    return client.call(f"{PREDICTION}/Predict", request, **how)


def examples(
    client: ReflectedClient, kind: str, model: str, signature: str, rows: list[dict[str, Any]]
) -> Any:
    request = client.message(
        f"tensorflow.serving.{kind}Request", model_spec={"name": model, "signature_name": signature}
    )
    for row in rows:
        example = request.input.example_list.examples.add()
        for key, value in row.items():
            lists = example.features.feature[key]
            if isinstance(value[0], bytes):
                lists.bytes_list.value.extend(value)
            else:
                lists.float_list.value.extend(value)
    return client.call(
        f"{PREDICTION}/{'Classify' if kind == 'Classification' else 'Regress'}", request
    )


def error_of(call: Callable[[], Any]) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value.code(), caught.value.details() or ""


# -- predict ---------------------------------------------------------------------------------------


def test_the_example_of_half_plus_two(client: ReflectedClient) -> None:
    x = tensor(client, FLOAT, (3,), float_val=[1, 2, 5])
    answer = predict(client, "half_plus_two", {"x": x})
    assert list(answer.outputs["y"].float_val) == [3.5, 4.0, 5.5]
    assert [dim.size for dim in answer.outputs["y"].tensor_shape.dim] == [3]
    assert answer.outputs["y"].dtype == FLOAT
    spec = answer.model_spec
    assert (spec.name, spec.version.value, spec.signature_name) == (
        "half_plus_two",
        2,
        "serving_default",
    )
    content = tensor(client, FLOAT, (2, 1), tensor_content=struct.pack("<2f", 1, 2))
    first = predict(client, "half_plus_two", {"x": content}, version={"value": 1})
    assert list(first.outputs["y"].float_val) == [2.5, 3.0]
    stable = predict(client, "half_plus_two", {"x": content}, version_label="stable")
    assert stable.model_spec.version.value == 1
    regress = predict(client, "half_plus_two", {"x": content}, signature_name=REGRESS)
    assert list(regress.outputs["outputs"].float_val) == [3.5, 4.0]


def test_bytes_made_by_hand(client: ReflectedClient) -> None:
    """As the public definitions number the fields, without any class of this server's."""
    floats = struct.pack("<3f", 1, 2, 5)
    x = b"\x08\x01" + field(2, field(2, b"\x08\x03")) + field(5, floats)
    request = field(1, field(1, b"half_plus_two")) + field(2, field(1, b"x") + field(2, x))
    answer = client.channel.unary_unary(f"/{PREDICTION}/Predict")(request, timeout=20)
    (entry,) = values(answer, 1)
    assert values(entry, 1) == [b"y"]
    (y,) = values(entry, 2)
    assert values(y, 1) == [FLOAT]
    assert values(values(y, 2)[0], 2) == [b"\x08\x03"]
    assert values(y, 5) == [struct.pack("<3f", 3.5, 4.0, 5.5)]
    (spec,) = values(answer, 2)
    assert values(spec, 1) == [b"half_plus_two"]
    assert values(spec, 2) == [b"\x08\x02"]
    status = client.channel.unary_unary(f"/{MODEL}/GetModelStatus")
    versions = values(status(field(1, field(1, b"echo")), timeout=20), 1)
    assert [values(version, 1) for version in versions] == [[1]]
    assert values(versions[0], 2) == [AVAILABLE]


def test_types_and_several_tensors(client: ReflectedClient) -> None:
    first = tensor(client, INT32, (1, 2), int_val=[-1, 2])
    second = tensor(client, INT32, (2, 2), int_val=[7])
    answer = predict(client, "matrix", {"INPUT0": first, "INPUT1": second})
    assert list(answer.outputs["OUTPUT0"].int_val) == [-1, 2]
    assert list(answer.outputs["OUTPUT1"].int_val) == [7, 7, 7, 7]
    wanted = predict(
        client, "matrix", {"INPUT0": first, "INPUT1": second}, output_filter=["OUTPUT1"]
    )
    assert set(wanted.outputs) == {"OUTPUT1"}
    text = tensor(client, STRING, (2,), string_val=[b"\xff\x00", b""])
    assert list(predict(client, "text", {"INPUT0": text}).outputs["OUTPUT0"].string_val) == [
        b"\xff\x00",
        b"",
    ]
    half = tensor(client, HALF, (1,), half_val=[0x3C00])
    assert list(predict(client, "half", {"INPUT0": half}).outputs["OUTPUT0"].half_val) == [0x3C00]


def test_empty_tensors(client: ReflectedClient) -> None:
    nothing = tensor(client, FLOAT, (0,))
    answer = predict(client, "echo", {"INPUT0": nothing}).outputs["OUTPUT0"]
    assert [dim.size for dim in answer.tensor_shape.dim] == [0]
    assert not answer.float_val
    strings = tensor(client, STRING, (0,))
    assert not predict(client, "text", {"INPUT0": strings}).outputs["OUTPUT0"].string_val


def test_large_tensors(client: ReflectedClient) -> None:
    """Read by other threads than those of the connections; sent from where they are."""
    numbers = np.arange(2_000_000, dtype=np.float32)
    content = tensor(client, FLOAT, numbers.shape, tensor_content=numbers.tobytes())
    answer = predict(client, "echo", {"INPUT0": content})
    assert np.array_equal(np.array(answer.outputs["OUTPUT0"].float_val, np.float32), numbers)
    filled = tensor(client, FLOAT, (1_000_000,), float_val=[2.5])
    answer = predict(client, "echo", {"INPUT0": filled})
    assert list(answer.outputs["OUTPUT0"].float_val) == [2.5] * 1_000_000


# -- classify and regress --------------------------------------------------------------------------


def test_classify_and_regress(client: ReflectedClient) -> None:
    rows = [{"pair": [0.25, 0.75]}, {"pair": [1.0, 0.0]}]
    answer = examples(client, "Classification", "classifier", "guess", rows)
    found = [
        [(one.label, one.score) for one in row.classes] for row in answer.result.classifications
    ]
    assert found == [[("cat", 0.25), ("dog", 0.75)], [("cat", 1.0), ("dog", 0.0)]]
    assert answer.model_spec.signature_name == "guess"
    answer = examples(client, "Regression", "half_plus_two", REGRESS, [{"x": [1.0]}, {"x": [2.0]}])
    assert [one.value for one in answer.result.regressions] == [3.5, 4.0]


def test_a_model_of_serialised_examples(client: ReflectedClient) -> None:
    answer = examples(client, "Classification", "text", "guess", [{"a": [b"b"]}])
    ((one,),) = ([entry.classes for entry in answer.result.classifications],)
    example = client.message("tensorflow.Example")
    example.features.feature["a"].bytes_list.value.append(b"b")
    assert one[0].label.encode() == example.SerializeToString()


# -- status and metadata ---------------------------------------------------------------------------


def status_of(client: ReflectedClient, **spec: Any) -> list[tuple[int, int]]:
    request = client.message("tensorflow.serving.GetModelStatusRequest", model_spec=spec)
    answer = client.call(f"{MODEL}/GetModelStatus", request)
    return [(one.version, one.state) for one in answer.model_version_status]


def test_status(client: ReflectedClient) -> None:
    assert status_of(client, name="half_plus_two") == [(2, AVAILABLE), (1, AVAILABLE)]
    assert status_of(client, name="half_plus_two", version_label="stable") == [(1, AVAILABLE)]
    code, text = error_of(lambda: status_of(client, name="nothing"))
    assert (code, text) == (
        grpc.StatusCode.NOT_FOUND,
        "Could not find any versions of model nothing",
    )


def test_metadata(client: ReflectedClient) -> None:
    def ask(*fields: str) -> Any:
        request = client.message(
            "tensorflow.serving.GetModelMetadataRequest",
            model_spec={"name": "half_plus_two", "version": {"value": 1}},
            metadata_field=fields,
        )
        return client.call(f"{PREDICTION}/GetModelMetadata", request)

    answer = ask("signature_def")
    assert answer.model_spec.version.value == 1
    packed = answer.metadata["signature_def"]
    assert packed.type_url == "type.googleapis.com/tensorflow.serving.SignatureDefMap"
    signatures = client.message("tensorflow.serving.SignatureDefMap")
    assert packed.Unpack(signatures)
    assert set(signatures.signature_def) == {"serving_default", REGRESS}
    default = signatures.signature_def["serving_default"]
    assert default.method_name == "tensorflow/serving/predict"
    assert default.inputs["x"].dtype == FLOAT
    assert [dim.size for dim in default.outputs["y"].tensor_shape.dim] == [-1]
    assert error_of(lambda: ask("graph"))[0] == grpc.StatusCode.INVALID_ARGUMENT
    assert "needs a metadata_field" in error_of(lambda: ask())[1]


# -- mistakes --------------------------------------------------------------------------------------


def test_models_and_versions_that_are_not_there(client: ReflectedClient) -> None:
    x = tensor(client, FLOAT, (1,), float_val=[1])
    missing = grpc.StatusCode.NOT_FOUND
    latest = error_of(lambda: predict(client, "nothing", {"x": x}))
    assert latest == (missing, "Servable not found for request: Latest(nothing)")
    for version in (7, -1):
        specific = error_of(
            lambda: predict(client, "half_plus_two", {"x": x}, version={"value": version})
        )
        assert specific == (
            missing,
            f"Servable not found for request: Specific(half_plus_two, {version})",
        )
    label = error_of(lambda: predict(client, "half_plus_two", {"x": x}, version_label="beta"))
    assert label == (grpc.StatusCode.INVALID_ARGUMENT, "Unrecognized servable version label: beta")


def test_wrong_requests(client: ReflectedClient) -> None:
    def refused(inputs: dict[str, Any], **more: Any) -> str:
        code, text = error_of(lambda: predict(client, "echo", inputs, **more))
        assert code == grpc.StatusCode.INVALID_ARGUMENT, text
        return text

    one = tensor(client, FLOAT, (1,), float_val=[1])
    assert "lacks the input 'INPUT0'" in refused({})
    assert "has the input 'x', which is none" in refused({"x": one})
    assert "takes DT_FLOAT, but the request has DT_INT32" in refused(
        {"INPUT0": tensor(client, INT32, (1,))}
    )
    assert "which no tensor has" in refused({"INPUT0": tensor(client, FLOAT, (-1,))})
    assert "has 2 values" in refused({"INPUT0": tensor(client, FLOAT, (1,), float_val=[1, 2])})
    assert "has more than 67108864 bytes" in refused(
        {"INPUT0": tensor(client, FLOAT, (1 << 30,), float_val=[1])}
    )
    assert "unexpected shape" in refused(
        {"INPUT0": tensor(client, FLOAT, (1, 1, 1), float_val=[1])}
    )
    assert '"x" not found in signature def' in refused({"INPUT0": one}, signature_name="x")
    assert "has the output 'y', which is none" in refused({"INPUT0": one}, output_filter=["y"])
    code, text = error_of(lambda: examples(client, "Regression", "echo", "", [{"INPUT0": [1.0]}]))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert "needs one with tensorflow/serving/regress" in text
    for request in (b"\xff", field(2, b"\xff")):
        rpc = client.channel.unary_unary(f"/{PREDICTION}/Predict")
        assert error_of(lambda: rpc(request, timeout=20))[0] == grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("path", "instead"),
    [
        (f"{PREDICTION}/MultiInference", "call Classify or Regress for each signature"),
        ("tensorflow.serving.SessionService/SessionRun", "call Predict with a signature"),
        (f"{MODEL}/HandleReloadConfigRequest", "models come from the model repository"),
        ("inference.GRPCInferenceService/ModelInfer", "this server has no method"),
    ],
)
def test_methods_that_are_not_served(client: ReflectedClient, path: str, instead: str) -> None:
    code, text = error_of(lambda: client.channel.unary_unary(f"/{path}")(b"", timeout=20))
    assert code == grpc.StatusCode.UNIMPLEMENTED
    assert instead in text


# -- what every port of gRPC has -------------------------------------------------------------------


def test_services_of_both_ports(client: ReflectedClient, server: ServerProcess) -> None:
    assert {name for name in client.services if not name.startswith("grpc.")} == {PREDICTION, MODEL}
    with ReflectedClient(server.grpc_url) as other:
        assert not any(name.startswith("tensorflow") for name in other.services)
        code, _ = error_of(
            lambda: other.channel.unary_unary(f"/{PREDICTION}/Predict")(b"", timeout=20)
        )
        assert code == grpc.StatusCode.UNIMPLEMENTED
    health = client.message("grpc.health.v1.HealthCheckRequest", service=PREDICTION)
    assert client.call("grpc.health.v1.Health/Check", health).status == 1
    watch = client.channel.unary_stream("/grpc.health.v1.Health/Watch")(
        health.SerializeToString(), timeout=20
    )
    assert next(watch) == b"\x08\x01"
    watch.cancel()
    with httpx.Client(http1=False, http2=True) as rest:
        url = f"http://{LOOPBACK}:{server.port('tfs_grpc')}/v1/models/echo:predict"
        assert "--tfs-http-port" in rest.post(url, json={"instances": [1.0]}).text


def test_deadlines_and_clients_that_leave(client: ReflectedClient, server: ServerProcess) -> None:
    x = tensor(client, FLOAT, (1,), float_val=[1])
    how = {"timeout": 0.2}
    request = client.message("tensorflow.serving.PredictRequest", model_spec={"name": "patient"})
    request.inputs["INPUT0"].CopyFrom(x)
    rpc = client.channel.unary_unary(f"/{PREDICTION}/Predict", type(request).SerializeToString)
    assert error_of(lambda: rpc(request, **how))[0] == grpc.StatusCode.DEADLINE_EXCEEDED
    call = rpc.future(request)
    threading.Timer(0.2, call.cancel).start()
    with pytest.raises(grpc.FutureCancelledError):
        call.result()


# -- the server ------------------------------------------------------------------------------------


def test_keys_and_access_log_of_the_port(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    model_repository.add_identity("echo")
    keys = tmp_path / "keys"
    keys.write_text(
        "inference key-of-a-client-0123456789\nmetadata other-key-of-a-client-0123\n",
        encoding="ascii",
    )
    keys.chmod(0o600)
    log = tmp_path / "access.log"
    server = server_factory(
        model_repository,
        "--tfs-grpc-port=0",
        f"--api-key-file={keys}",
        f"--access-log={log}",
        wait_for=None,
    )
    poll_until("the server serves", lambda: "Started Metrics Service" in server.log_text())
    request = field(1, field(1, b"echo")) + field(
        2,
        field(1, b"INPUT0")
        + field(2, b"\x08\x01" + field(2, field(2, b"\x08\x01")) + field(5, b"\0\0\0\0")),
    )
    with grpc.insecure_channel(f"{LOOPBACK}:{server.port('tfs_grpc')}") as channel:
        predict_rpc = channel.unary_unary(f"/{PREDICTION}/Predict")
        status_rpc = channel.unary_unary(f"/{MODEL}/GetModelStatus")
        assert (
            error_of(lambda: predict_rpc(request, timeout=20))[0] == grpc.StatusCode.UNAUTHENTICATED
        )
        key = (("authorization", "Bearer key-of-a-client-0123456789"),)
        poll_until(
            "the model serves",
            lambda: _answers(lambda: predict_rpc(request, timeout=20, metadata=key)),
        )
        code, _ = error_of(
            lambda: status_rpc(field(1, field(1, b"echo")), timeout=20, metadata=key)
        )
        assert code == grpc.StatusCode.PERMISSION_DENIED
    poll_until("a line of the access log", lambda: f"/{PREDICTION}/Predict" in log.read_text())


def _answers(call: Callable[[], Any]) -> bool:
    try:
        call()
    except grpc.RpcError:
        return False
    return True


def test_port_is_off_unless_asked_for(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository)
    assert "TensorFlow Serving" not in server.log_text()
