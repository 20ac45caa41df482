// SPDX-License-Identifier: Apache-2.0
// WorkerLog: writes the worker's standard error to the server's log, line by line. Owned by one
// thread.
#ifndef NEREID_BACKENDS_TENSORFLOW_WORKER_LOG_H_
#define NEREID_BACKENDS_TENSORFLOW_WORKER_LOG_H_

#include <string>
#include <string_view>

#include "backends/sdk/process/output_lines.h"

namespace nereid_backend {

class WorkerLog {
 public:
  // `model` is named in each line.
  explicit WorkerLog(std::string model) : model_(std::move(model)) {}

  // Takes new output; logs the complete lines.
  void Add(std::string_view text) {
    lines_.Add(text, [this](std::string_view line) { Log(line); });
  }
  // The text of the last line that said why the process could not continue; empty if there is none.
  // Such a line has severity F ("F0000 00:00:1795351165.691574 24904 tensor.cc:812] Check failed").
  const std::string& fatal() const { return fatal_; }

 private:
  void Log(std::string_view line);

  const std::string model_;
  OutputLines lines_;
  std::string fatal_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TENSORFLOW_WORKER_LOG_H_
