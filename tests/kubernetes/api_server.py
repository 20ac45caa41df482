# SPDX-License-Identifier: Apache-2.0
"""A real API server of Kubernetes, with etcd, on free loopback ports; no controllers, no nodes."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import httpx

from kubernetes.installed import API_SERVER, Object
from support.certificates import make_certificate
from support.poll import poll_until
from support.ports import free_port
from support.server_process import LOOPBACK

START_SECONDS = 120.0
TOKEN = "token-of-the-tests-administrator"


class ApiServer:
    """Starts etcd and kube-apiserver, and sends objects as an administrator. One user at a time."""

    def __init__(self, folder: Path) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        self._folder = folder
        self._paths: dict[tuple[str, str], tuple[str, bool]] = {}
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self) -> None:
        etcd = self._start_etcd()
        self._certificate, key = make_certificate(self._folder)
        _, signing_key = make_certificate(self._folder, "service-accounts")
        tokens = self._folder / "tokens.csv"
        tokens.write_text(f"{TOKEN},admin,1,system:masters\n")
        port = free_port()
        self.url = f"https://localhost:{port}"
        self._spawn(
            "kube-apiserver",
            API_SERVER,
            f"--etcd-servers={etcd}",
            f"--secure-port={port}",
            f"--bind-address={LOOPBACK}",
            f"--tls-cert-file={self._certificate}",
            f"--tls-private-key-file={key}",
            f"--service-account-key-file={signing_key}",
            f"--service-account-signing-key-file={signing_key}",
            "--service-account-issuer=https://issuer.example",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--authorization-mode=RBAC",
            f"--token-auth-file={tokens}",
            "--endpoint-reconciler-type=none",
        )
        self._client = httpx.Client(
            base_url=self.url,
            verify=ssl.create_default_context(cafile=str(self._certificate)),
            headers={"Authorization": f"Bearer {TOKEN}"},
            timeout=30,
        )
        poll_until("a ready API server", self._ready, START_SECONDS, self._last_lines)

    def _start_etcd(self) -> str:
        program = shutil.which("etcd")
        assert program, "There is no etcd: install the package etcd-server."
        clients, peers = (f"http://{LOOPBACK}:{free_port()}" for _ in range(2))
        self._spawn(
            "etcd",
            program,
            f"--data-dir={self._folder / 'etcd-data'}",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
        )
        return clients

    def _spawn(self, name: str, *command: str | Path) -> None:
        with (self._folder / f"{name}.log").open("wb") as log:
            self._processes.append(
                subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
                )
            )

    def _ready(self) -> bool:
        ended = [one.args for one in self._processes if one.poll() is not None]
        assert not ended, f"{ended} has ended. {self._last_lines()}"
        try:
            return self._client.get("/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def _last_lines(self) -> str:
        logs = sorted(self._folder.glob("*.log"))
        return "\n".join(f"{log.name}:\n{log.read_text()[-1500:]}" for log in logs)

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def kubeconfig(self) -> Path:
        """A file by which helm reaches the server."""
        file = self._folder / "kubeconfig"
        file.write_text(
            f"""apiVersion: v1
kind: Config
clusters: [{{name: test, cluster: {{server: "{self.url}", certificate-authority: {self._certificate}}}}}]
users: [{{name: admin, user: {{token: {TOKEN}}}}}]
contexts: [{{name: test, context: {{cluster: test, user: admin}}}}]
current-context: test
"""
        )
        return file

    def path_of(self, thing: Object, namespace: str) -> str:
        """Where objects of this one's kind are created."""
        version, kind = thing["apiVersion"], thing["kind"]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if (version, kind) not in self._paths:
            listed = self._client.get(root).raise_for_status().json()["resources"]
            for one in listed:
                if "/" not in one["name"]:
                    self._paths[version, one["kind"]] = (one["name"], one["namespaced"])
        assert (version, kind) in self._paths, f"the API server knows no {kind} of {version}"
        plural, namespaced = self._paths[version, kind]
        return f"{root}/namespaces/{namespace}/{plural}" if namespaced else f"{root}/{plural}"

    def create(self, thing: Object, namespace: str = "default") -> httpx.Response:
        """The answer to the creation of an object. Fields that its kind does not have are refused."""
        return self._client.post(
            self.path_of(thing, namespace), params={"fieldValidation": "Strict"}, json=thing
        )

    def accept(self, thing: Object, namespace: str = "default") -> None:
        """Creates an object, which the server has to accept without a warning."""
        answer = self.create(thing, namespace)
        assert answer.is_success, answer.text
        assert "warning" not in answer.headers, answer.headers["warning"]

    def get(self, path: str) -> httpx.Response:
        return self._client.get(path)

    def define(self, definition: Object) -> None:
        """Creates a CustomResourceDefinition, and waits until its kinds can be created."""
        self.accept(definition)
        path = f"{self.path_of(definition, '')}/{definition['metadata']['name']}"

        def established() -> bool:
            conditions = self._client.get(path).json()["status"]["conditions"] or []
            return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)

        poll_until(f"the definition {definition['metadata']['name']}", established)
