// SPDX-License-Identifier: Apache-2.0
// The file in which the footprints of models outlive the server. Stateless; blocks on file I/O.
//
// It is text: a line for each model, and at the end a hash of all that stands before, so that what
// is damaged or cut off is seen.
#ifndef NEREID_LIFECYCLE_DEMAND_FOOTPRINT_FILE_H_
#define NEREID_LIFECYCLE_DEMAND_FOOTPRINT_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <string>

namespace nereid {

struct Footprint {
  uint64_t bytes = 0;
  std::string stamp;  // of the files that were measured (DemandedModels::Stamp)

  friend bool operator==(const Footprint&, const Footprint&) = default;
};

// By the names of the models.
using Footprints = std::map<std::string, Footprint, std::less<>>;

// NOT_FOUND: there is no such file. DATA_LOSS: it is not as it was written.
absl::StatusOr<Footprints> ReadFootprints(const std::string& path);
// Replaces the file as a whole: whoever reads it meanwhile, or after a crash, finds the old one or
// the new one.
absl::Status WriteFootprints(const std::string& path, const Footprints& footprints);

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_DEMAND_FOOTPRINT_FILE_H_
