// The wire form of gRPC messages, as far as a load generator needs it. Pure functions.
#ifndef NEREID_BENCH_LOADGEN_GRPC_MESSAGE_H_
#define NEREID_BENCH_LOADGEN_GRPC_MESSAGE_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace nereid::bench {

// In front of every message: one byte that says whether it is compressed, four with its length.
inline constexpr size_t kGrpcPrefixBytes = 5;

// The prefix of `message`, and `message`. REQUIRES: shorter than 4 GiB.
std::string WithGrpcPrefix(absl::string_view message);

// Length of the message behind a prefix; DATA_LOSS when the message is compressed.
// REQUIRES: kGrpcPrefixBytes bytes.
absl::StatusOr<uint64_t> GrpcMessageLength(absl::string_view prefix);

// The one element of raw_output_contents in a serialized inference.ModelInferResponse. DATA_LOSS
// when the bytes are something else, or have none or several.
absl::StatusOr<absl::string_view> SoleRawOutput(absl::string_view response);

}  // namespace nereid::bench

#endif  // NEREID_BENCH_LOADGEN_GRPC_MESSAGE_H_
