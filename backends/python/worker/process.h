// SPDX-License-Identifier: Apache-2.0
// Ties this process to the server that started it. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_PROCESS_H_
#define NEREID_BACKENDS_PYTHON_WORKER_PROCESS_H_

#include <string>

namespace nereid_python::worker {

// Makes the kernel end this process when the server ends, however that happens; if the server has
// ended already, this process ends at once.
void EndWithServer(int server_pid);
// The same, for the process of an instance. `title` is shown in process lists. The descriptors
// shared with the server are not inherited by programs that the model starts.
void BindToServer(int server_pid, const std::string& title);
// Replaces the last words of a prepared process's command line in process lists.
void ShowTitle(const std::string& title);
// Call in a child made by os.fork(): the kernel then ends the child when this process ends,
// provided that the main thread forked (the kernel goes by threads).
void BindForkedChild();
// Whether this is a child forked from the model's process: it must not use what that process shares
// with the server.
bool InForkedChild();

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_PROCESS_H_
