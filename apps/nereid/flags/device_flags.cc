#include <absl/strings/str_cat.h>

#include "flags/flag_table.h"

namespace nereid {

// Accepted, so that existing command lines start, and named in one warning.
FlagGroup DeviceFlags(Settings* s) {
  FlagGroup group{"Without effect (this build has no GPU support)", {}};
  const auto add = [&](const char* name, const char* argument, const char* help) {
    group.flags.push_back({name, argument, "", help, [s, name](absl::string_view) {
                             s->without_effect.push_back(absl::StrCat("--", name));
                             return absl::OkStatus();
                           }});
  };
  add("allow-gpu-metrics", "<boolean>", "GPU metrics.");
  add("enable-peer-access", "<boolean>", "Access between GPUs.");
  add("pinned-memory-pool-byte-size", "<integer>", "Size of the pinned memory pool.");
  add("cuda-memory-pool-byte-size", "<gpu>:<bytes>", "Size of a GPU's memory pool.");
  add("cuda-virtual-address-size", "<gpu>:<bytes>", "Address space for growable state.");
  add("min-supported-compute-capability", "<float>", "Oldest GPU generation to use.");
  add("model-load-gpu-limit", "<gpu>:<fraction>", "GPU memory limit for loading.");
  return group;
}

}  // namespace nereid
