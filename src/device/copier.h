// SPDX-License-Identifier: Apache-2.0
// Copier: copies that their caller waits for. Thread-safe: callers at a time have streams of their
// own. Must not outlive the GPUs.
#ifndef NEREID_DEVICE_COPIER_H_
#define NEREID_DEVICE_COPIER_H_

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/types/span.h>

#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "device/stream.h"

namespace nereid {

// The number of the GPU that does a copy: that of its destination, or else of its source; -1 if
// neither is on a GPU.
int64_t CopyingGpu(const CopyItem& item);

class Copier {
 public:
  // Copies all items on a stream of `gpu`, and returns when nothing of them is going on any more,
  // also after an error.
  absl::Status Copy(Gpu* gpu, absl::Span<const CopyItem> items) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::StatusOr<std::unique_ptr<Stream>> TakeStream(Gpu* gpu) ABSL_LOCKS_EXCLUDED(mu_);

  Mutex mu_;
  // As many as were in use at a time.
  std::map<Gpu*, std::vector<std::unique_ptr<Stream>>> idle_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_DEVICE_COPIER_H_
