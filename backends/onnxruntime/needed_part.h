// SPDX-License-Identifier: Apache-2.0
// The part of an ONNX file that some of its outputs need. The runtime computes all that is in a
// file, whichever outputs are asked for, so that what nobody may ask for has to be left out before.
// Needs nothing of the runtime. Stateless.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_NEEDED_PART_H_
#define NEREID_BACKENDS_ONNXRUNTIME_NEEDED_PART_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace nereid_backend {

struct NeededPart {
  std::string model;  // a whole file, with all inputs
  size_t operators = 0;
  size_t operators_left_out = 0;
};

// Names of outputs.
using OutputNames = std::set<std::string, std::less<>>;

// The part of the file at `path` for `outputs`. Nothing if all operators of the file are needed or
// an output is not in it; if the file is no ONNX model in protobuf; or if some of its tensors are
// in other files, because the runtime then has to know where this one lies.
std::optional<NeededPart> ReadNeededPart(const std::string& path, const OutputNames& outputs);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_NEEDED_PART_H_
