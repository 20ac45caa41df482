# SPDX-License-Identifier: Apache-2.0
"""The process of a Python model: python3 worker_main.py SERVER_PID TITLE. Or the one from which such
processes are forked: python3 worker_main.py SERVER_PID --fork-server BLANKS.

Started by the backend; the descriptors 3 to 6 are shared with the server. This file uses only
syntax that every version of Python understands, so that an old version can report that it is too
old.
"""

import os
import sys


def refuse(why):
    sys.stderr.write("%s cannot run Python models: %s\n" % (sys.executable, why))
    sys.exit(1)


def main():
    version = "it is Python %d.%d" % sys.version_info[:2]
    if sys.version_info < (3, 9):
        refuse(version + ", and Python 3.9 is the oldest that works; name another by EXECUTION_ENV_PATH")
    if "t" in getattr(sys, "abiflags", ""):
        refuse(version + " without a GIL (free-threaded); name one that has it by EXECUTION_ENV_PATH")
    forks = sys.argv[2:3] == ["--fork-server"]
    if len(sys.argv) != (4 if forks else 3):
        refuse("this program is started by the server only")
    here = os.path.dirname(os.path.abspath(__file__))
    if here not in sys.path:
        sys.path.insert(0, here)

    import _nereid_native

    server_pid, title = int(sys.argv[1]), sys.argv[2]
    sys.argv = [""]
    if forks:
        from _nereid import fork_server

        title = fork_server.serve(server_pid)
    _nereid_native.begin(server_pid, title)

    from _nereid import commands

    commands.serve()


if __name__ == "__main__":
    main()
