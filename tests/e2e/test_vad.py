# SPDX-License-Identifier: Apache-2.0
"""The speech detector of examples/vad gives the same probabilities as ONNX Runtime, bit for bit.

The reference is onnxruntime in this process, which gets the state after the previous step.
"""

from __future__ import annotations

import importlib.util
import queue
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import onnxruntime
import pytest
import tritonclient.grpc
import tritonclient.http

from support.nereid import start_nereid
from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT

EXAMPLE = PROJECT_ROOT / "examples" / "vad"
PACKAGE = PROJECT_ROOT / "build" / "deps" / "vad"
VOICES = 4
SPEAKERS_AT_A_TIME = 24
RATE = np.array([16000], np.int64)


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


speakers = load("speakers")


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("voices")
    paths = [folder / f"{number}.wav" for number in range(VOICES)]
    for number, path in enumerate(paths):
        speakers.synthesise(number, path)
    return paths


@pytest.fixture(scope="module")
def chunks(recordings: list[Path]) -> list[np.ndarray]:
    return [speakers.cut(speakers.read_wav(path)) for path in recordings]


@pytest.fixture(scope="module")
def expected(chunks: list[np.ndarray]) -> list[list[float]]:
    """The probabilities of each voice."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        load("make_repository").model_file(PACKAGE), options, providers=["CPUExecutionProvider"]
    )
    voices = []
    for voice in chunks:
        state = np.zeros((2, 1, 128), np.float32)
        probabilities = []
        for chunk in voice:
            inputs = {"input": chunk[np.newaxis], "state": state, "sr": np.array(16000, np.int64)}
            output, state = session.run(["output", "stateN"], inputs)
            probabilities.append(float(output[0, 0]))
        voices.append(probabilities)
    # The detector recognises the voices and their pauses.
    assert all(max(voice) > 0.9 and min(voice) < 0.1 for voice in voices)
    return voices


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("vad")
    load("make_repository").make_repository(PACKAGE, folder / "models")
    server = start_nereid(folder / "models", folder / "log")
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


def tensors(protocol: ModuleType, chunk: np.ndarray) -> list:
    audio = protocol.InferInput("input", [1, len(chunk)], "FP32")
    audio.set_data_from_numpy(chunk[np.newaxis])
    rate = protocol.InferInput("sr", [1], "INT64")
    rate.set_data_from_numpy(RATE)
    return [audio, rate]


def test_every_probability_is_the_same(
    server: ServerProcess, chunks: list[np.ndarray], expected: list[list[float]]
) -> None:
    """Many speakers share a stream, and all their chunks are sent at once."""
    answers: queue.Queue = queue.Queue()
    heard: dict[str, list[float]] = {}
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        client.start_stream(lambda result, error: answers.put((result, error)))
        count = 0
        for i in range(max(len(voice) for voice in chunks)):
            for speaker in range(SPEAKERS_AT_A_TIME):
                voice = chunks[speaker % VOICES]
                if i >= len(voice):
                    continue
                client.async_stream_infer(
                    "vad",
                    tensors(tritonclient.grpc, voice[i]),
                    request_id=str(speaker),
                    sequence_id=speaker + 1,
                    sequence_start=i == 0,
                    sequence_end=i == len(voice) - 1,
                )
                count += 1
        for _ in range(count):
            result, error = answers.get(timeout=60)
            assert error is None, error
            speaker = result.get_response().id
            heard.setdefault(speaker, []).append(float(result.as_numpy("output")[0, 0]))
    for speaker in range(SPEAKERS_AT_A_TIME):
        assert heard[str(speaker)] == expected[speaker % VOICES], speaker


def test_over_http_with_an_id_that_is_a_text(
    server: ServerProcess, chunks: list[np.ndarray], expected: list[list[float]]
) -> None:
    with tritonclient.http.InferenceServerClient(server.http_url) as client:
        for i, chunk in enumerate(chunks[0]):
            result = client.infer(
                "vad",
                tensors(tritonclient.http, chunk),
                sequence_id="speaker",
                sequence_start=i == 0,
                sequence_end=i == len(chunks[0]) - 1,
            )
            assert float(result.as_numpy("output")[0, 0]) == expected[0][i], i


def test_the_example_prints_when_each_speaks(
    server: ServerProcess, recordings: list[Path], expected: list[list[float]]
) -> None:
    command = [sys.executable, EXAMPLE / "speakers.py", "--fast", "--url", server.grpc_url]
    result = subprocess.run(
        [*command, *recordings], capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, result.stderr
    lines = []
    for path, probabilities in zip(recordings, expected, strict=True):
        segments = speakers.Segments()
        spoken = [segments.add(probability) for probability in probabilities]
        for segment in filter(None, [*spoken, segments.finish()]):
            lines.append(f"{path.name} spoke from {segment[0]:.2f} s to {segment[1]:.2f} s")
    assert len(lines) > VOICES
    assert sorted(result.stdout.splitlines()) == sorted(lines)


def test_the_example_says_what_is_missing(tmp_path: Path) -> None:
    missing = [sys.executable, EXAMPLE / "speakers.py", tmp_path / "none.wav"]
    result = subprocess.run(missing, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert "none.wav" in result.stderr
    make = [sys.executable, EXAMPLE / "make_repository.py", "--package", tmp_path]
    result = subprocess.run(make, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1
    assert "run tools/setup.sh --vad" in result.stderr
