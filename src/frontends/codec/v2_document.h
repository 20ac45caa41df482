// SPDX-License-Identifier: Apache-2.0
// V2Document: the content of the JSON part of a v2 inference request, as plain values. Filled by
// one of the two JSON readers (fast_json_reader.h, careful_json_reader.h), which must agree on
// every document; turned into an InferRequest by v2_request_reader. Lives on the stack of one call.
#ifndef NEREID_FRONTENDS_CODEC_V2_DOCUMENT_H_
#define NEREID_FRONTENDS_CODEC_V2_DOCUMENT_H_

#include <absl/container/inlined_vector.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/codec/output_formats.h"
#include "frontends/shared_memory/shared_memory_registry.h"
#include "model/correlation_id.h"
#include "model/data_type.h"
#include "model/parameter.h"
#include "model/shape.h"

namespace nereid {

// Levels of JSON around a request's `data`: the document, `inputs` and the input.
inline constexpr int kEnvelopeNesting = 3;

struct V2Input {
  std::string name;
  DataType data_type = DataType::kInvalid;
  Shape shape;
  // Where the tensor is. `binary`: the next `byte_size` bytes of the binary part, in the order of
  // the inputs. `shared`: there. Neither: `bytes`, decoded from JSON into the RequestBuffers.
  bool binary = false;
  std::optional<SharedMemoryRange> shared;
  uint64_t byte_size = 0;
  const char* bytes = nullptr;
};

struct V2Document {
  // ---- Set before the document is read: how many tensors are kept. Any further ones are checked
  // like the others and then dropped, so that the model bounds the memory used.
  size_t kept_inputs = std::numeric_limits<size_t>::max();
  size_t kept_outputs = std::numeric_limits<size_t>::max();

  // ---- The content of the document.
  std::string id;
  bool sequence_start = false;
  bool sequence_end = false;
  CorrelationId correlation_id;
  uint64_t priority = 0;
  uint64_t timeout_us = 0;
  std::vector<Parameter> parameters;
  absl::InlinedVector<V2Input, 2> inputs;
  size_t unkept_inputs = 0;
  OutputFormats outputs;
  // Where outputs are to be written, by their place in `outputs.named`.
  std::vector<std::pair<size_t, SharedMemoryRange>> shared_outputs;

  bool KeepsInput() const { return inputs.size() < kept_inputs; }
  bool KeepsOutput() const { return outputs.named.size() < kept_outputs; }
};

// The request parameters that the server itself interprets.
enum class ReservedParameter {
  kNone,
  kSequenceId,
  kSequenceStart,
  kSequenceEnd,
  kPriority,
  kTimeout,
  kBinaryDataOutput,
  kNonFinite,
};

inline ReservedParameter ReservedParameterOf(absl::string_view key) {
  if (key == "sequence_id") return ReservedParameter::kSequenceId;
  if (key == "sequence_start") return ReservedParameter::kSequenceStart;
  if (key == "sequence_end") return ReservedParameter::kSequenceEnd;
  if (key == "priority") return ReservedParameter::kPriority;
  if (key == "timeout") return ReservedParameter::kTimeout;
  if (key == "binary_data_output") return ReservedParameter::kBinaryDataOutput;
  if (key == kNonFiniteParameter) return ReservedParameter::kNonFinite;
  return ReservedParameter::kNone;
}

// Keys that clients must not send.
inline constexpr absl::string_view kRefusedKeyPrefix = "triton_";

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_V2_DOCUMENT_H_
