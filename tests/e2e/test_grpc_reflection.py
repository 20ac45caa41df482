# SPDX-License-Identifier: Apache-2.0
"""Server reflection and health watches, with the bytes of the messages as clients send them."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import grpc
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool

from conftest import ServerFactory
from support.infer import assert_serving
from support.proto_bytes import field, fields, values
from support.repository import ModelRepository
from support.server_process import ServerProcess

VERSIONS = ("v1", "v1alpha")
SERVICE = "inference.GRPCInferenceService"

# Numbers of fields: of the requests, and of the responses to them.
FILE_BY_FILENAME, FILE_CONTAINING_SYMBOL, LIST_SERVICES = 3, 4, 7
ORIGINAL_REQUEST, FILES, SERVICES, ERROR = 2, 4, 6, 7

SERVING, NOT_SERVING = b"\x08\x01", b"\x08\x02"


@pytest.fixture
def channel(identity_server: ServerProcess) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(identity_server.grpc_url) as channel:
        yield channel


def ask(channel: grpc.Channel, version: str, requests: list[bytes]) -> list[bytes]:
    path = f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo"
    answers = list(channel.stream_stream(path)(iter(requests), timeout=20))
    assert [values(answer, ORIGINAL_REQUEST) for answer in answers] == [[one] for one in requests]
    return answers


@pytest.mark.parametrize("version", VERSIONS)
def test_services(channel: grpc.Channel, version: str) -> None:
    (answer,) = ask(channel, version, [field(LIST_SERVICES, b"")])
    (services,) = values(answer, SERVICES)
    assert sorted(values(service, 1)[0].decode() for service in values(services, 1)) == [
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
        SERVICE,
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_client_can_call_what_it_has_learnt(channel: grpc.Channel, version: str) -> None:
    """From the files, without any of its own, a client knows each method and its messages."""
    (answer,) = ask(channel, version, [field(FILE_CONTAINING_SYMBOL, SERVICE.encode())])
    (files,) = values(answer, FILES)
    pool = descriptor_pool.DescriptorPool()
    for content in reversed(values(files, 1)):
        pool.Add(descriptor_pb2.FileDescriptorProto.FromString(content))
    service = pool.FindServiceByName(SERVICE)
    ready = service.FindMethodByName("ServerReady")
    assert ready.output_type.fields_by_name["ready"].number == 1
    assert service.FindMethodByName("ModelStreamInfer").server_streaming
    config = pool.FindMessageTypeByName("inference.ModelConfig")
    assert config.fields_by_name["max_batch_size"].number == 4
    call = channel.unary_unary(f"/{SERVICE}/{ready.name}")
    assert call(b"", timeout=20) == b"\x08\x01"


@pytest.mark.parametrize("version", VERSIONS)
def test_answers_come_in_order(channel: grpc.Channel, version: str) -> None:
    requests = [
        field(FILE_BY_FILENAME, b"model_config.proto"),
        field(FILE_CONTAINING_SYMBOL, b"inference.Nobody"),
        b"",
        field(LIST_SERVICES, b"*"),
    ]
    answers = ask(channel, version, requests * 50)
    expected = [FILES, ERROR, ERROR, SERVICES] * 50
    assert [fields(answer)[-1][0] for answer in answers] == expected
    (error,) = values(answers[1], ERROR)
    assert fields(error) == [(1, 5), (2, b"this server has no symbol 'inference.Nobody'")]


@pytest.mark.parametrize("content", [b"\xff\xff\xff", b"\x22\x05ab", b"\x22\x01\xff", bytes(9)])
def test_bytes_that_are_no_request(
    channel: grpc.Channel, identity_server: ServerProcess, content: bytes
) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        ask(channel, "v1", [content])
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.details() == "Unable to parse request"
    assert_serving(identity_server.http_url)


# -- health ----------------------------------------------------------------------------------------


def test_watch(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    """A watch tells of the end of the server, and does not delay it."""
    model_repository.add_identity("echo")
    server = server_factory(model_repository)
    with grpc.insecure_channel(server.grpc_url) as channel:
        watch = channel.unary_stream("/grpc.health.v1.Health/Watch")(b"", timeout=60)
        assert next(watch) == SERVING
        server.send_signal(signal.SIGTERM)
        assert next(watch) == NOT_SERVING
        with pytest.raises(grpc.RpcError):
            next(watch)
        assert watch.code() == grpc.StatusCode.UNAVAILABLE
        assert server.wait_exit() == 0


def test_watch_of_an_unknown_service(channel: grpc.Channel) -> None:
    watch = channel.unary_stream("/grpc.health.v1.Health/Watch")(field(1, b"nobody"), timeout=60)
    assert next(watch) == b"\x08\x03", "SERVICE_UNKNOWN"
    assert watch.is_active()
    watch.cancel()
