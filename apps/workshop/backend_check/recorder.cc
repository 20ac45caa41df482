// SPDX-License-Identifier: Apache-2.0
#include "backend_check/recorder.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <unistd.h>

namespace nereid {

Recorder& Recorder::Get() {
  static Recorder* const recorder = new Recorder;  // used until the process has ended
  return *recorder;
}

void Recorder::Open(int fd) {
  MutexLock lock(&mu_);
  fd_ = fd;
}

void Recorder::Write(const char* kind, const std::string& text, const std::string& detail) {
  const auto clean = [](const std::string& part) {
    return absl::StrReplaceAll(part, {{"\n", " "}, {"\t", " "}, {"\r", " "}});
  };
  const std::string line = absl::StrCat(kind, "\t", clean(text), "\t", clean(detail), "\n");
  size_t written = 0;
  while (fd_ >= 0 && written < line.size()) {
    const ssize_t count = write(fd_, line.data() + written, line.size() - written);
    if (count <= 0) return;
    written += static_cast<size_t>(count);
  }
}

void Recorder::Phase(const std::string& text) {
  MutexLock lock(&mu_);
  phase_ = text;
  Write("phase", text);
}

void Recorder::Call(const char* function) {
  MutexLock lock(&mu_);
  Write("call", function);
}

void Recorder::Found(const char* id, const std::string& detail) {
  MutexLock lock(&mu_);
  if (counts_[id]++ == 0) Write("finding", id, absl::StrCat(phase_, ": ", detail));
}

void Recorder::Note(const std::string& text) {
  MutexLock lock(&mu_);
  Write("note", text);
}

void Recorder::Cannot(const std::string& text) {
  MutexLock lock(&mu_);
  Write("cannot", text);
}

void Recorder::Done() {
  MutexLock lock(&mu_);
  for (const auto& [id, count] : counts_) Write("count", id, absl::StrCat(count));
  Write("done", "");
}

}  // namespace nereid
