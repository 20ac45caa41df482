# SPDX-License-Identifier: Apache-2.0
"""The services of a gRPC port as its reflection describes them, and messages of them."""

from __future__ import annotations

from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.message_factory import GetMessageClass

from support.proto_bytes import field, values

REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
LIST_SERVICES, FILE_CONTAINING_SYMBOL = 7, 4  # fields of its requests
SERVICES, FILES = 6, 4  # of its responses


def read_services(channel: grpc.Channel) -> tuple[descriptor_pool.DescriptorPool, list[str]]:
    """What the services are defined by, and their names."""
    pool = descriptor_pool.DescriptorPool()
    known: set[str] = set()
    ask = channel.stream_stream(REFLECTION)
    (listed,) = ask(iter([field(LIST_SERVICES, b"*")]), timeout=20)
    (services,) = values(listed, SERVICES)
    names = [values(service, 1)[0].decode() for service in values(services, 1)]
    questions = [field(FILE_CONTAINING_SYMBOL, name.encode()) for name in names]
    for answer in ask(iter(questions), timeout=20):
        (files,) = values(answer, FILES)
        for content in reversed(values(files, 1)):
            file = descriptor_pb2.FileDescriptorProto.FromString(content)
            if file.name not in known:
                pool.Add(file)
                known.add(file.name)
    return pool, names


class ReflectedClient:
    """Calls unary methods of a port with messages that it describes itself."""

    def __init__(self, url: str) -> None:
        self.channel = grpc.insecure_channel(url, [("grpc.max_receive_message_length", -1)])
        self._pool, self.services = read_services(self.channel)

    def __enter__(self) -> ReflectedClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.channel.close()

    def message(self, name: str, **members: Any) -> Any:
        """A message of that full name."""
        return GetMessageClass(self._pool.FindMessageTypeByName(name))(**members)

    def call(self, path: str, request: Any, **how: Any) -> Any:
        """`path`: SERVICE/METHOD, with the full name of the service."""
        service, _, method = path.partition("/")
        answer = self._pool.FindServiceByName(service).FindMethodByName(method).output_type
        rpc = self.channel.unary_unary(
            f"/{path}", type(request).SerializeToString, GetMessageClass(answer).FromString
        )
        return rpc(request, timeout=20, **how)
