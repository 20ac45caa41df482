// SPDX-License-Identifier: Apache-2.0
#include "device/driver.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <utility>

#include "base/status_macros.h"

namespace nereid {
namespace {

// A library that is not there at all is nothing to tell anybody about, unlike one that cannot be
// loaded.
absl::Status CannotOpen(const std::string& library, const absl::Status& cause) {
  if (absl::StrContains(cause.message(),
                        absl::StrCat(library, ": cannot open shared object file"))) {
    return absl::NotFoundError(absl::StrCat("no GPU is used because there is no ", library,
                                            ": NVIDIA's driver would bring it"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("no GPU is used because NVIDIA's driver cannot be loaded: ", cause.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaDriver>> CudaDriver::Open(const std::string& library) {
  auto opened = SharedLibrary::Open(library);
  if (!opened.ok()) return CannotOpen(library, opened.status());
  std::unique_ptr<CudaDriver> driver(new CudaDriver(*std::move(opened)));
  RETURN_IF_ERROR(driver->Initialize());
  return driver;
}

absl::Status CudaDriver::Initialize() {
  const char* missing = nullptr;
  const auto find = [&](const char* symbol) {
    void* address = library_->Find(symbol);
    if (address == nullptr && missing == nullptr) missing = symbol;
    return address;
  };
#define NEREID_CUDA_FIND(name, symbol, parameters) \
  functions_.name = reinterpret_cast<decltype(functions_.name)>(find(#symbol));
  NEREID_CUDA_FUNCTIONS(NEREID_CUDA_FIND)
#undef NEREID_CUDA_FIND
  if (missing != nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("no GPU is used because ", library_->path(), " has no function ", missing,
                     ": a driver for CUDA 11.4 or newer is needed"));
  }
  const cuda::Result result = functions_.Init(0);
  if (result == cuda::kNoDevice) {
    return absl::NotFoundError("no GPU is used because NVIDIA's driver finds none");
  }
  if (result != cuda::kSuccess) {
    return absl::FailedPreconditionError(
        absl::StrCat("no GPU is used because NVIDIA's driver does not start: ", Describe(result)));
  }
  if (functions_.DriverGetVersion(&version_) != cuda::kSuccess) version_ = 0;
  return absl::OkStatus();
}

std::string CudaDriver::Describe(cuda::Result result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (functions_.GetErrorName(result, &name) != cuda::kSuccess || name == nullptr) {
    return absl::StrCat("the driver's error ", result);
  }
  if (functions_.GetErrorString(result, &text) != cuda::kSuccess || text == nullptr) return name;
  return absl::StrCat(text, " (", name, ")");
}

absl::Status CudaDriver::ToStatus(cuda::Result result, absl::string_view what) const {
  const std::string message = absl::StrCat(what, ": ", Describe(result));
  switch (result) {
    case cuda::kOutOfMemory:
      return absl::UnavailableError(message);
    case cuda::kInvalidValue:
    case cuda::kInvalidHandle:
    case cuda::kNotFound:
      return absl::InvalidArgumentError(message);
    default:
      return absl::InternalError(message);
  }
}

bool IsSticky(cuda::Result result) {
  switch (result) {
    case cuda::kEccUncorrectable:
    case cuda::kNvlinkUncorrectable:
    case cuda::kIllegalAddress:
    case cuda::kLaunchTimeout:
    case cuda::kContextIsDestroyed:
    case cuda::kAssert:
    case cuda::kHardwareStackError:
    case cuda::kIllegalInstruction:
    case cuda::kMisalignedAddress:
    case cuda::kInvalidAddressSpace:
    case cuda::kInvalidPc:
    case cuda::kLaunchFailed:
      return true;
    default:
      return false;
  }
}

}  // namespace nereid
