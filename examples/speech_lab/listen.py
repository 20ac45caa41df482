#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends recordings to the speech lab, and prints how loud they are and where somebody speaks.

    listen.py                       a voice that espeak-ng makes up
    listen.py talk.wav other.wav    recordings: WAV files, sent as they are

A file is one request on a gRPC stream; the server answers for each 32 ms of it. Exit status: 0 all
were heard, 1 the server refused one, 2 no server, no file or no espeak-ng.

Needs: tritonclient[grpc], numpy; espeak-ng for the voice.
"""

import argparse
import math
import queue
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MODEL = "speech_lab"
PIECE_SECONDS = 0.032
TIMEOUT_SECONDS = 60.0
SPEAKS = 0.5  # from this probability on, a piece counts as speech
PIECES_A_LINE = 8
BAR_DB = 60  # dB below full scale at which the bar vanishes
TEXT = 'Good morning. <break time="900ms"/> Is anybody listening? <break time="600ms"/> I hope so.'


@dataclass(frozen=True)
class Piece:
    """The server's results for a piece of 32 ms."""

    time: float  # seconds from the begin
    speech: float  # probability
    peak: float  # dB below full scale
    rms: float


def synthesise() -> bytes:
    """Returns a WAV file with a voice, at 22,050 Hz."""
    if shutil.which("espeak-ng") is None:
        raise ValueError("there is no espeak-ng to speak; install it, or name recordings")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "voice.wav"
        command = ["espeak-ng", "-m", "-w", str(path), f"<speak>{TEXT}</speak>"]
        subprocess.run(command, check=True, capture_output=True)
        return path.read_bytes()


class Listener:
    """A stream to the server, for one recording after the other. Use it in a `with` statement."""

    def __init__(self, url: str) -> None:
        """Raises InferenceServerException if no server answers."""
        import tritonclient.grpc as grpc

        self._grpc = grpc
        self._answers: queue.Queue = queue.Queue()
        self._client = grpc.InferenceServerClient(url)
        self._client.is_server_live()  # opening a stream does not fail without a server
        self._client.start_stream(lambda result, error: self._answers.put((result, error)))

    def __enter__(self) -> "Listener":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def hear(self, recording: bytes) -> list[Piece]:
        """Sends a recording and returns the results. Raises InferenceServerException if the server
        refuses the recording, queue.Empty if an answer takes too long."""
        wav = self._grpc.InferInput("wav", [len(recording)], "UINT8")
        wav.set_data_from_numpy(np.frombuffer(recording, np.uint8))
        self._client.async_stream_infer(MODEL, [wav], enable_empty_final_response=True)
        pieces = []
        final = False
        while not final:
            result, error = self._answers.get(timeout=TIMEOUT_SECONDS)
            if error is not None:
                raise error
            final = result.get_response().parameters["triton_final_response"].bool_param
            # The final flag may come with the last result, or in a response without outputs.
            if result.as_numpy("time") is not None:
                values = (result.as_numpy(name) for name in ("time", "speech", "peak", "rms"))
                pieces.append(Piece(*(float(value.flat[0]) for value in values)))
        # A piece is answered as soon as both models have processed it, so the order may change.
        return sorted(pieces, key=lambda piece: piece.time)


def mean_level(pieces: list[Piece]) -> float:
    """The mean level of the pieces, in dB."""
    return 10 * math.log10(sum(10 ** (piece.rms / 10) for piece in pieces) / len(pieces))


def show(name: str, pieces: list[Piece]) -> None:
    print(name)
    for first in range(0, len(pieces), PIECES_A_LINE):
        line = pieces[first : first + PIECES_A_LINE]
        level = mean_level(line)
        bar = "#" * max(0, round((BAR_DB + level) / 3))
        speech = "speech" if any(piece.speech >= SPEAKS for piece in line) else ""
        print(f"{line[0].time:8.2f} s {level:7.1f} dB  {bar:20}  {speech}".rstrip())
    spoken = sum(piece.speech >= SPEAKS for piece in pieces) * PIECE_SECONDS
    peak = max(piece.peak for piece in pieces)
    print(
        f"somebody speaks for {spoken:.2f} s of {len(pieces) * PIECE_SECONDS:.2f} s; "
        f"the peak is {peak:.1f} dB",
        flush=True,
    )


def heard(listener: Listener, name: str, recording: bytes) -> bool:
    """Sends a recording and prints the results, or the reason why there are none. Returns whether
    the server has answered."""
    from tritonclient.utils import InferenceServerException

    try:
        pieces = listener.hear(recording)
    except queue.Empty:
        print(f"error: {name}: no answer for {TIMEOUT_SECONDS:.0f} s", file=sys.stderr)
        return False
    except InferenceServerException as error:
        print(f"error: {name}: {error.message()}", file=sys.stderr)
        return False
    show(name, pieces)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recordings", nargs="*", type=Path, help="WAV files; none: a made-up voice")
    parser.add_argument("--url", default="localhost:8001", help="host:port of gRPC")
    arguments = parser.parse_args()
    try:
        sounds = [(str(path), path.read_bytes()) for path in arguments.recordings]
        sounds = sounds or [("a made-up voice", synthesise())]
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    from tritonclient.utils import InferenceServerException

    try:
        with Listener(arguments.url) as listener:
            # A list, so that all recordings are sent even if one fails.
            return 0 if all([heard(listener, *sound) for sound in sounds]) else 1
    except InferenceServerException as error:
        print(f"error: no server at {arguments.url}: {error.message()}", file=sys.stderr)
        print("Start the server with `tools/dev speech-lab`, or name it with --url.", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
