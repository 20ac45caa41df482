# SPDX-License-Identifier: Apache-2.0
"""The command Execute: passes a batch of requests to the model's execute, and checks what it
returns."""

from __future__ import annotations

import types
from typing import Any, Optional

import _nereid_native as native
from _nereid_native import FIELD_PLACES, FIELD_REQUESTED

from . import async_loop, life, logger
from .errors import TritonModelException
from .exception_text import exception_text, traceback_text
from .requests import RELEASE_ALL, RELEASE_RESCHEDULE, InferenceRequest
from .responses import InferenceResponse

ANSWERED_OTHERWISE = None  # a sender has answered or will answer the request


class BatchError(Exception):
    """An error that fails all requests of the batch."""


def run(model: Any, batch: tuple) -> tuple:
    """Returns the reply to the command, and objects that have to live until the reply is sent."""
    requests = [InferenceRequest.from_server(fields) for fields in batch]
    try:
        responses = _answers(requests, _call(model, requests), batch)
    except BaseException as error:  # sys.exit() in a model only fails its requests
        return ("error", fail(requests, error)), requests
    return ("ok", responses, tuple([request._release_flags for request in requests])), requests


def _call(model: Any, requests: list) -> Any:
    execute = getattr(model, "execute", None)
    if execute is None:
        raise BatchError(f"Python model {life.model_file} does not implement `execute` method.")
    native.compute_starts()
    life.executing = True
    try:
        result = execute(requests)
        if isinstance(result, types.CoroutineType):
            if life.decoupled:
                async_loop.schedule(_watch(result, list(requests)))
                return None
            result = async_loop.run_until_done(result)
        return result
    finally:
        life.executing = False
        native.compute_ends()


def _answers(requests: list, result: Any, batch: tuple) -> tuple:
    """For each request the content of its response, or None if a sender answers it."""
    if life.decoupled:
        if result is not None:
            raise BatchError(
                f"Python model '{life.name}' is using the decoupled mode and the execute function "
                "must return None."
            )
        return _leave_to_senders(requests)
    if result is None:
        return _leave_to_senders(requests)
    if not isinstance(result, list):
        raise BatchError(f"Expected a list in the execute return, found type '{type(result)}'.")
    if len(result) != len(requests):
        raise BatchError(
            "Number of InferenceResponse objects do not match the number of InferenceRequest "
            f"objects. InferenceRequest(s) size is:{len(requests)}, and InferenceResponse(s) size "
            f"is:{len(result)}\n"
        )
    for request, response in zip(requests, result):
        if not _is_plain(request, response):
            _check(request, response)
    return tuple([_answer(*three) for three in zip(requests, result, batch)])


def _is_plain(request: InferenceRequest, response: Any) -> bool:
    """True for a pair that needs no further check, as nearly every pair is."""
    return (
        type(response) is InferenceResponse
        and request._sender is None
        and request._release_flags != RELEASE_RESCHEDULE
    )


def _check(request: InferenceRequest, response: Any) -> None:
    if response is None:
        return
    if request._release_flags == RELEASE_RESCHEDULE:
        raise BatchError(
            "Expected a None object in the execute function return list for reschduled request, "
            f"found type '{type(response)}'."
        )
    if not isinstance(response, InferenceResponse):
        raise BatchError(
            "Expected an 'InferenceResponse' object in the execute function return list, found "
            f"type '{type(response)}'."
        )
    if request._sender is not None:
        try:
            request._sender.check_returned()
        except TritonModelException as error:
            raise BatchError(str(error)) from None


def _answer(
    request: InferenceRequest, response: Optional[InferenceResponse], fields: tuple
) -> Optional[tuple]:
    if response is None:
        _leave_to_sender(request)
        return ANSWERED_OTHERWISE
    if request._sender is not None:
        request._sender.note_returned()
    answer = response.for_server(fields[FIELD_REQUESTED])
    return _put_in_place(answer, fields) if fields[FIELD_PLACES] else answer


def _put_in_place(answer: tuple, fields: tuple) -> tuple:
    """Writes outputs into the memory of the client that wants them there."""
    error, outputs, parameters = answer
    places = {place.name(): place for place in fields[FIELD_PLACES]}
    placed = [native.place(places[t.name()], t) if t.name() in places else t for t in outputs]
    return error, tuple(placed), parameters


def _leave_to_senders(requests: list) -> tuple:
    for request in requests:
        _leave_to_sender(request)
    return (ANSWERED_OTHERWISE,) * len(requests)


def _leave_to_sender(request: InferenceRequest) -> None:
    """Creates the sender if there is none: when it is deleted without having answered the request,
    the server learns that no answer will come."""
    sender = request.get_response_sender()
    if request._release_flags == RELEASE_RESCHEDULE:
        sender.abandon()  # the server sends the request again, as a new object


def fail(requests: list, error: BaseException) -> str:
    """Returns the error text for all requests, and closes their senders."""
    for request in requests:
        request._release_flags = RELEASE_ALL
        request.get_response_sender().close()
    native.settle()  # the server reads earlier responses before the error
    if type(error) is BatchError:
        return failure_text(str(error))
    logger.log_from_runtime(logger.LogLevel.ERROR, traceback_text(error))
    return failure_text(exception_text(error))


def failure_text(why: str) -> str:
    return f"Failed to process the request(s) for model '{life.name}', message: {why}"


async def _watch(coroutine: Any, requests: list) -> None:
    """Awaits an asynchronous execute of a decoupled model. No command waits for it, so its error is
    sent as the answer to the requests that are still open."""
    try:
        result = await coroutine
        if result is not None:
            raise TritonModelException(
                f"Python model '{life.name}' is using the decoupled mode and the execute function "
                "must return None."
            )
    except BaseException as error:
        logger.log_from_runtime(logger.LogLevel.ERROR, traceback_text(error))
        text = failure_text(exception_text(error))
        for request in requests:
            request.get_response_sender().fail(text)
