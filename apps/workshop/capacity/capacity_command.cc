// SPDX-License-Identifier: Apache-2.0
#include "capacity/capacity_command.h"

#include <absl/status/statusor.h>

#include <ostream>
#include <utility>

#include "base/status_macros.h"
#include "capacity/capacity.h"
#include "capacity/capacity_options.h"
#include "capacity/capacity_text.h"
#include "options/parse.h"

namespace nereid {
namespace {

constexpr int kGood = 0;
constexpr int kNotKept = 1;
constexpr int kWrong = 2;

absl::StatusOr<CapacityResult> Find(const CapacityOptions& options) {
  ASSIGN_OR_RETURN(MeasuredNode node, ReadMeasuredNode(options));
  return FindCapacity(options, std::move(node));
}

}  // namespace

int CapacityCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<CapacityOptions> options = ParseCapacityOptions(args);
  if (!options.ok()) return WrongCommandLine("capacity", options.status(), err);
  const absl::StatusOr<CapacityResult> result = Find(*options);
  if (!result.ok()) {
    err << "nereid capacity: " << result.status().message() << "\n";
    return kWrong;
  }
  out << (options->json ? CapacityJson(*options, *result) : CapacityText(*options, *result));
  out.flush();
  const bool searched = options->searches() && !result->rows.empty();
  return searched && !result->chosen.has_value() ? kNotKept : kGood;
}

}  // namespace nereid
