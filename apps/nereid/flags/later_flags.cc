#include <algorithm>
#include <array>

#include "flags/flag_table.h"

namespace nereid {
namespace {

constexpr std::array kLaterOptions = {"allow-sagemaker", "sagemaker-port",
                                      "sagemaker-safe-port-range", "sagemaker-thread-count"};

}  // namespace

bool IsOptionOfLaterVersion(absl::string_view name) {
  return std::find(kLaterOptions.begin(), kLaterOptions.end(), name) != kLaterOptions.end();
}

}  // namespace nereid
