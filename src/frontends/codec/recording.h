// SPDX-License-Identifier: Apache-2.0
// A recording of `--record` (docs/operate/recording.md) as values, and its reader. Plain values;
// the functions are pure.
#ifndef NEREID_FRONTENDS_CODEC_RECORDING_H_
#define NEREID_FRONTENDS_CODEC_RECORDING_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "model/data_type.h"

namespace nereid {

struct RecordedRequest {
  std::string id, sequence_text, outcome;
  uint64_t start_ns = 0, queued_ns = 0, sent_ns = 0;
  uint64_t instance = 0, batch = 0;  // 0: it was in none
  uint64_t size = 0, priority = 0, timeout_us = 0, sequence = 0, flags = 0, shapes = 0;
};

// One input of a request, as it was sent.
struct RecordedTensor {
  std::string name;
  DataType data_type = DataType::kInvalid;
  std::vector<int64_t> shape;
  // Whether `bytes` has the tensor; otherwise the server was told to keep it secret.
  bool has_bytes = false;
  std::string bytes;  // raw, as in the protocol's binary form
};

struct RecordedInputs {
  uint64_t start_ns = 0;  // of the request
  std::vector<RecordedTensor> tensors;
};

struct RecordedBatch {
  uint64_t instance = 0, number = 0;
  uint64_t staged_ns = 0;  // since then it waited for the rate limiter; 0: it did not
  uint64_t pulled_ns = 0, ended_ns = 0;
  uint64_t requests = 0, units = 0, fillers = 0;
  std::string reason;
};

// What was recorded of one loaded version.
struct RecordedModel {
  std::string name, config;  // JSON
  uint64_t version = 0;
  std::vector<RecordedRequest> requests;
  std::vector<RecordedBatch> batches;
  std::vector<RecordedInputs> inputs;
};

struct Recording {
  // Bounds: of a line's bytes, of the number of lines, and of the bytes of all tensors.
  static constexpr size_t kMostLineBytes = 24 << 20;
  static constexpr size_t kMostLines = 20'000'000;
  static constexpr size_t kMostTensorBytes = size_t{2} << 30;

  std::map<uint64_t, RecordedModel> models;  // by the number that the lines give
  bool wants_inputs = false;                 // whether the reader keeps them
  size_t tensor_bytes = 0;                   // of all inputs
};

// Adds what `line` says, which is line `number` of its file, from 1. INVALID_ARGUMENT in one
// sentence without the place.
absl::Status ReadLine(absl::string_view line, uint64_t number, Recording* recording);
// INVALID_ARGUMENT, with the number of the line. A last line without a line break is left out: the
// server was writing it.
absl::StatusOr<Recording> ReadRecording(std::istream& file, bool with_inputs = false);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_RECORDING_H_
