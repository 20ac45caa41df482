// What binds this process to the server that started it. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_PROCESS_H_
#define NEREID_BACKENDS_PYTHON_WORKER_PROCESS_H_

#include <string>

namespace nereid_python::worker {

// The kernel ends this process when the server ends, however that comes; when it has ended already,
// this does. `title` is what lists of processes show. The descriptors that are shared with the
// server do not pass to programs that the model starts.
void BindToServer(int server_pid, const std::string& title);
// Called in a child that os.fork() made: the kernel ends it when this process ends, where it was
// the main thread that forked (the kernel goes by threads).
void BindForkedChild();
// Whether this is a child that was forked from the process of the model: it must not use what that
// shares with the server.
bool InForkedChild();

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_PROCESS_H_
