# SPDX-License-Identifier: Apache-2.0
"""Programs inside an unpacked image, without a container runtime: in namespaces of their own, with
the image's user and environment, a root that is read-only, and nothing else of this machine."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.server_process import ServerProcess

# $1: the root; $2: user:group; $3: lines SOURCE:TARGET; $4: the file of the environment; then the
# command, which becomes process 1 of its namespace.
_ENTER = r"""
set -e
root=$1 user=$2 mounts=$3 environment=$4
shift 4
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mount -t tmpfs -o mode=755 dev "$root/dev"
mkdir "$root/dev/shm"
mount -t tmpfs -o mode=1777,size=64m shm "$root/dev/shm"
for device in null zero random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
while IFS=: read -r source target; do
  [ -n "$source" ] || continue
  mount --bind "$source" "$root$target"
  mount -o remount,bind,ro "$root$target"
done <<<"$mounts"
mapfile -d '' -t variables <"$environment"
exec setpriv --no-new-privs env -i "${variables[@]}" /usr/sbin/chroot --groups= --userspec="$user" "$root" "$@"
"""


@dataclass(frozen=True)
class Image:
    """An image that has been unpacked."""

    root: Path
    config: dict[str, object]  # its configuration, as the Open Container Initiative defines it

    @staticmethod
    def unpack(archive: Path, folder: Path) -> Image:
        layout = folder / "layout"
        layout.mkdir(parents=True)
        subprocess.run(["tar", "-C", layout, "-xf", archive], check=True)
        bundle = folder / "bundle"
        command = ["umoci", "unpack", "--image", f"{layout}:latest", bundle]
        subprocess.run(command, check=True, capture_output=True)
        return Image(bundle / "rootfs", _read_config(layout))

    @property
    def run_config(self) -> dict[str, object]:
        run_config = self.config["config"]
        assert isinstance(run_config, dict)
        return run_config

    @property
    def command(self) -> list[str]:
        return [str(word) for word in self.run_config["Cmd"]]  # type: ignore[attr-defined]


def _read_config(layout: Path) -> dict[str, object]:
    """The configuration that the index leads to."""

    def blob(descriptor: Mapping[str, str]) -> dict[str, object]:
        kind, digest = descriptor["digest"].split(":")
        content = json.loads((layout / "blobs" / kind / digest).read_text(encoding="utf-8"))
        assert isinstance(content, dict)
        return content

    index = json.loads((layout / "index.json").read_text(encoding="utf-8"))
    (manifest,) = index["manifests"]
    return blob(blob(manifest)["config"])  # type: ignore[arg-type]


def inside(
    image: Image,
    command: Sequence[str],
    folder: Path,
    mounts: Mapping[Path, str] | None = None,
    env: Mapping[str, str] | None = None,
) -> list[str]:
    """The command line that runs `command` in the image. `mounts`: folders of this machine, and where
    they are to be seen, read-only. `folder`: for a file."""
    folder.mkdir(parents=True, exist_ok=True)
    variables = [str(entry) for entry in image.run_config["Env"]]  # type: ignore[attr-defined]
    variables += [f"{name}={value}" for name, value in (env or {}).items()]
    environment = folder / "environment"
    environment.write_bytes(b"".join(os.fsencode(entry) + b"\0" for entry in variables))
    lines = "\n".join(f"{source}:{target}" for source, target in (mounts or {}).items())
    enter = ["bash", "-c", _ENTER, "enter", str(image.root), str(image.run_config["User"])]
    unshare = ["unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]
    return [*unshare, *enter, lines, str(environment), *command]


class Container(ServerProcess):
    """A server that is process 1 inside an image. It shares this machine's network."""

    def send_signal(self, number: int) -> None:
        """To process 1, as container runtimes do; not to `unshare`, which waits for it."""
        parent = self.process.pid
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
        os.kill(int(children.split()[0]), number)


def run_inside(
    image: Image, command: Sequence[str], folder: Path, mounts: Mapping[Path, str] | None = None
) -> subprocess.CompletedProcess[str]:
    whole = inside(image, command, folder, mounts)
    return subprocess.run(whole, capture_output=True, text=True, timeout=60, check=False)
