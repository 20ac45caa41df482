// SPDX-License-Identifier: Apache-2.0
// TraceStorage of the machine's disks.
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "frontends/tracing/trace_files.h"

namespace nereid {
namespace {

absl::Status Failed(const std::string& path) {
  return absl::InternalError(
      absl::StrCat("cannot write trace file '", path, "': ", std::strerror(errno)));
}

class LocalTraceStorage final : public TraceStorage {
 public:
  absl::Status Write(const std::string& path, absl::string_view text) override {
    struct stat present {};
    const bool exists = lstat(path.c_str(), &present) == 0;
    // A device, a pipe or a link is written to, not replaced.
    if (exists && !S_ISREG(present.st_mode)) return Put(path, O_TRUNC, 0, text);
    // Whoever reads the file meanwhile sees all or nothing.
    const std::string part = absl::StrCat(path, ".part");
    absl::Status status = Put(part, O_CREAT | O_TRUNC, 0, text);
    if (status.ok() && std::rename(part.c_str(), path.c_str()) != 0) status = Failed(path);
    return status;
  }
  absl::Status Rewrite(const std::string& path, uint64_t offset, absl::string_view text) override {
    return Put(path, 0, offset, text);
  }

 private:
  static absl::Status Put(const std::string& path, int flags, uint64_t offset,
                          absl::string_view text) {
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0644);
    if (file < 0) return Failed(path);
    absl::Status status;
    // What has no positions, as a pipe, is written in order.
    const bool has_positions = lseek(file, 0, SEEK_CUR) >= 0;
    while (!text.empty() && status.ok()) {
      const ssize_t n = has_positions
                            ? pwrite(file, text.data(), text.size(), static_cast<off_t>(offset))
                            : write(file, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        status = Failed(path);
      } else {
        text.remove_prefix(static_cast<size_t>(n));
        offset += static_cast<uint64_t>(n);
      }
    }
    if (close(file) != 0 && status.ok()) status = Failed(path);
    return status;
  }
};

}  // namespace

std::unique_ptr<TraceStorage> MakeLocalTraceStorage() {
  return std::make_unique<LocalTraceStorage>();
}

}  // namespace nereid
