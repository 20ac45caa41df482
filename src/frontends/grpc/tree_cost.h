// Estimates how much memory protobuf will take to parse a ModelInferRequest, by scanning its bytes
// first: a field of two bytes may become an object of a hundred. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_TREE_COST_H_
#define NEREID_FRONTENDS_GRPC_TREE_COST_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <optional>

namespace nereid {

// Approximate size of the parsed `message`, a ModelInferRequest without raw_input_contents; an
// overestimate rather than an underestimate. None if one of its messages is truncated or malformed:
// protobuf would refuse it too, but only after allocating memory for everything that such a message
// claims to hold. Takes time in proportion to the size.
std::optional<uint64_t> TreeCost(absl::string_view message);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_TREE_COST_H_
