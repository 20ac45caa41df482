// SPDX-License-Identifier: Apache-2.0
// RequestValidator: checks a request against its model's compiled configuration and works out
// what follows from it (batch size, working shapes). Stateless.
//
// The order of the checks and their texts are those of docs/reference/request_checks.md; every
// error is INVALID_ARGUMENT and starts with the request's log prefix.
#ifndef NEREID_INFER_REQUEST_VALIDATOR_H_
#define NEREID_INFER_REQUEST_VALIDATOR_H_

#include <absl/status/status.h>

#include "config/compiled_model.h"
#include "infer/request_content.h"

namespace nereid {

class RequestValidator {
 public:
  // Fills batch size and working shapes, makes every input one contiguous piece. May be called
  // again for a request that is issued anew.
  static absl::Status Prepare(RequestContent* request);

 private:
  static absl::Status DeduceRawInput(const CompiledModel& model, RequestContent* request);
  // Makes the raw bytes of `input` the only element of a BYTES tensor.
  static absl::Status MakeStringElement(const RequestContent& request, const InputSpec& spec,
                                        InferInput* input);
  // Finds duplicate names that were not compared when they were added. REQUIRES: no more inputs
  // than the model has; every output is the model's.
  static absl::Status CheckRepeatedInputs(const RequestContent& request);
  static absl::Status CheckRepeatedOutputs(const CompiledModel& model,
                                           const RequestContent& request);
  static absl::Status CheckOutputs(const CompiledModel& model, const RequestContent& request);
  static absl::Status CheckInputCount(const CompiledModel& model, const RequestContent& request);
  // An optional input does not make up for a required one. REQUIRES: every input is the model's.
  static absl::Status CheckRequiredInputs(const CompiledModel& model,
                                          const RequestContent& request);
  // Checks that the kind of the sequence's id fits the control tensor that carries the id.
  static absl::Status CheckCorrelationId(const CompiledModel& model, const RequestContent& request);
  static absl::Status WrongInputCount(const CompiledModel& model, const RequestContent& request);
  static absl::Status ResolveBatchSize(const CompiledModel& model, RequestContent* request);
  static absl::Status CheckInput(const CompiledModel& model, const RequestContent& request,
                                 InferInput* input);
};

}  // namespace nereid

#endif  // NEREID_INFER_REQUEST_VALIDATOR_H_
