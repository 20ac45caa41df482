// SPDX-License-Identifier: Apache-2.0
// The prepared process, from which the processes of instances are forked.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_FORK_SERVER_H_
#define NEREID_BACKENDS_PYTHON_WORKER_FORK_SERVER_H_

#include <string>
#include <vector>

namespace nereid_python::worker {

// What a forked process is told.
struct Birth {
  std::string title;
  std::vector<std::string> variables;  // NAME=VALUE, or NAME if it is not set
};

// Tells the server that this process is prepared. False if the server does not listen.
bool ReportPrepared();
// Forks a process for each message of the server, and returns in it. In the prepared process, it
// returns only when the server has closed the connection: false. REQUIRES: the GIL, and that this
// is the only thread.
bool AwaitBirth(Birth* birth);

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_FORK_SERVER_H_
