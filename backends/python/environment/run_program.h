// SPDX-License-Identifier: Apache-2.0
// Runs a program to its end, with a time limit. Blocks the calling thread; thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_ENVIRONMENT_RUN_PROGRAM_H_
#define NEREID_BACKENDS_PYTHON_ENVIRONMENT_RUN_PROGRAM_H_

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "backends/python/environment/variables.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

struct Program {
  std::vector<std::string> arguments;  // the first one: the path of the executable
  Variables variables;
  std::chrono::seconds limit{60};
  // Each line of standard output and error, as it comes; may be empty.
  std::function<void(const std::string& line)> on_line;
  // A Python interpreter through which a program that is not ours is started, so that the program
  // ends with this process, however this process ends. Empty: it is started directly.
  std::string starter;
};

struct ProgramEnd {
  bool ok = false;                // it exited with status 0 in time
  std::string how;                // "exited with status 1", "took longer than 60 s and was ended"
  std::vector<std::string> tail;  // its last lines, at most kTailLines
};

inline constexpr size_t kTailLines = 20;

// UNAVAILABLE if the program cannot be started. It has no standard input, no descriptors except
// standard output and error, and its own process group, which is killed as a whole when the time is
// up.
Result<ProgramEnd> RunProgram(const Program& program);

// The last lines as one text, for errors.
std::string JoinLines(const std::vector<std::string>& lines);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_ENVIRONMENT_RUN_PROGRAM_H_
