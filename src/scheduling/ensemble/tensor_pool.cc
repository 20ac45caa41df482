// SPDX-License-Identifier: Apache-2.0
#include "scheduling/ensemble/tensor_pool.h"

#include <algorithm>

namespace nereid {

void TensorPool::Put(uint32_t tensor, uint32_t iteration, TensorValue value) {
  value.uses = plan_.uses[tensor];
  if (value.input == nullptr) {
    Count(bytes_ + value.byte_size());
    peak_bytes_ = std::max(peak_bytes_, bytes_);
  }
  Values& values = tensors_[tensor];
  if (iteration == 0) {
    values.first = std::move(value);
  } else {
    values.further.emplace(iteration, std::move(value));
  }
}

TensorValue* TensorPool::Find(uint32_t tensor, uint32_t iteration) {
  Values& values = tensors_[tensor];
  if (iteration == 0) return values.first.has_value() ? &*values.first : nullptr;
  const auto it = values.further.find(iteration);
  return it == values.further.end() ? nullptr : &it->second;
}

TensorBytes TensorPool::EndUse(uint32_t tensor, uint32_t iteration) {
  TensorValue* const value = Find(tensor, iteration);
  if (value == nullptr || value->uses == StepPlan::kUncounted || --value->uses > 0) return {};
  if (value->input == nullptr) Count(bytes_ - value->byte_size());
  TensorBytes bytes = std::move(value->bytes);
  if (iteration == 0) {
    tensors_[tensor].first.reset();
  } else {
    tensors_[tensor].further.erase(iteration);
  }
  return bytes;
}

}  // namespace nereid
