# SPDX-License-Identifier: Apache-2.0
"""The examples with models of several kinds print what their pages show."""

from __future__ import annotations

import io
import re
import runpy
import subprocess
import sys
import wave
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import tritonclient.http as http
from support.nereid import INTERPRETER, start_nereid
from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT

EXAMPLES = PROJECT_ROOT / "examples"
# A loopback port where nothing listens (tcpmux, which only root can bind).
NOBODY = "127.0.0.1:1"
PACKAGES = PROJECT_ROOT / "build/deps/docs"  # Pillow and skl2onnx: tools/setup.sh --docs


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    names = ("scikit_learn", "text_classifier")
    folders = [EXAMPLES / name / "models" for name in names]
    process = start_nereid(folders, tmp_path_factory.mktemp("examples"), [INTERPRETER])
    try:
        process.wait_for()
        yield process
    finally:
        process.stop()


@pytest.fixture(scope="module")
def packages() -> Iterator[None]:
    """Pillow and skl2onnx can be imported, if they are installed."""
    sys.path.append(str(PACKAGES))
    yield
    sys.path.remove(str(PACKAGES))


@pytest.fixture(scope="module")
def image_server(
    packages: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    pytest.importorskip("PIL.Image", reason="tools/setup.sh --docs installs Pillow")
    folder = tmp_path_factory.mktemp("image_classifier")
    run(sys.executable, EXAMPLES / "image_classifier/make_repository.py", folder)
    logs = tmp_path_factory.mktemp("images")
    process = start_nereid(folder, logs, [INTERPRETER], {"PYTHONPATH": str(PACKAGES)})
    try:
        process.wait_for()
        yield process
    finally:
        process.stop()


def shown(example: str) -> str:
    """The first block of the page that is no command."""
    page = (EXAMPLES / example / "README.md").read_text()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return next(text for language, text in blocks if not language)


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def ask(server: ServerProcess, model: str, name: str, rows: list[list[bytes]], output: str):
    tensor = http.InferInput(name, [len(rows), len(rows[0])], "BYTES")
    tensor.set_data_from_numpy(np.array(rows, np.object_))
    with http.InferenceServerClient(server.http_url) as client:
        return client.infer(model, [tensor]).as_numpy(output)


def test_scikit_learn(server: ServerProcess) -> None:
    said = run(sys.executable, EXAMPLES / "scikit_learn/ask.py", server.http_url)
    assert said == shown("scikit_learn")


def test_scikit_learn_gives_the_answers_of_the_pipeline(
    server: ServerProcess, packages: None
) -> None:
    pytest.importorskip("skl2onnx", reason="tools/setup.sh --docs installs it")
    train = runpy.run_path(str(EXAMPLES / "scikit_learn/train.py"))
    texts, numbers, labels = train["make_table"]()
    half = len(labels) // 2
    table = np.concatenate([texts, numbers.astype(object)], axis=1)
    pipeline = train["make_pipeline"]().fit(table[:half], labels[:half])
    expected = pipeline.predict_proba(table[half : half + 4])

    inputs = [http.InferInput("texts", [4, 2], "BYTES"), http.InferInput("numbers", [4, 2], "FP32")]
    inputs[0].set_data_from_numpy(texts[half : half + 4])
    inputs[1].set_data_from_numpy(numbers[half : half + 4].astype(np.float32))
    with http.InferenceServerClient(server.http_url) as client:
        answer = client.infer("parcels", inputs)
    np.testing.assert_allclose(answer.as_numpy("probabilities"), expected, atol=1e-5)


def test_text(server: ServerProcess) -> None:
    message = "Hello, where is the parcel that the courier lost?"
    script = EXAMPLES / "text_classifier/ask.sh"
    assert run(script, message, server.http_url) == shown("text_classifier")
    assert "billing" in run(script, 'I was charged "twice" \\ refund it', server.http_url)


def test_texts_that_the_tokenizer_does_not_know(server: ServerProcess) -> None:
    rows = [[b""], [b"xyzzy plugh"], [b"where is it " * 100]]
    topics = ask(server, "tickets", "TEXT", rows, "TOPICS")
    assert topics.shape == (3, 3)
    np.testing.assert_array_equal(topics[0], topics[1])
    assert topics[2].argmax() == 1
    with pytest.raises(http.InferenceServerException, match="the text is not UTF-8"):
        ask(server, "tickets", "TEXT", [[b"\xff"]], "TOPICS")


@pytest.mark.parametrize(
    ("client", "arguments"),
    [
        ("scikit_learn/ask.py", [NOBODY]),
        ("text_classifier/ask.sh", ["text", NOBODY]),
        ("image_classifier/ask.py", [f"--url={NOBODY}", str(EXAMPLES / "README.md")]),
        ("python/ask.py", [f"--http={NOBODY}"]),
        ("openai/ask.py", [f"--url=http://{NOBODY}/v1"]),
        ("vad/speakers.py", [f"--url={NOBODY}", "talk.wav"]),
    ],
    ids=["scikit_learn", "text_classifier", "image_classifier", "python", "openai", "vad"],
)
def test_without_a_server_a_client_says_what_to_do(
    tmp_path: Path, client: str, arguments: list[str]
) -> None:
    with wave.open(str(tmp_path / "talk.wav"), "wb") as recording:
        recording.setnchannels(1)
        recording.setsampwidth(2)
        recording.setframerate(16000)
        recording.writeframes(bytes(2 * 16000))
    interpreter = [sys.executable] if client.endswith(".py") else []
    done = subprocess.run(
        [*interpreter, EXAMPLES / client, *arguments],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    *others, last = done.stderr.splitlines()
    assert not others or others[0].startswith("curl: ")
    assert "error: no server answers" in last and NOBODY in last and "start it " in last


@pytest.mark.parametrize(
    ("client", "arguments"),
    [("scikit_learn/ask.py", []), ("python/ask.py", ["add_sub"]), ("openai/ask.py", [])],
    ids=["scikit_learn", "python", "openai"],
)
def test_a_server_without_the_models_is_a_line(
    documented_server: ServerProcess, server: ServerProcess, client: str, arguments: list[str]
) -> None:
    """The server of another example is what newcomers have on the port."""
    url = (documented_server if client.startswith("scikit_learn") else server).http_url
    place = {"python": f"--http={url}", "openai": f"--url=http://{url}/v1"}
    where = place.get(client.partition("/")[0], url)
    command = [sys.executable, EXAMPLES / client, where, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("error: ")
    assert " is not found" in done.stderr


def photo(name: str) -> bytes:
    return (resources.files("sklearn.datasets.images") / name).read_bytes()


def test_images(image_server: ServerProcess) -> None:
    script = EXAMPLES / "image_classifier/ask.py"
    said = run(sys.executable, script, f"--url={image_server.http_url}")
    assert said == shown("image_classifier")


def test_an_image_upside_down_that_says_so(image_server: ServerProcess) -> None:
    from PIL import Image

    image = Image.open(io.BytesIO(photo("china.jpg")))
    exif = Image.Exif()
    exif[0x0112] = 3  # to be turned by 180 degrees
    packed = io.BytesIO()
    image.rotate(180).save(packed, "PNG", exif=exif)
    rows = [[photo("china.jpg")], [packed.getvalue()]]
    upright, turned = ask(image_server, "image_classifier", "IMAGE", rows, "PROBABILITIES")
    np.testing.assert_allclose(turned, upright, atol=1e-5)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"no picture", "the data is no picture"),
        (photo("flower.jpg")[:-20000], "the picture is damaged: image file is truncated"),
    ],
    ids=["nothing", "truncated"],
)
def test_no_image(image_server: ServerProcess, data: bytes, error: str) -> None:
    with pytest.raises(http.InferenceServerException, match=error):
        ask(image_server, "image_classifier", "IMAGE", [[data]], "PROBABILITIES")


@pytest.mark.parametrize("side", [9000, 30000])  # Pillow itself refuses the second one
def test_a_small_file_of_a_large_image(image_server: ServerProcess, side: int) -> None:
    from PIL import Image

    packed = io.BytesIO()
    Image.new("1", (side, side)).save(packed, "PNG")
    with pytest.raises(http.InferenceServerException, match="the picture is too large"):
        ask(image_server, "image_classifier", "IMAGE", [[packed.getvalue()]], "PROBABILITIES")
