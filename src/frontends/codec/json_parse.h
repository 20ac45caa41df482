// SPDX-License-Identifier: Apache-2.0
// Part of the careful JSON reader: parses JSON text into a tree, and writes a tree. Stateless.
#ifndef NEREID_FRONTENDS_CODEC_JSON_PARSE_H_
#define NEREID_FRONTENDS_CODEC_JSON_PARSE_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <string>
#include <utility>

#include "base/budget.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/parse_cost.h"

namespace nereid {

namespace internal {
struct TreeUnits {
  BudgetUnits units;
};
}  // namespace internal

// A parsed text: the document, and the units that pay for its memory. The units go back after the
// document is gone, because they are the first base.
class JsonTree final : private internal::TreeUnits, public JsonDocument {
 public:
  // Empties the tree, which `units` are to pay for from now on.
  void Reset(BudgetUnits new_units) {
    JsonDocument empty;
    Swap(empty);
    units = std::move(new_units);
  }
};

// Parses `json`, including what Triton accepts beyond the standard: NaN, Infinity and
// Inf, strings that are not UTF-8. INVALID_ARGUMENT if it is not JSON, or if arrays inside a
// request's `data` nest deeper than `max_depth`. UNAVAILABLE if `budget` does not pay for the tree,
// which is asked for before any memory is taken, or if the machine has no memory. Numbers are the
// nearest doubles, unlike rapidjson's own.
absl::Status ParseJson(absl::string_view json, int max_depth, const ParseBudget& budget,
                       JsonTree* tree);

// The tree as text, without spaces. Not for hot paths.
std::string JsonText(const JsonValue& tree);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_JSON_PARSE_H_
