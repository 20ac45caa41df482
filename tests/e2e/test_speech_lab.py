# SPDX-License-Identifier: Apache-2.0
"""The ensemble of examples/speech_lab: a WAV file goes through a backend that is built here against
the staged headers, then through the speech detector and the level meter at the same time.

The reference is numpy (for the levels, and for the resampling formula, evaluated directly) and
onnxruntime in this process, which gets the detector's state after the previous piece.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import queue
import subprocess
import sys
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnxruntime
import pytest
import tritonclient.grpc
import tritonclient.http

from support import raw_http
from support.metrics import metric
from support.nereid import start_nereid
from support.poll import poll_until
from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT, stage_root

EXAMPLE = PROJECT_ROOT / "examples" / "speech_lab"
PACKAGE = PROJECT_ROOT / "build" / "deps" / "vad"
NOBODY = "localhost:1"
WAIT_SECONDS = 60.0
RATE, NEW, OLD = 16000, 512, 64
CROSSINGS, EDGE, BETA = 24, 0.9, 7.857
OUTPUTS = ("time", "speech", "peak", "rms")
AT_A_TIME = 12
SPEECH = '<speak>Hello there. <break time="500ms"/> Is anybody listening?</speak>'


def load(folder: str, name: str) -> ModuleType:
    path = PROJECT_ROOT / "examples" / folder / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


make_repository = load("speech_lab", "make_repository")
listen = load("speech_lab", "listen")


def run_program(*command: str | Path) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


@dataclass(frozen=True, eq=False)
class Sound:
    file: bytes
    samples: np.ndarray  # of all channels together, as the file has them
    rate: int


# -- the reference -----------------------------------------------------------------------------


def resample(samples: np.ndarray, rate: int, wanted: int) -> np.ndarray:
    """The formula of backend/resample.h, without its table."""
    if rate == wanted:
        return samples
    cutoff = EDGE * min(1.0, wanted / rate)
    reach = int(np.ceil(CROSSINGS / cutoff))
    padded = np.pad(samples.astype(np.float64), reach + 1)
    place = np.arange(-(-len(samples) * wanted // rate)) * rate / wanted
    taps = np.floor(place).astype(int)[:, np.newaxis] + np.arange(-reach, reach + 2)
    distance = (place[:, np.newaxis] - taps) * cutoff
    inside = np.clip(1 - (distance / CROSSINGS) ** 2, 0, None)
    window = np.where(np.abs(distance) < CROSSINGS, np.i0(BETA * np.sqrt(inside)) / np.i0(BETA), 0)
    known = padded[np.minimum(taps + reach + 1, len(padded) - 1)]
    return (cutoff * np.sum(known * window * np.sinc(distance), axis=1)).astype(np.float32)


def cut(samples: np.ndarray) -> np.ndarray:
    count = -(-len(samples) // NEW)
    padded = np.zeros(OLD + count * NEW, np.float32)
    padded[OLD : OLD + len(samples)] = samples
    return np.stack([padded[i * NEW : (i + 1) * NEW + OLD] for i in range(count)])


def decibels(magnitudes: np.ndarray) -> np.ndarray:
    return 20 * np.log10(np.maximum(magnitudes, 1e-5))


@functools.cache
def reference(sound: Sound) -> dict[str, np.ndarray]:
    """The right answers, one row per piece."""
    pieces = cut(resample(sound.samples, sound.rate, RATE))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    file = make_repository.vad_example().model_file(PACKAGE)
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    state = np.zeros((2, 1, 128), np.float32)
    speech = []
    for piece in pieces:
        inputs = {"input": piece[np.newaxis], "state": state, "sr": np.array(RATE, np.int64)}
        output, state = session.run(["output", "stateN"], inputs)
        speech.append(output[0, 0])
    new = pieces[:, OLD:].astype(np.float64)
    return {
        "time": (np.arange(len(pieces)) * NEW / RATE).astype(np.float32),
        "speech": np.array(speech),
        "peak": decibels(np.abs(new).max(axis=1)),
        "rms": decibels(np.sqrt((new**2).mean(axis=1))),
    }


# -- recordings --------------------------------------------------------------------------------


def pcm(channels: np.ndarray, rate: int, bits: int) -> Sound:
    """A WAV file of 8 or 16 bits; `channels` has one column per channel."""
    if bits == 8:
        whole = np.clip(np.round(channels * 128 + 128), 0, 255).astype(np.uint8)
        heard = (whole.astype(np.float32) - 128) / 128
    else:
        whole = np.clip(np.round(channels * 32768), -32768, 32767).astype("<i2")
        heard = whole.astype(np.float32) / 32768
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setparams((channels.shape[1], bits // 8, rate, 0, "NONE", ""))
        file.writeframes(whole.tobytes())
    return Sound(stream.getvalue(), heard.mean(axis=1, dtype=np.float32), rate)


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> tuple[np.ndarray, int]:
    path = tmp_path_factory.mktemp("voice") / "voice.wav"
    assert run_program("espeak-ng", "-m", "-w", path, SPEECH).returncode == 0
    with wave.open(str(path)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return samples.astype(np.float32) / 32768, file.getframerate()


@pytest.fixture(scope="module")
def sounds(voice: tuple[np.ndarray, int]) -> dict[str, Sound]:
    def at(rate: int) -> np.ndarray:
        return resample(*voice, rate)[:, np.newaxis]

    high = at(44100)
    return {
        "16 kHz": pcm(at(16000), 16000, 16),
        "as spoken": pcm(voice[0][:, np.newaxis], voice[1], 16),
        "8 kHz, 8 bits": pcm(at(8000), 8000, 8),
        "44.1 kHz, stereo": pcm(np.hstack([high, np.roll(high, 7) / 2]), 44100, 16),
    }


# -- the server --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The backend, built as a user outside the project would build it."""
    build = tmp_path_factory.mktemp("backend")
    configured = run_program(
        "cmake", "-S", EXAMPLE / "backend", "-B", build, f"-DNEREID_ROOT={stage_root()}"
    )
    assert configured.returncode == 0, configured.stderr
    built = run_program("cmake", "--build", build)
    assert built.returncode == 0, built.stdout + built.stderr
    assert "warning:" not in built.stdout + built.stderr
    return build / "libtriton_wav_frames.so"


