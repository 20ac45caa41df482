// SPDX-License-Identifier: Apache-2.0
// The inputs of requests: made up by data type and shape, or taken from files. Functions that read
// files and nothing else.
#ifndef NEREID_APPS_WORKSHOP_BENCH_MODEL_INPUTS_H_
#define NEREID_APPS_WORKSHOP_BENCH_MODEL_INPUTS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/bench_options.h"
#include "bench/model_description.h"

namespace nereid::bench {

// One input as it is sent. The bytes are those of a raw tensor: little-endian elements; strings
// with four bytes of length each.
struct RequestInput {
  std::string name;
  DataType type = DataType::kInvalid;
  std::vector<int64_t> shape;
  std::string bytes;
};
using RequestInputs = std::vector<RequestInput>;

// The inputs of all requests that differ: one, or one for each entry of a data file. An input that
// is optional is left out unless it is given. INVALID_ARGUMENT with a sentence about what is wrong
// or missing; errors of files.
absl::StatusOr<std::vector<RequestInputs>> MakeInputs(const ModelDescription& model,
                                                      const InputOptions& options);

// The whole shape of an input, with the batch size as its first dimension where it has one.
// `given`: of this element of the batch, or of the whole tensor; empty: what the model says.
// INVALID_ARGUMENT if a dimension is not known.
absl::StatusOr<std::vector<int64_t>> ShapeOfInput(const ModelDescription& model,
                                                  const TensorDescription& tensor,
                                                  const std::vector<int64_t>& given,
                                                  int64_t batch_size);

// `count` elements. Random ones are from 0 to 1, whole ones from 0 to 9, strings of `string_length`
// letters.
std::string FilledTensor(DataType type, int64_t count, const InputOptions& options,
                         std::mt19937_64* random);

// Number of elements of a shape. INVALID_ARGUMENT if a tensor of them would be larger than
// kMostTensorBytes.
absl::StatusOr<int64_t> ElementsOf(const TensorDescription& tensor,
                                   const std::vector<int64_t>& shape, size_t string_length);

// "[1,3,-1]"
std::string ShapeText(const std::vector<int64_t>& shape);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_MODEL_INPUTS_H_
