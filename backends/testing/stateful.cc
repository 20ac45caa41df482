// SPDX-License-Identifier: Apache-2.0
// Behaviour accumulate_state: implicit state of a sequence, as a backend uses it.
#include <cstring>

#include "backends/sdk/batch.h"
#include "backends/sdk/state.h"
#include "backends/testing/behaviours.h"

namespace nereid_backend {
namespace {

Result<std::vector<int32_t>> ReadInt32s(TRITONBACKEND_Request* request, const std::string& name,
                                        InputView* view) {
  NB_ASSIGN_OR_RETURN(*view, InputView::Find(request, name.c_str()));
  std::vector<Piece> pieces;
  NB_RETURN_IF_ERROR(AppendPieces(*view, &pieces));
  std::vector<int32_t> values(TotalSize(pieces) / sizeof(int32_t));
  if (TotalSize(pieces) != values.size() * sizeof(int32_t)) {
    return Error::InvalidArg(StrCat("input '", name, "' is no whole number of INT32 elements"));
  }
  CopyPieces(pieces, reinterpret_cast<char*>(values.data()));
  return values;
}

// output = input + state; the result is also the next state.
Error Accumulate(const TestingModel& model, TRITONBACKEND_Request* request,
                 TRITONBACKEND_Response* response) {
  const ModelConfig& config = model.config();
  if (config.states.empty() || config.inputs.empty() || config.outputs.empty()) {
    return Error::InvalidArg("testing backend: accumulate_state needs a state, input and output");
  }
  const StateConfig& state_config = config.states[0];
  InputView input;
  InputView state_input;
  NB_ASSIGN_OR_RETURN(std::vector<int32_t> sum, ReadInt32s(request, config.inputs[0].name, &input));
  NB_ASSIGN_OR_RETURN(const std::vector<int32_t> old,
                      ReadInt32s(request, state_config.input_name, &state_input));
  if (old.size() != sum.size()) {
    return Error::InvalidArg(
        StrCat("testing backend: input has ", sum.size(), " elements, the state ", old.size()));
  }
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += old[i];
  const size_t size = sum.size() * sizeof(int32_t);

  NB_ASSIGN_OR_RETURN(char* buffer,
                      AllocateOutput(response, config.outputs[0].name.c_str(),
                                     TRITONSERVER_TYPE_INT32, input.dims, input.dim_count, size));
  std::memcpy(buffer, sum.data(), size);

  return UpdateState(request, state_config.output_name.c_str(), TRITONSERVER_TYPE_INT32,
                     state_input.dims, state_input.dim_count, size,
                     [&](char* destination) { std::memcpy(destination, sum.data(), size); });
}

}  // namespace

TRITONSERVER_Error* ExecuteAccumulateState(TestingInstance& instance,
                                           TRITONBACKEND_Request** requests, uint32_t count) {
  return RunBatch(instance.handle(), requests, count, [&](Batch& batch) -> Error {
    for (size_t i = 0; i < batch.size(); ++i) {
      NB_ASSIGN_OR_RETURN(TRITONBACKEND_Response * response, batch.Response(i));
      const Error error = Accumulate(instance.model(), batch.request(i), response);
      if (!error.ok()) batch.Fail(i, error);
    }
    return Error();
  });
}

}  // namespace nereid_backend
