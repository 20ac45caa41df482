// SPDX-License-Identifier: Apache-2.0
// EchoMap: which input each output of an echoing model repeats, and the copy itself. Shared by the
// identity and the testing backend. Immutable after Build.
#ifndef NEREID_BACKENDS_SDK_ECHO_H_
#define NEREID_BACKENDS_SDK_ECHO_H_

#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/batch.h"
#include "backends/sdk/model_config.h"
#include "backends/sdk/tensor.h"

namespace nereid_backend {

class EchoMap {
 public:
  // An output repeats the input of the same name, else the input whose name has INPUT where the
  // output's has OUTPUT (any case), else the only input when the model has one input and one
  // output. INVALID_ARG if none of these applies, or if the data types differ.
  static Result<EchoMap> Build(const ModelConfig& config);

  // Answers request i of `batch` with the outputs it requests: one copy each, straight from the
  // pieces of the input into the response. If an optional input is absent, so is its output.
  Error Echo(Batch* batch, size_t i) const;
  // As above, into a response of the caller.
  Error Echo(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) const;

  // Name of the input that `output` repeats; empty if there is no such output.
  std::string_view InputOf(std::string_view output) const;

 private:
  struct Pair {
    std::string output;
    std::string input;
    bool optional;
  };
  std::vector<Pair> pairs_;
};

// Rows of request i: the first dimension of its first input for a batching model, 1 otherwise.
// INVALID_ARG if it has no input or no dimension.
Result<int64_t> RequestRows(const ModelConfig& config, TRITONBACKEND_Request* request);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_ECHO_H_
