// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/worker_log.h"

#include <algorithm>
#include <cctype>

#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

// "F" of "F0000 00:00:1795351165.691574 24904 port.cc:153] text"; 0 for a line without such a
// prefix, which is TensorFlow's own.
char SeverityOf(std::string_view line) {
  if (line.size() < 6 || std::string_view("IWEF").find(line[0]) == std::string_view::npos) return 0;
  for (size_t i = 1; i < 5; ++i) {
    if (std::isdigit(static_cast<unsigned char>(line[i])) == 0) return 0;
  }
  return line[5] == ' ' ? line[0] : 0;
}

// The text without the prefix up to the thread's number; the location in the source stays.
std::string_view TextOf(std::string_view line) {
  for (int words = 0; words < 3; ++words) {
    const size_t space = std::min(line.find(' '), line.size());
    const size_t word = line.find_first_not_of(' ', space);
    if (word == std::string_view::npos) return line;
    line.remove_prefix(word);
  }
  return line;
}

}  // namespace

void WorkerLog::Log(std::string_view line) {
  TRITONSERVER_LogLevel level = TRITONSERVER_LOG_INFO;
  switch (SeverityOf(line)) {
    case 'I':  // notes on the features of the build, useful only with verbose logging
      level = TRITONSERVER_LOG_VERBOSE;
      break;
    case 'W':
      level = TRITONSERVER_LOG_WARN;
      break;
    case 'F':
      fatal_ = TextOf(line);
      [[fallthrough]];
    case 'E':
      level = TRITONSERVER_LOG_ERROR;
      break;
    default:
      NB_LOG_INFO("tensorflow, model '", model_, "': ", line);
      return;
  }
  NB_LOG_(level, "tensorflow, model '", model_, "': ", TextOf(line));
}

}  // namespace nereid_backend
