// SPDX-License-Identifier: Apache-2.0
#include "bench/measuring_process.h"

#include <absl/strings/str_cat.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <fstream>

#include "base/threads/thread.h"

namespace nereid::bench {
namespace {

// Set by a signal.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void CatchSignals() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // TLS writes to sockets without MSG_NOSIGNAL
}

// As many connections as the system allows.
void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

void PrepareToMeasure() {
  CatchSignals();
  RaiseFileLimit();
  WakeWhenDue();  // sends when it is due
}

bool Interrupted() { return interrupted; }

absl::Status WriteReport(const std::string& name, const std::string& text) {
  if (name.empty()) return absl::OkStatus();
  std::ofstream file(name, std::ios::binary);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write the file ", name));
}

}  // namespace nereid::bench
