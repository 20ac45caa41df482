// SPDX-License-Identifier: Apache-2.0
// Driver: NVIDIA's driver library, opened when the program runs. Owned by Gpus. Immutable after
// Open.
#ifndef NEREID_DEVICE_DRIVER_H_
#define NEREID_DEVICE_DRIVER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <memory>
#include <string>

#include "base/shared_library.h"
#include "device/cuda_abi.h"

namespace nereid {

class CudaDriver {
 public:
  // Opens and initialises the driver, without a context on any GPU. NOT_FOUND if there is no such
  // library or no GPU for it to drive, as on any machine without one; FAILED_PRECONDITION if the
  // library is there and cannot be used.
  static absl::StatusOr<std::unique_ptr<CudaDriver>> Open(const std::string& library);

  const cuda::Functions& functions() const { return functions_; }
  // 1000 * major + 10 * minor of the newest CUDA that the driver knows.
  int version() const { return version_; }

  // "out of memory (CUDA_ERROR_OUT_OF_MEMORY)", and the number of a result that the driver does not
  // know.
  std::string Describe(cuda::Result result) const;
  // "<what>: <description>". UNAVAILABLE for want of memory, INVALID_ARGUMENT for what the caller
  // named wrongly, INTERNAL otherwise. REQUIRES: result is not kSuccess.
  absl::Status ToStatus(cuda::Result result, absl::string_view what) const;

 private:
  explicit CudaDriver(std::unique_ptr<SharedLibrary> library) : library_(std::move(library)) {}
  absl::Status Initialize();

  const std::unique_ptr<SharedLibrary> library_;
  cuda::Functions functions_;
  int version_ = 0;
};

// Whether a result ends the context it comes from for good: each later call on that GPU fails with
// it, too.
bool IsSticky(cuda::Result result);

}  // namespace nereid

#endif  // NEREID_DEVICE_DRIVER_H_
