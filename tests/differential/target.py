# SPDX-License-Identifier: Apache-2.0
"""A server to which cases are sent. It is started again if a case has crashed it."""

from __future__ import annotations

import time
from collections.abc import Callable

import grpc

from differential.answers import GrpcReply, HttpReply, send_grpc, send_http
from differential.cases import GrpcCase, HttpCase
from differential.observe import CRASH
from support.poll import poll_until
from support.server_process import LOOPBACK, ServerProcess


# Triton counts a request of an ensemble shortly after its answer.
COUNTED_SECONDS = 0.2


def _reads_statistics(case: HttpCase | GrpcCase) -> bool:
    if isinstance(case, HttpCase):
        return case.path.endswith("/stats")
    return case.method == "ModelStatistics"


def _wait_until_unloaded(server: ServerProcess) -> None:
    """Waits for the end of a version: an unload is answered earlier, when requests are refused."""
    index = HttpCase("unused", "POST", "/v2/repository/index", b"")
    poll_until(
        "nothing is being unloaded",
        lambda: b"UNLOADING" not in send_http(server.http_url, index).body,
    )


class Target:
    """Owns the server process that `start` creates. Not thread-safe.

    `wait_for`: a path that a server answers with 200 as soon as cases can be sent.

    `asks_again`: a case that finds its server dead is sent again to a new server, because the
    previous case may have crashed the server shortly after its answer.
    """

    def __init__(
        self, start: Callable[[], ServerProcess], wait_for: str, asks_again: bool = False
    ) -> None:
        self._start = start
        self._wait_for = wait_for
        self._asks_again = asks_again
        self._server: ServerProcess | None = None
        self._channel: grpc.Channel | None = None

    def send(self, case: HttpCase | GrpcCase) -> HttpReply | GrpcReply:
        """Returns the answer. If the case crashes the server: status 0 or code 'crash'."""
        reply = self._send(case)
        if self._asks_again and self._server is None:
            reply = self._send(case)
        return reply

    def _send(self, case: HttpCase | GrpcCase) -> HttpReply | GrpcReply:
        server = self._running()
        for one in case.before:
            send_http(server.http_url, one)
            if one.path.endswith("/unload"):
                _wait_until_unloaded(server)
        if case.before and _reads_statistics(case):
            time.sleep(COUNTED_SECONDS)
        if isinstance(case, HttpCase):
            reply = send_http(f"{LOOPBACK}:{server.port(case.service)}", case)
            if reply.status == 0:
                self._forget_if_dead(server)
            return reply
        assert self._channel is not None
        answer = send_grpc(self._channel, case)
        if answer.code == "UNAVAILABLE" and self._forget_if_dead(server):
            return GrpcReply(CRASH, "", None)
        return answer

    def _running(self) -> ServerProcess:
        if self._server is None:
            self._server = self._start()
            self._server.wait_for(self._wait_for)
            self._channel = grpc.insecure_channel(self._server.grpc_url)
        return self._server

    def _forget_if_dead(self, server: ServerProcess) -> bool:
        """Forgets a dead server. Waits a little, because answers fail before the process ends."""
        try:
            server.wait_exit(2)
        except AssertionError:
            return False
        self._close_channel()
        self._server = None
        return True

    def _close_channel(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def stop(self, expect_clean_exit: bool) -> None:
        self._close_channel()
        if self._server is None:
            return
        if expect_clean_exit:
            self._server.stop()
        else:
            self._server.kill()
        self._server = None