@pytest.fixture(scope="module")
def server(backend: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("speech_lab")
    make_repository.make_repository(backend, PACKAGE, folder / "models")
    started = start_nereid(folder / "models", folder / "log")
    try:
        started.wait_for()
        yield started
    finally:
        started.stop()


class Stream:
    """A gRPC stream with several requests at a time, whose answers are told apart by their ids."""

    def __init__(self, client: Any) -> None:
        self.answers: queue.Queue[tuple[Any, Any]] = queue.Queue()
        self._client = client
        client.start_stream(lambda result, error: self.answers.put((result, error)))

    def send(self, file: bytes, request_id: str = "", outputs: tuple[str, ...] = OUTPUTS) -> None:
        wav = tritonclient.grpc.InferInput("wav", [len(file)], "UINT8")
        wav.set_data_from_numpy(np.frombuffer(file, np.uint8))
        self._client.async_stream_infer(
            "speech_lab",
            [wav],
            request_id=request_id,
            outputs=[tritonclient.grpc.InferRequestedOutput(name) for name in outputs],
            enable_empty_final_response=True,
        )

    def hear(self, requests: int = 1) -> dict[str, list[Any]]:
        """All answers, by id, until `requests` requests have ended."""
        heard: dict[str, list[Any]] = {}
        while requests > 0:
            result, error = self.answers.get(timeout=WAIT_SECONDS)
            if error is not None:
                raise error
            response = result.get_response()
            requests -= response.parameters["triton_final_response"].bool_param
            if response.outputs:
                heard.setdefault(response.id, []).append(result)
        return heard


@pytest.fixture
def stream(server: ServerProcess) -> Iterator[Stream]:
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        yield Stream(client)


def values(answers: list[Any]) -> dict[str, np.ndarray]:
    """Each output of all pieces, in the order of time."""
    ordered = sorted(answers, key=lambda answer: answer.as_numpy("time")[0])
    assert all(answer.as_numpy("time").shape == (1,) for answer in ordered)
    assert all(answer.as_numpy(name).shape == (1, 1) for answer in ordered for name in OUTPUTS[1:])
    return {name: np.array([one.as_numpy(name).flat[0] for one in ordered]) for name in OUTPUTS}


def assert_levels(actual: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    for name in ("peak", "rms"):
        loud = expected[name] > -60
        np.testing.assert_allclose(actual[name][loud], expected[name][loud], atol=0.02)
        # Compared as magnitudes, because levels of very soft sound are inaccurate in dB.
        magnitudes = [10 ** (levels[name] / 20) for levels in (actual, expected)]
        np.testing.assert_allclose(*magnitudes, atol=1e-5)


def inferences(server: ServerProcess) -> dict[str, int]:
    """Requests that each model has answered so far."""
    with tritonclient.http.InferenceServerClient(server.http_url) as client:
        models = client.get_inference_statistics()["model_stats"]
    return {model["name"]: model["inference_stats"]["success"]["count"] for model in models}


def ran(server: ServerProcess, before: dict[str, int]) -> dict[str, int]:
    return {name: count - before[name] for name, count in inferences(server).items()}


# -- right answers -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["16 kHz", "as spoken", "8 kHz, 8 bits", "44.1 kHz, stereo"])
def test_each_piece_is_heard_by_both_models(
    kind: str, server: ServerProcess, stream: Stream, sounds: dict[str, Sound]
) -> None:
    sound = sounds[kind]
    expected = reference(sound)
    # The detector recognises both the voice and its pause.
    assert expected["speech"].max() > 0.9 and expected["speech"].min() < 0.1
    before = inferences(server)
    stream.send(sound.file)
    actual = values(stream.hear()[""])
    assert np.array_equal(actual["time"], expected["time"])
    assert_levels(actual, expected)
    if sound.rate == RATE:
        assert np.array_equal(actual["speech"], expected["speech"])
    else:
        np.testing.assert_allclose(actual["speech"], expected["speech"], atol=2e-3)
    pieces = len(expected["time"])
    counts = {"wav_frames": 1, "vad": pieces, "level_meter": pieces, "speech_lab": 1}
    poll_until("all is counted", lambda: ran(server, before) == counts)


def test_many_recordings_at_a_time_do_not_mix(stream: Stream, sounds: dict[str, Sound]) -> None:
    sound = sounds["16 kHz"]
    # Each recording begins at another place, so that their answers differ.
    offsets = [400 * i for i in range(AT_A_TIME)]
    parts = [pcm(sound.samples[offset:, np.newaxis], RATE, 16) for offset in offsets]
    for number, part in enumerate(parts):
        stream.send(part.file, str(number))
    heard = stream.hear(AT_A_TIME)
    for number, part in enumerate(parts):
        speech = values(heard[str(number)])["speech"]
        assert np.array_equal(speech, reference(part)["speech"]), number


def test_who_asks_for_the_level_does_not_wait_for_the_detector(
    server: ServerProcess, stream: Stream, sounds: dict[str, Sound]
) -> None:
    before = inferences(server)
    stream.send(sounds["16 kHz"].file, outputs=("peak",))
    pieces = len(stream.hear()[""])
    counts = {"wav_frames": 1, "vad": 0, "level_meter": pieces, "speech_lab": 1}
    poll_until("all is counted", lambda: ran(server, before) == counts)


# -- wrong input -------------------------------------------------------------------------------


def test_bad_files_fail_alone_and_say_why(stream: Stream, sounds: dict[str, Sound]) -> None:
    good = sounds["16 kHz"].file
    bad = {
        b"RIFF and nothing": "this is not a WAV file: it does not begin with RIFF and WAVE",
        good[:-1000]: "the WAV file is cut off: ",
        good[:20] + b"\x55" + good[21:]: "WAV format 85 with 16 bits is not supported",
        good[:24] + b"\xff" * 4 + good[28:]: "the WAV file has 4294967295 samples a second",
        good[:22] + b"\0\0" + good[24:]: "the WAV file has 0 channels, not 1 to 64",
        good[:40] + bytes(4) + good[44:]: "the WAV file holds no sound",
        b"": "this is not a WAV file",
    }
    for file, text in bad.items():
        stream.send(file)
        with pytest.raises(tritonclient.grpc.InferenceServerException) as caught:
            stream.hear()
        assert caught.value.message().startswith(f"in ensemble 'speech_lab', {text}")
        assert caught.value.message().endswith(" (step 0, model 'wav_frames')")
    stream.send(good)
    assert len(stream.hear()[""]) > 10


def test_a_bad_file_is_the_fault_of_who_sends_it(server: ServerProcess) -> None:
    document = {"wav": list(b"no sound")}
    refused = raw_http.post_json(server.http_url, "/v2/models/speech_lab/generate", document)
    assert refused.status == 400
    assert "this is not a WAV file" in refused.json()["error"]


def test_a_recording_that_nobody_waits_for_ends(
    server: ServerProcess, sounds: dict[str, Sound]
) -> None:
    seconds = 590
    sound = pcm(np.zeros((4000 * seconds, 1), np.float32), 4000, 8)
    before = inferences(server)
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        stream = Stream(client)
        stream.send(sound.file)
        assert stream.answers.get(timeout=WAIT_SECONDS)[1] is None
        client.stop_stream(cancel_requests=True)
    poll_until("nothing is left", lambda: metric(server.metrics_url, "nereid_in_flight_bytes") == 0)
    assert 0 < ran(server, before)["level_meter"] < seconds * RATE // NEW


# -- the programs ------------------------------------------------------------------------------


def test_the_client_shows_levels_and_speech(
    server: ServerProcess, sounds: dict[str, Sound], tmp_path: Path
) -> None:
    sound = sounds["44.1 kHz, stereo"]
    (tmp_path / "talk.wav").write_bytes(sound.file)
    (tmp_path / "bad.wav").write_bytes(b"no sound")
    client = [sys.executable, EXAMPLE / "listen.py", "--url", server.grpc_url]
    done = run_program(*client, tmp_path / "bad.wav", tmp_path / "talk.wav")
    assert done.returncode == 1
    assert "bad.wav: in ensemble 'speech_lab', this is not a WAV file" in done.stderr
    expected = reference(sound)
    pieces = len(expected["time"])
    spoken = 0.032 * np.count_nonzero(expected["speech"] >= 0.5)
    lines = done.stdout.splitlines()
    assert lines[-1].startswith(f"somebody speaks for {spoken:.2f} s of {pieces * 0.032:.2f} s; ")
    assert len(lines) == 2 + -(-pieces // 8)
    assert any(line.endswith("  speech") for line in lines)
    made_up = run_program(*client)
    assert made_up.returncode == 0, made_up.stderr
    assert "a made-up voice" in made_up.stdout


def test_the_programs_say_what_is_missing(tmp_path: Path) -> None:
    client = [sys.executable, EXAMPLE / "listen.py"]
    no_file = run_program(*client, tmp_path / "none.wav")
    assert no_file.returncode == 2 and "none.wav" in no_file.stderr
    no_server = run_program(*client, "--url", NOBODY)
    assert no_server.returncode == 2 and f"no server at {NOBODY}" in no_server.stderr
    no_backend = run_program(
        sys.executable, EXAMPLE / "make_repository.py", "--backend", tmp_path / "none.so"
    )
    assert no_backend.returncode == 1 and "none.so: build it" in no_backend.stderr


def test_the_script_makes_the_committed_level_meter() -> None:
    done = run_program(sys.executable, EXAMPLE / "make_level_meter.py", "--check")
    assert done.returncode == 0, done.stdout + done.stderr
