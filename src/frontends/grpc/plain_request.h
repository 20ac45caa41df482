// SPDX-License-Identifier: Apache-2.0
// PlainRequest: the fields of a ModelInferRequest that has nothing unusual,
// read without protobuf's objects. Most requests are plain: a model, inputs
// with a name, a type and a shape, outputs with a name. Whatever else a message
// has, and every mistake in it, is left to protobuf. Pure, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_PLAIN_REQUEST_H_
#define NEREID_FRONTENDS_GRPC_PLAIN_REQUEST_H_

#include <absl/container/inlined_vector.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>

namespace nereid {

struct PlainInput {
  absl::string_view name;
  absl::string_view data_type;
  absl::InlinedVector<int64_t, 6> shape;
};

// Views of the bytes that were read.
struct PlainRequest {
  // A message with more inputs, outputs or dimensions is not plain, so that it
  // is paid for before it takes memory.
  static constexpr size_t kMostTensors = 16;
  static constexpr size_t kMostDimensions = 16;

  absl::string_view model_name;
  absl::string_view model_version;
  absl::string_view id;
  absl::InlinedVector<PlainInput, 2> inputs;
  absl::InlinedVector<absl::string_view, 2> outputs;  // names
};

// Reads a message without its raw_input_contents. False if it is not plain, or
// not a message; the content of `request`, which must be fresh, is then
// unspecified. If true, protobuf reads the same.
bool ReadPlainRequest(absl::string_view message, PlainRequest* request);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_PLAIN_REQUEST_H_
