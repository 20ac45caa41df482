// Interpreter: what a Python interpreter says about itself. InterpreterTable: asks each once.
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
  std::string path;  // as it is started
  int major = 0;
  int minor = 0;
  std::string version;                // "3.11.2"
  std::string abi;                    // "cpython-311-x86_64-linux-gnu"
  std::string prefix;                 // of its environment
  std::vector<std::string> packages;  // folders in which its packages lie
  bool free_threaded = false;         // a build without the global interpreter lock
  bool has_pip = false;
  bool has_numpy = false;
};

inline constexpr int kOldestMinor = 9;
inline constexpr int kNewestMinor = 14;

// UNSUPPORTED when no worker of ours runs in it, with a sentence that says what would.
Error CheckSupported(const Interpreter& interpreter);

// The file that `name` leads to on the PATH of `variables`, or `name` itself if it is a path.
// NOT_FOUND when there is none that can be run.
Result<std::string> FindExecutable(const std::string& name, const Variables& variables);

// Thread-safe. Asking starts the interpreter, which takes some hundredths of a second; what is
// known is used again until the file changes.
class InterpreterTable {
 public:
  // UNAVAILABLE when it does not run or says nothing in time. One without numpy is asked again.
  Result<Interpreter> Ask(const std::string& path, const Variables& variables);

 private:
  std::mutex mu_;
  std::map<std::string, Interpreter> known_;  // by path, time of the file and Python variables
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_ENVIRONMENT_INTERPRETER_H_
