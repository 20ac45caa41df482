# SPDX-License-Identifier: Apache-2.0
"""Model repositories in S3, on a server of it that checks signatures."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import ServerFactory
from support import raw_http
from support.poll import poll_until
from support.repository import ModelRepository
from support.s3_server import S3Server
from support.server_process import ServerProcess
from support.stage import stage_root

KEYS = {"AWS_ACCESS_KEY_ID": "test-key", "AWS_SECRET_ACCESS_KEY": "test-secret"}
# Nobody asks a machine of Amazon's for credentials.
ALONE = {"AWS_EC2_METADATA_DISABLED": "true"}
SECRETS = ("test-secret", "second-secret")
EXPLICIT = "--model-control-mode=explicit"

needs_program = pytest.mark.skipif(
    not (stage_root() / "libexec" / "nereid-cloud").exists(),
    reason="the program that reads cloud storage is not staged: make stage CLOUD=yes",
)


@pytest.fixture
def s3() -> Iterator[S3Server]:
    server = S3Server()
    yield server
    server.stop()


@pytest.fixture
def models(s3: S3Server, model_repository: ModelRepository) -> ModelRepository:
    """Two models, in the bucket, too."""
    model_repository.add_identity("a", "INT32")
    model_repository.add_identity("b", "INT32")
    (model_repository.root / "a" / "1" / "weights").write_bytes(os.urandom(20_000_000))
    s3.put_folder("bucket", "models", model_repository.root)
    return model_repository


@pytest.fixture
def start(server_factory: ServerFactory, s3: S3Server) -> Iterator[Callable[..., ServerProcess]]:
    """Starts servers on the bucket. In the end, no secret may be in their logs."""
    servers = []

    def start_one(*options: str, **arguments: object) -> ServerProcess:
        env = {**KEYS, **ALONE, **arguments.pop("env", {})}  # type: ignore[dict-item]
        path = arguments.pop("path", s3.url("bucket", "models"))
        options = (f"--model-repository={path}", *options)
        server = server_factory([], *options, env=env, **arguments)
        servers.append(server)
        return server

    yield start_one
    for server in servers:
        assert not [secret for secret in SECRETS if secret in server.log_text()]


def wait_until(happens: Callable[[], bool]) -> None:
    poll_until("what the test waits for", happens)


def infer(server: ServerProcess, model: str) -> int:
    tensor = {"name": "INPUT0", "datatype": "INT32", "shape": [1], "data": [7]}
    body = json.dumps({"inputs": [tensor]}).encode()
    return raw_http.post(server.http_url, f"/v2/models/{model}/infer", body).status


def load(server: ServerProcess, model: str) -> raw_http.HttpAnswer:
    return raw_http.post(server.http_url, f"/v2/repository/models/{model}/load")


def helper_of(server: ServerProcess) -> int:
    """The process that reads cloud storage for the server."""
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            name = (folder / "comm").read_text().strip()
        except (OSError, IndexError):
            continue
        if name == "nereid-cloud" and int(words[1]) == server.process.pid:
            return int(folder.name)
    return 0


@needs_program
def test_models_are_served_from_a_bucket(
    start: Callable[..., ServerProcess], s3: S3Server, models: ModelRepository
) -> None:
    server = start()
    assert infer(server, "a") == infer(server, "b") == 200
    assert s3.refused == 0
    assert s3.lists() == 2, "the check of the repository, and the look for models"
    helper = helper_of(server)
    assert helper != 0
    assert Path(f"/proc/{helper}/cmdline").read_bytes().strip(b"\0").endswith(b"nereid-cloud")
    server.stop()
    wait_until(lambda: not Path(f"/proc/{helper}").exists())


@needs_program
def test_local_and_remote_repositories_side_by_side(
    server_factory: ServerFactory, s3: S3Server, models: ModelRepository, tmp_path: Path
) -> None:
    local = ModelRepository(tmp_path / "local")
    local.add_identity("c", "INT32")
    url = s3.url("bucket", "models")
    server = server_factory(local.root, f"--model-repository={url}", env={**KEYS, **ALONE})
    assert [infer(server, name) for name in "abc"] == [200, 200, 200]


@needs_program
def test_a_poll_is_one_list_and_takes_up_what_changed(
    start: Callable[..., ServerProcess], s3: S3Server, models: ModelRepository
) -> None:
    server = start("--model-control-mode=poll", "--repository-poll-secs=1")
    requests = len(s3.log)
    lists = s3.lists()
    wait_until(lambda: s3.lists() >= lists + 3)
    assert len(s3.log) - requests == s3.lists() - lists, "nothing changed"
    models.add_identity("new", "INT32")
    s3.put_folder("bucket", "models/new", models.root / "new")
    wait_until(lambda: infer(server, "new") == 200)
    for key in [key for key in s3.objects if key[1].startswith("models/b/")]:
        del s3.objects[key]
    wait_until(lambda: infer(server, "b") != 200)
    assert infer(server, "a") == 200


@needs_program
def test_a_warm_restart_reads_no_content(
    start: Callable[..., ServerProcess], s3: S3Server, models: ModelRepository, tmp_path: Path
) -> None:
    option = f"--cloud-cache-directory={tmp_path / 'cache'}"
    start(option).stop()
    assert s3.count("GET /bucket/models/") > 0
    s3.log.clear()
    assert infer(start(option), "a") == 200
    assert s3.count("GET /bucket/models/") == 0


@needs_program
def test_without_a_directory_nothing_stays(
    start: Callable[..., ServerProcess], models: ModelRepository, tmp_path: Path
) -> None:
    parent = tmp_path / "copies"
    parent.mkdir()
    server = start(env={"TRITON_AWS_MOUNT_DIRECTORY": str(parent)})
    assert any(parent.iterdir())
    server.stop()
    assert not any(parent.iterdir())


@needs_program
def test_a_store_that_is_down_changes_nothing(
    start: Callable[..., ServerProcess], s3: S3Server, models: ModelRepository
) -> None:
    server = start("--model-control-mode=poll", "--repository-poll-secs=1")
    s3.is_down = True
    server.wait_for_log(f"failed to list {s3.url('bucket', 'models')}: ")
    assert infer(server, "a") == 200
    s3.is_down = False
    models.add_identity("new", "INT32")
    s3.put_folder("bucket", "models/new", models.root / "new")
    wait_until(lambda: infer(server, "new") == 200)


@needs_program
@pytest.mark.parametrize("fault", ["cut", "replaced", "down"])
def test_no_half_model_is_loaded(
    start: Callable[..., ServerProcess], s3: S3Server, models: ModelRepository, fault: str
) -> None:
    server = start(EXPLICIT, "--load-model=*")
    s3.put("bucket", "models/a/1/weights", os.urandom(20_000_000))

    def misbehave(key: str) -> None:
        if not key.endswith("weights"):
            return
        if fault == "replaced":
            s3.put("bucket", key, os.urandom(20_000_000))
        elif fault == "down":
            s3.is_down = True

    s3.cut = fault == "cut"
    s3.before_body = misbehave
    answer = load(server, "a")
    assert answer.status == 400
    assert b"failed to copy" in answer.body
    assert infer(server, "a") == 200, "the old version serves"
    s3.cut = s3.is_down = False
    s3.before_body = None
    assert load(server, "a").status == 200


@needs_program
def test_a_killed_program_is_started_again(
    start: Callable[..., ServerProcess], s3: S3Server, models: ModelRepository
) -> None:
    server = start(EXPLICIT, "--load-model=*")
    first = helper_of(server)
    os.kill(first, signal.SIGKILL)
    assert load(server, "b").status == 200
    server.wait_for_log("the program that reads cloud storage has ended, and is started again")
    assert helper_of(server) not in (0, first)
    # Once more, in the middle of a copy.
    s3.put("bucket", "models/a/1/weights", os.urandom(20_000_000))
    killed = []

    def kill_once(key: str) -> None:
        if key.endswith("weights") and not killed:
            killed.append(helper_of(server))
            os.kill(killed[0], signal.SIGKILL)

    s3.before_body = kill_once
    assert load(server, "a").status == 200
    assert killed
    assert infer(server, "a") == 200


@needs_program
def test_rotated_keys_in_the_file(
    start: Callable[..., ServerProcess], s3: S3Server, models: ModelRepository, tmp_path: Path
) -> None:
    file = tmp_path / "credentials.json"

    def write(key_id: str, secret: str) -> None:
        entry = {"key_id": key_id, "secret_key": secret}
        wrong = {"key_id": "wrong", "secret_key": "wrong"}
        file.write_text(json.dumps({"s3": {"": wrong, s3.url("bucket"): entry}}))

    write("test-key", "test-secret")
    server = start(EXPLICIT, "--load-model=a", env={"TRITON_CLOUD_CREDENTIAL_PATH": str(file)})
    s3.keys = {"second-key": "second-secret"}
    assert "SIGNATURE_DOES_NOT_MATCH" in load(server, "b").error()
    assert infer(server, "a") == 200
    write("second-key", "second-secret")
    assert load(server, "b").status == 200


@needs_program
def test_a_disk_that_takes_nothing(
    start: Callable[..., ServerProcess], s3: S3Server, models: ModelRepository, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    server = start(EXPLICIT, "--load-model=a", f"--cloud-cache-directory={cache}")
    for folder in cache.glob("nereid_cloud_*"):
        shutil.rmtree(folder)  # where copies are made
    assert "failed to write '" in load(server, "b").error()
    assert infer(server, "a") == 200


@needs_program
@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("s3://", "No bucket name found in path: s3:"),
        ("s3://buck et/m", "Invalid bucket name: 'buck et'"),
        ("s3://https://host/bucket", "names a server without its port"),
    ],
)
def test_urls_that_name_nothing(
    start: Callable[..., ServerProcess], url: str, text: str
) -> None:
    server = start(path=url, wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log(text)


@needs_program
@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, "failed to open text file for read "),
        ("{bad", "failed to parse the request JSON buffer: Missing a name for object member. at 1"),
        ("{}", "Cannot match credential for path  s3://127.0.0.1"),
        ('{"s3": {"": {"key_id": "test-key", "secret_key": "guess"}}}', "SIGNATURE_DOES_NOT_MATCH"),
    ],
)
def test_credentials_that_do_not_fit(
    start: Callable[..., ServerProcess],
    models: ModelRepository,
    tmp_path: Path,
    content: str | None,
    text: str,
) -> None:
    file = tmp_path / "credentials.json"
    if content is not None:
        file.write_text(content)
    server = start(env={"TRITON_CLOUD_CREDENTIAL_PATH": str(file)}, wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log(text)
    assert "guess" not in server.log_text()


@needs_program
def test_a_cold_start_is_parallel(
    start: Callable[..., ServerProcess], s3: S3Server, model_repository: ModelRepository
) -> None:
    """As many requests at a time as there is latency to hide."""
    for index in range(20):
        model_repository.add_identity(f"m{index}", "INT32")
        (model_repository.root / f"m{index}" / "1" / "weights").write_bytes(b"x" * 100_000)
    s3.put_folder("bucket", "models", model_repository.root)
    s3.delay = 0.05
    server = start()
    assert s3.lists() == 2, "the check of the repository, and the look for models"
    assert s3.most_at_once >= 8
    assert infer(server, "m19") == 200


def test_without_the_program(server_factory: ServerFactory) -> None:
    if (stage_root() / "libexec" / "nereid-cloud").exists():
        pytest.skip("the program is staged")
    server = server_factory([], "--model-repository=s3://bucket/models", wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log("; `make stage CLOUD=yes` builds it")
