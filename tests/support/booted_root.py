# SPDX-License-Identifier: Apache-2.0
"""A root whose systemd runs as process 1 of namespaces of its own; it shares the network."""

from __future__ import annotations

import subprocess

from support.minimal_root import PATH, MinimalRoot
from support.poll import poll_until

BOOT_SECONDS = 60.0
# What systemd expects of a container manager. Groups of processes: only systemd's own hierarchy.
BOOT = """
cd "$1"
mount --bind . .
cd "$1"
mount -t proc proc proc
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount -t sysfs -o ro sysfs sys
if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
  mount -t cgroup2 cgroup2 sys/fs/cgroup
else
  mount -t tmpfs tmpfs sys/fs/cgroup
  mkdir sys/fs/cgroup/systemd
  mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
fi
mount -t tmpfs tmpfs dev
mkdir dev/pts dev/shm
for device in null zero full random urandom tty; do
  touch dev/$device
  mount --bind /dev/$device dev/$device
done
mkdir -p oldroot
pivot_root . oldroot
umount -l /oldroot
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --show-status=no
"""


class BootedRoot:
    """Boots at once; RuntimeError if this host does not let it. End it with `stop`."""

    def __init__(self, root: MinimalRoot) -> None:
        namespaces = ("--mount", "--pid", "--uts", "--ipc", "--cgroup")
        self._process = subprocess.Popen(
            ["unshare", *namespaces, "--fork", "--kill-child=KILL"]
            + ["bash", "-ec", BOOT, "bash", str(root.path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            poll_until("systemd", self._is_up, BOOT_SECONDS)
        except AssertionError as error:
            self.stop()
            raise RuntimeError("systemd does not start in namespaces of this host") from error

    def _is_up(self) -> bool:
        if self._process.poll() is not None:
            raise RuntimeError("systemd does not start in namespaces of this host")
        # "degraded": some unit of the system needs more than namespaces.
        return self.run("systemctl", "is-system-running").stdout.strip() in ("running", "degraded")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a program inside, to its end."""
        child = subprocess.run(
            ["pgrep", "-P", str(self._process.pid)], capture_output=True, text=True, check=False
        ).stdout.split()
        entered = ["nsenter", "--target", child[0], "--all"] if child else ["false"]
        return subprocess.run(
            [*entered, "env", "-i", f"PATH={PATH}", "DEBIAN_FRONTEND=noninteractive", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def stop(self) -> None:
        """Ends all processes inside."""
        self._process.kill()
        self._process.wait()
