// SPDX-License-Identifier: Apache-2.0
// Bodies of the shared-memory requests. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_SHARED_MEMORY_REQUEST_H_
#define NEREID_FRONTENDS_CODEC_SHARED_MEMORY_REQUEST_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <string>
#include <vector>

#include "frontends/codec/parse_cost.h"
#include "frontends/shared_memory/shared_memory_registry.h"

namespace nereid {

// The members `key`, `offset` (0 if missing) and `byte_size` of a request to register the region
// `name`. INVALID_ARGUMENT for anything else.
absl::StatusOr<SharedMemoryRegion> ReadRegisterRequest(const std::string& name,
                                                       absl::string_view body,
                                                       const ParseBudget& budget);

// A request to register a region of CUDA memory.
struct CudaRegisterRequest {
  CudaMemoryRegion region;
  std::string handle;  // 64 bytes
};

// The members `raw_handle`, `device_id` and `byte_size` of a request to register the region `name`
// of CUDA memory. INVALID_ARGUMENT for anything else.
absl::StatusOr<CudaRegisterRequest> ReadCudaRegisterRequest(const std::string& name,
                                                            absl::string_view body,
                                                            const ParseBudget& budget);

// The region to unregister is in the path, and without one all are. INVALID_ARGUMENT for a body
// that is neither empty nor an empty object, because it may have been meant to choose.
absl::Status CheckUnregisterRequest(absl::string_view body, const ParseBudget& budget);

// A JSON array with an object for each region.
std::string ToJson(const std::vector<SharedMemoryRegion>& regions);
std::string ToJson(const std::vector<CudaMemoryRegion>& regions);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_SHARED_MEMORY_REQUEST_H_
