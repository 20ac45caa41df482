#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends voices to the speech detector as they are spoken, and prints when each speaks.

    speakers.py                         four voices that espeak-ng makes up, in real time
    speakers.py --speakers 50 --fast    many, as fast as the server answers
    speakers.py talk.wav other.wav      recordings: WAV, 16 bit, any rate

Each speaker is a sequence on its own gRPC stream, sent in pieces of 32 ms. The server keeps the
detector's state of each sequence. Exit status: 0 all voices were processed, 1 the server refused
one, 2 no server, no file or no espeak-ng.

Needs: tritonclient[grpc], numpy; espeak-ng for voices.
"""

import argparse
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import wave
from pathlib import Path

import numpy as np

RATE = 16000
CHUNK = 512  # samples: 32 ms
CONTEXT = 64  # samples of the previous chunk that the model gets again
CHUNK_SECONDS = CHUNK / RATE
TIMEOUT_SECONDS = 60.0

# Speech begins when the probability reaches BEGINS, and ends when it stays below ENDS for
# PAUSE_SECONDS.
BEGINS = 0.5
ENDS = 0.35
PAUSE_SECONDS = 0.1

VOICES = ("en", "de", "fr", "es", "it", "pl")
TEXTS = (
    'Good morning. <break time="900ms"/> Is anybody listening? <break time="1200ms"/> I hope so.',
    'One, two, three. <break time="1500ms"/> Four, five, six.',
    '<break time="700ms"/> I was late, <break time="600ms"/> and now I talk on and on.',
    'Hello! <break time="2000ms"/> Goodbye!',
)


def synthesise(number: int, path: Path) -> None:
    """Writes what speaker `number` says. Speakers differ in text, language and pitch."""
    command = [
        "espeak-ng",
        "-m",
        "-v",
        VOICES[number % len(VOICES)],
        "-p",
        str(20 + 13 * number % 70),
        "-w",
        str(path),
        f"<speak>{TEXTS[number % len(TEXTS)]}</speak>",
    ]
    subprocess.run(command, check=True, capture_output=True)


def read_wav(path: Path) -> np.ndarray:
    """The samples of a recording, resampled to 16 kHz, from -1 to 1. Only the first channel."""
    with wave.open(str(path)) as recording:
        if recording.getsampwidth() != 2:
            raise ValueError(f"{path} has {8 * recording.getsampwidth()} bits a sample, not 16")
        rate = recording.getframerate()
        frames = recording.readframes(recording.getnframes())
        samples = np.frombuffer(frames, "<i2")[:: recording.getnchannels()] / 32768
    if rate == RATE:
        return samples.astype(np.float32)
    times = np.arange(int(len(samples) * RATE / rate)) / RATE
    return np.interp(times, np.arange(len(samples)) / rate, samples).astype(np.float32)


def cut(samples: np.ndarray) -> np.ndarray:
    """The model's inputs, one row per chunk: the end of the previous chunk, then the chunk."""
    count = max(1, -(-len(samples) // CHUNK))
    padded = np.zeros(CONTEXT + count * CHUNK, np.float32)
    padded[CONTEXT : CONTEXT + len(samples)] = samples
    return np.stack([padded[i * CHUNK : (i + 1) * CHUNK + CONTEXT] for i in range(count)])


class Segments:
    """Turns probabilities, one per chunk, into the times at which somebody speaks."""

    def __init__(self) -> None:
        self._chunks = 0
        self._begin: float | None = None
        self._quiet_since: float | None = None

    def add(self, probability: float) -> tuple[float, float] | None:
        """Begin and end, in seconds, of speech that ends with this chunk; None if none ends."""
        now = self._chunks * CHUNK_SECONDS
        self._chunks += 1
        if probability >= BEGINS:
            self._quiet_since = None
            if self._begin is None:
                self._begin = now
        if self._begin is None or probability >= ENDS:
            return None
        if self._quiet_since is None:
            self._quiet_since = now
        if now + CHUNK_SECONDS - self._quiet_since < PAUSE_SECONDS:
            return None
        return self._take(self._quiet_since)

    def finish(self) -> tuple[float, float] | None:
        """The same for speech that lasts to the end of the recording."""
        if self._begin is None:
            return None
        return self._take(self._quiet_since or self._chunks * CHUNK_SECONDS)

    def _take(self, end: float) -> tuple[float, float]:
        begin, self._begin, self._quiet_since = self._begin, None, None
        return begin, end


class Speaker(threading.Thread):
    """Sends one voice and prints when it speaks. `error` is set if something went wrong."""

    def __init__(self, url: str, name: str, sequence: int, chunks: np.ndarray, fast: bool) -> None:
        super().__init__(daemon=True)
        self._url = url
        self._name = name
        self._sequence = sequence
        self._chunks = chunks
        self._fast = fast
        self._segments = Segments()
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self._speak()
        except Exception as error:  # for the main thread
            self.error = error

    def _speak(self) -> None:
        import tritonclient.grpc as grpc

        answers: queue.Queue = queue.Queue()
        with grpc.InferenceServerClient(self._url) as client:
            client.start_stream(lambda result, error: answers.put((result, error)))
            begin = time.monotonic()
            for i, chunk in enumerate(self._chunks):
                if not self._fast:  # wait until the last sample of the chunk has been spoken
                    time.sleep(max(0.0, begin + (i + 1) * CHUNK_SECONDS - time.monotonic()))
                self._send(client, i, chunk)
                result, error = answers.get(timeout=TIMEOUT_SECONDS)
                if error is not None:
                    raise error
                self._print(self._segments.add(float(result.as_numpy("output")[0, 0])))
            self._print(self._segments.finish())

    def _send(self, client, i: int, chunk: np.ndarray) -> None:
        import tritonclient.grpc as grpc

        audio = grpc.InferInput("input", [1, CONTEXT + CHUNK], "FP32")
        audio.set_data_from_numpy(chunk[np.newaxis])
        rate = grpc.InferInput("sr", [1], "INT64")
        rate.set_data_from_numpy(np.array([RATE], np.int64))
        client.async_stream_infer(
            "vad",
            [audio, rate],
            sequence_id=self._sequence,
            sequence_start=i == 0,
            sequence_end=i == len(self._chunks) - 1,
        )

    def _print(self, segment: tuple[float, float] | None) -> None:
        if segment is not None:
            # The line and its end in one write, because other speakers print at the same time.
            line = f"{self._name} spoke from {segment[0]:.2f} s to {segment[1]:.2f} s\n"
            print(line, end="", flush=True)


def voices(arguments: argparse.Namespace) -> list[tuple[str, np.ndarray]]:
    """Names and chunks of all speakers. Raises OSError or ValueError if a voice cannot be read."""
    if arguments.recordings:
        return [(path.name, cut(read_wav(path))) for path in arguments.recordings]
    if shutil.which("espeak-ng") is None:
        raise ValueError("there is no espeak-ng to speak; install it, or name recordings")
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.speakers):
            path = Path(folder) / f"{number}.wav"
            synthesise(number, path)
            made.append((f"speaker {number + 1}", cut(read_wav(path))))
    return made


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recordings", nargs="*", type=Path, help="WAV files; none: made-up voices")
    parser.add_argument("--url", default="localhost:8001", help="host:port of gRPC")
    parser.add_argument("--speakers", type=int, default=4, help="made-up voices (default 4)")
    parser.add_argument("--fast", action="store_true", help="do not wait until it is spoken")
    return parser.parse_args()


def is_live(url: str) -> bool:
    import tritonclient.grpc as grpc

    try:
        with grpc.InferenceServerClient(url) as client:
            return client.is_server_live()
    except grpc.InferenceServerException:
        return False


def main() -> int:
    arguments = parse_arguments()
    try:
        heard = voices(arguments)
    except (OSError, ValueError, wave.Error) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not is_live(arguments.url):
        print(
            f"error: no server answers gRPC at {arguments.url}; start it with `tools/dev vad`, or "
            "name its address: --url=HOST:PORT",
            file=sys.stderr,
        )
        return 2
    # Derived from the time, so that another run is unlikely to use the same ids.
    first_id = time.time_ns() // 1000 % 2**40 + 1
    speakers = [
        Speaker(arguments.url, name, first_id + i, chunks, arguments.fast)
        for i, (name, chunks) in enumerate(heard)
    ]
    for speaker in speakers:
        speaker.start()
    for speaker in speakers:
        speaker.join()
    errors = [speaker.error for speaker in speakers if speaker.error is not None]
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
