// SPDX-License-Identifier: Apache-2.0
// What protobuf makes of the bytes of a message, foretold by scanning them and charged before they
// are parsed: a field of two bytes may become an object of a hundred. Serves every type of request.
// Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_TREE_COST_H_
#define NEREID_FRONTENDS_GRPC_TREE_COST_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <optional>

#include "base/budget.h"

namespace nereid {

struct TreeCost {
  // Approximate size of the parsed message, an overestimate rather than an underestimate.
  uint64_t bytes = 0;
  // How long it takes to parse it, as the number of bytes that protobuf has to look at. Those that
  // it only copies count a sixteenth.
  uint64_t work = 0;
};

// The cost of `message`, of type `type`. None if one of its messages is truncated or malformed:
// protobuf would refuse it too, but only after allocating memory for everything that such a message
// claims to hold. Ends early, with what was counted so far, once `work` is more than `most_work`.
std::optional<TreeCost> ForetellTree(const google::protobuf::Descriptor& type,
                                     absl::string_view message, uint64_t most_work = UINT64_MAX);

// Parses `bytes` into `message`, which is empty, after `budget` has paid for it on behalf of
// `holder`, who may be null. Returns the units, to be kept as long as `message`; the little
// that a typical message needs is part of every request's charge. A null `budget` charges nothing.
// INVALID_ARGUMENT if the bytes are no such message, UNAVAILABLE if the budget refuses.
absl::StatusOr<BudgetUnits> ParseCharged(absl::string_view bytes, Budget* budget,
                                         const std::shared_ptr<Holder>& holder,
                                         google::protobuf::Message* message);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_TREE_COST_H_
