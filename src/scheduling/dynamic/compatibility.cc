#include "scheduling/dynamic/compatibility.h"

#include <algorithm>

namespace nereid {
namespace {

bool HasVariableDim(const InputSpec& spec) {
  return std::find(spec.dims.begin(), spec.dims.end(), kVariableDim) != spec.dims.end();
}

const InferInput* Find(const InferRequest& request, const std::string& name) {
  for (const InferInput& input : request.inputs()) {
    if (input.name() == name) return &input;
  }
  return nullptr;
}

bool SameShape(const CompiledModel& model, const InferInput& a, const InferInput& b) {
  const size_t skip = model.max_batch_size > 0 ? 1 : 0;
  return absl::MakeConstSpan(a.sent_shape()).subspan(skip) ==
         absl::MakeConstSpan(b.sent_shape()).subspan(skip);
}

}  // namespace

bool MayShareBatch(const CompiledModel& model, const InferRequest& a, const InferRequest& b) {
  if (!model.needs_shape_equality && !model.has_optional_inputs) return true;
  if (a.inputs().size() != b.inputs().size()) return false;
  for (const InferInput& input : a.inputs()) {
    const InferInput* other = Find(b, input.name());
    if (other == nullptr) return false;
    const InputSpec& spec = model.inputs[static_cast<size_t>(model.FindInput(input.name()))];
    if (!spec.allow_ragged && HasVariableDim(spec) && !SameShape(model, input, *other)) {
      return false;
    }
  }
  return true;
}

}  // namespace nereid
