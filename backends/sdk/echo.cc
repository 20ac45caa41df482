// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/echo.h"

namespace nereid_backend {
namespace {

// `output` with its first OUTPUT replaced by INPUT in the same case; unchanged if it has none.
std::string InputNameFor(const std::string& output) {
  static constexpr struct {
    std::string_view from, to;
  } kRules[] = {{"OUTPUT", "INPUT"}, {"output", "input"}, {"Output", "Input"}};
  for (const auto& [from, to] : kRules) {
    const size_t at = output.find(from);
    if (at == std::string::npos) continue;
    std::string name = output;
    return name.replace(at, from.size(), to);
  }
  return output;
}

const TensorConfig* PartnerOf(const ModelConfig& config, const TensorConfig& output) {
  if (const TensorConfig* same = config.FindInput(output.name)) return same;
  if (const TensorConfig* partner = config.FindInput(InputNameFor(output.name))) return partner;
  const bool single = config.inputs.size() == 1 && config.outputs.size() == 1;
  return single ? &config.inputs[0] : nullptr;
}

bool HasInput(TRITONBACKEND_Request* request, std::string_view name) {
  uint32_t count = 0;
  if (!Error(TRITONBACKEND_RequestInputCount(request, &count)).ok()) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const char* input = nullptr;
    if (Error(TRITONBACKEND_RequestInputName(request, i, &input)).ok() && name == input) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<EchoMap> EchoMap::Build(const ModelConfig& config) {
  EchoMap map;
  for (const TensorConfig& output : config.outputs) {
    const TensorConfig* input = PartnerOf(config, output);
    if (input == nullptr) {
      return Error::InvalidArg(StrCat("output '", output.name, "' of model '", config.name,
                                      "' has no input to repeat: expected an input of the same "
                                      "name or '",
                                      InputNameFor(output.name), "'"));
    }
    if (input->type != output.type) {
      return Error::InvalidArg(StrCat("output '", output.name, "' of model '", config.name,
                                      "' has type ", ConfigTypeName(output.type),
                                      ", but the input '", input->name, "' that it repeats has ",
                                      ConfigTypeName(input->type)));
    }
    map.pairs_.push_back(Pair{output.name, input->name, input->optional});
  }
  return map;
}

Error EchoMap::Echo(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) const {
  std::vector<Piece> pieces;
  for (const Pair& pair : pairs_) {
    if (!WantsOutput(request, pair.output)) continue;
    if (pair.optional && !HasInput(request, pair.input)) continue;
    NB_ASSIGN_OR_RETURN(const InputView input, InputView::Find(request, pair.input.c_str()));
    pieces.clear();
    NB_RETURN_IF_ERROR(AppendPieces(input, &pieces));
    NB_ASSIGN_OR_RETURN(char* buffer,
                        AllocateOutput(response, pair.output.c_str(), input.type, input.dims,
                                       input.dim_count, TotalSize(pieces)));
    CopyPieces(pieces, buffer);
  }
  return Error();
}

Error EchoMap::Echo(Batch* batch, size_t i) const {
  NB_ASSIGN_OR_RETURN(TRITONBACKEND_Response * response, batch->Response(i));
  return Echo(batch->request(i), response);
}

std::string_view EchoMap::InputOf(std::string_view output) const {
  for (const Pair& pair : pairs_) {
    if (pair.output == output) return pair.input;
  }
  return "";
}

Result<int64_t> RequestRows(const ModelConfig& config, TRITONBACKEND_Request* request) {
  if (!config.batching()) return int64_t{1};
  NB_ASSIGN_OR_RETURN(const InputView input, InputView::At(request, 0));
  if (input.dim_count == 0) {
    return Error::InvalidArg(StrCat("input '", input.name, "' has no batch dimension"));
  }
  return input.dims[0];
}

}  // namespace nereid_backend
