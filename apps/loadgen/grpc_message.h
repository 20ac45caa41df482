// SPDX-License-Identifier: Apache-2.0
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

// What the beginning of a ModelStreamInferResponse says.
struct StreamMessage {
  bool failed = false;      // it brings an error
  absl::string_view error;  // whose text may be cut off
  bool final = false;       // no response of the request comes after it: triton_final_response
};

// `head`: the message without its prefix, possibly cut off. Of broken bytes it says nothing.
StreamMessage ReadStreamMessage(absl::string_view head);

// Counts the messages in the bytes of a call's answer, which arrive in pieces of any size. A plain
// value.
class GrpcMessageCounter {
 public:
  // Begins anew. `streamed`: the messages are ModelStreamInferResponse, and are looked into;
  // `watch_final`: also for the last response of a request.
  void Reset(bool streamed, bool watch_final);
  void Add(absl::string_view bytes);

  uint64_t whole() const { return whole_; }
  // True between two messages: the last one has arrived in full.
  bool complete() const { return prefix_bytes_ == 0; }
  // A message was compressed, although no compression was requested.
  bool compressed() const { return compressed_; }
  // How many streamed messages brought an error, and the text of the first of these.
  uint64_t stream_errors() const { return stream_errors_; }
  const std::string& error() const { return error_; }
  // A streamed message was the last one of its request. REQUIRES: watched for.
  bool final() const { return final_; }

 private:
  // Beginnings of messages: the parameters of a response come before its tensors.
  static constexpr size_t kHeadBytes = 4096;

  void EndOfPrefix();
  void EndOfMessage();

  bool streamed_ = false;
  bool watch_final_ = false;
  bool final_ = false;
  uint64_t whole_ = 0;
  uint64_t stream_errors_ = 0;
  uint64_t left_ = 0;        // bytes of the message behind the prefix
  size_t prefix_bytes_ = 0;  // prefix bytes of the current message
  bool at_first_byte_ = false;
  bool keep_head_ = false;  // of the current message
  bool compressed_ = false;
  std::array<char, kGrpcPrefixBytes> prefix_{};
  std::string head_;
  std::string error_;
};

// The one element of raw_output_contents in a serialized inference.ModelInferResponse. DATA_LOSS if
// the bytes are something else, or contain none or several.
absl::StatusOr<absl::string_view> SoleRawOutput(absl::string_view response);

// The answer of a stream: messages with their prefixes, each a ModelStreamInferResponse with one
// raw output. Returns these outputs one after the other; DATA_LOSS if the bytes are something else.
absl::StatusOr<std::string> JoinedRawOutputs(absl::string_view stream);

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_GRPC_MESSAGE_H_
