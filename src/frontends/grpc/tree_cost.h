// How much memory protobuf will take to read a ModelInferRequest, told by a look at its bytes
// before: a field of two bytes may become an object of a hundred. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_TREE_COST_H_
#define NEREID_FRONTENDS_GRPC_TREE_COST_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <optional>

namespace nereid {

// About the bytes of the parsed `message`, a ModelInferRequest without raw_input_contents; rather
// too much than too little. None if one of its messages is cut off or no message: protobuf would
// refuse it, too, but only after it has taken memory for all that such a message claims to hold. Takes
// time in proportion to the size.
std::optional<uint64_t> TreeCost(absl::string_view message);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_TREE_COST_H_
