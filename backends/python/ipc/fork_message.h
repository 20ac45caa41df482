// SPDX-License-Identifier: Apache-2.0
// What the server and a prepared process (fork_server) say to each other over a socket pair of the
// kind SOCK_SEQPACKET. The prepared process says one byte when it is ready. The server then sends a
// message per process: a title, and environment variables, as NAME=VALUE or, for one that is not
// set, NAME; each ends with a 0. With it come the descriptors: where the process's output goes, a
// pipe for the answer, and those from kControlFd on. Into the pipe, the new process writes its own
// number (a pid_t) with a minus sign, and the prepared process writes it without one, so that a
// process that is killed before it can write is known, too.
#ifndef NEREID_BACKENDS_PYTHON_IPC_FORK_MESSAGE_H_
#define NEREID_BACKENDS_PYTHON_IPC_FORK_MESSAGE_H_

#include <cstddef>

namespace nereid_python {

inline constexpr const char* kForkServerArgument = "--fork-server";  // worker_main.py knows it
inline constexpr int kForkServerFd = 3;                              // the prepared process's end
inline constexpr size_t kForkDescriptors = 7;
inline constexpr size_t kLongestForkMessage = 4096;

}  // namespace nereid_python

#endif  // NEREID_BACKENDS_PYTHON_IPC_FORK_MESSAGE_H_
