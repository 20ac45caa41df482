# SPDX-License-Identifier: Apache-2.0
"""Cases with decoupled models, response senders, coroutines, sequences, cancellation."""

from __future__ import annotations

from python_models.steps import (
    Case,
    Cancel,
    Infer,
    Log,
    Stream,
    StreamsTogether,
    Together,
    both,
    int32,
    over_http,
    tensor,
    text,
)

_STREAMS = (
    ("final_alone", (0, 1, 3, 1000)),
    ("final_with_last", (1, 3)),
    ("thread", (0, 3, 1000)),
    ("thread_of_each", (3,)),
    ("error_then_final", (0, 2)),
    ("error_with_final", (0, 2)),
    ("empty_responses", (2,)),
    ("raises", (0, 2)),
)
_SENDER = (
    "with_final",
    "then_final",
    "returned",
    "sent_and_returned",
    "closed_and_returned",
    "from_a_thread",
    "an_error",
)


def _repeat(how: str, count: int, **more: str) -> Infer:
    return Infer("repeat_numbers", (int32("COUNT", count), text("HOW", how)), **more)


def _plain(how: str) -> Infer:
    return Infer("sender_plain", (int32("VALUE", 5), text("HOW", how)))


def _async(how: str) -> Infer:
    return Infer("async_model", (tensor("HOW", "BYTES", [how], (1, 1)),))


def _step(value: int, sequence: int | str, model: str = "sequence_sum", **more: bool) -> Infer:
    return Infer(model, (tensor("VALUE", "INT32", [value], (1, 1)),), sequence=sequence, **more)


CASES: tuple[Case, ...] = (
    *(
        Case(f"stream-{how.replace('_', '-')}-{count}", (Stream(_repeat(how, count, id="s")),))
        for how, counts in _STREAMS
        for count in counts
    ),
    Case("stream-pruned", (Stream(Infer("repeat_numbers", _repeat("final_alone", 2).inputs, ("TEXT",))),)),
    Case("streams-together", (StreamsTogether(tuple(_repeat("thread", n) for n in (5, 6, 7))),)),
    Case("decoupled-unary", (_repeat("final_alone", 1),)),
    Case("decoupled-unary-http", over_http(_repeat("final_alone", 1))),
    Case("decoupled-returns", (Stream(Infer("decoupled_returns", (int32("VALUE", 1),))),)),
    *(case for how in _SENDER for case in both(f"sender-{how.replace('_', '-')}", _plain(how))),
    Case("sender-rules", (Stream(Infer("sender_rules", (text("HOW", "a"),))),) * 2),
    Case("sender-rules-plain", (Infer("sender_rules_plain", (text("HOW", "a"),)),) * 2),
    *both("async", _async("one")),
    Case("async-thread", (_async("thread"),)),
    Case("async-raise", (_async("raise"), _async("one"))),
    Case("async-together", (Together((_async("a"), _async("b"), _async("c"))),)),
    Case("async-decoupled", (Stream(Infer("async_decoupled", (int32("COUNT", 3),))),)),
    Case(
        "async-decoupled-meet",
        (StreamsTogether((Infer("async_decoupled", (int32("COUNT", -2),)),) * 2),),
    ),
    Case(
        "sequence",
        (
            _step(1, 31, start=True),
            _step(10, 32, start=True),
            _step(2, 31),
            _step(20, 32, end=True),
            _step(3, 31, end=True),
            _step(4, 31),
        ),
    ),
    Case("sequence-over-http", over_http(_step(7, 33, start=True), _step(8, 33, end=True))),
    Case(
        "sequence-text-id",
        (
            _step(1, "by name", "sequence_text_id", start=True),
            _step(2, "by name", "sequence_text_id", end=True),
        ),
    ),
    Case(
        "iterative",
        tuple(Infer("iterative", (int32("ROUNDS", n),), id=f"round {n}") for n in (1, 2, 5)),
    ),
    Case(
        "iterative-together",
        (Together(tuple(Infer("iterative", (int32("ROUNDS", n),), id=f"n{n}") for n in (4, 2, 3))),),
    ),
    Case("iterative-raises", (Infer("iterative", (int32("ROUNDS", -2),), id="raises"),)),
    Case("iterative-both", (Infer("iterative", (int32("ROUNDS", -1),), id="both"),)),
    Case(
        "iterative-stream",
        (Stream(Infer("iterative_stream", (int32("ROUNDS", 4),), id="stream")),),
    ),
    Case(
        "cancellation",
        (
            Cancel(Infer("cancellation", (int32("SECONDS", 20),)), when="probe: works"),
            Log("probe: works", 1),
            Log("probe: cancelled", 1),
            Infer("cancellation", (int32("SECONDS", 0),)),
        ),
    ),
    Case(
        "cancelled-stream",
        (
            Cancel(Infer("cancelled_stream", (int32("SECONDS", 20),)), when="", stream=True),
            Log("probe: stream cancelled", 1),
        ),
    ),
)
