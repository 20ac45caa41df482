// The wire form of gRPC messages, as far as a load generator needs it. Pure functions.
#ifndef NEREID_APPS_LOADGEN_GRPC_MESSAGE_H_
#define NEREID_APPS_LOADGEN_GRPC_MESSAGE_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace nereid::bench {

// The prefix of every message: one byte that says whether it is compressed, four with its length.
inline constexpr size_t kGrpcPrefixBytes = 5;

// The prefix of `message`, and `message`. REQUIRES: shorter than 4 GiB.
std::string WithGrpcPrefix(absl::string_view message);

// Length of the message behind a prefix; DATA_LOSS when the message is compressed.
// REQUIRES: kGrpcPrefixBytes bytes.
absl::StatusOr<uint64_t> GrpcMessageLength(absl::string_view prefix);

// Counts the messages in the bytes of a call's answer, which arrive in pieces of any size. A plain
// value.
class GrpcMessageCounter {
 public:
  void Add(absl::string_view bytes);

  uint64_t whole() const { return whole_; }
  // True between two messages: the last one has arrived in full.
  bool complete() const { return prefix_bytes_ == 0; }
  // A message was compressed, although no compression was requested.
  bool compressed() const { return compressed_; }
  // How many were a ModelStreamInferResponse with an error. Means nothing for other types.
  uint64_t stream_errors() const { return stream_errors_; }

 private:
  void EndOfPrefix();

  uint64_t whole_ = 0;
  uint64_t stream_errors_ = 0;
  uint64_t left_ = 0;        // bytes of the message behind the prefix
  size_t prefix_bytes_ = 0;  // prefix bytes of the current message
  bool at_first_byte_ = false;
  bool compressed_ = false;
  std::array<char, kGrpcPrefixBytes> prefix_{};
};

// The one element of raw_output_contents in a serialized inference.ModelInferResponse. DATA_LOSS if
// the bytes are something else, or contain none or several.
absl::StatusOr<absl::string_view> SoleRawOutput(absl::string_view response);

// The answer of a stream: messages with their prefixes, each a ModelStreamInferResponse with one
// raw output. Returns these outputs one after the other; DATA_LOSS if the bytes are something else.
absl::StatusOr<std::string> JoinedRawOutputs(absl::string_view stream);

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_GRPC_MESSAGE_H_
