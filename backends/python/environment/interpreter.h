// SPDX-License-Identifier: Apache-2.0
// Interpreter: what a Python interpreter reports about itself. InterpreterTable: asks each
// interpreter once.
#ifndef NEREID_BACKENDS_PYTHON_ENVIRONMENT_INTERPRETER_H_
#define NEREID_BACKENDS_PYTHON_ENVIRONMENT_INTERPRETER_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "backends/python/environment/variables.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

// A value.
struct Interpreter {
  std::string path;  // path used to start it
  int major = 0;
  int minor = 0;
  std::string version;                // "3.11.2"
  std::string abi;                    // "cpython-311-x86_64-linux-gnu"
  std::string prefix;                 // of its environment
  std::vector<std::string> packages;  // folders that contain its packages
  bool free_threaded = false;         // a build without the global interpreter lock
  bool has_pip = false;
  bool has_numpy = false;
};

inline constexpr int kOldestMinor = 9;
inline constexpr int kNewestMinor = 14;

// UNSUPPORTED, with a sentence about what would work, if our worker does not run in it.
Error CheckSupported(const Interpreter& interpreter);

// The file found for `name` on the PATH of `variables`, or `name` itself if it is a path. NOT_FOUND
// if there is no executable file.
Result<std::string> FindExecutable(const std::string& name, const Variables& variables);

// Thread-safe. Asking starts the interpreter, which takes some hundredths of a second; the result
// is reused until the file changes.
class InterpreterTable {
 public:
  // UNAVAILABLE if it does not run or does not answer in time. An interpreter without numpy is
  // asked again.
  Result<Interpreter> Ask(const std::string& path, const Variables& variables);

 private:
  std::mutex mu_;
  std::map<std::string, Interpreter> known_;  // by path, time of the file and Python variables
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_ENVIRONMENT_INTERPRETER_H_
