// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/tensor_io.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/CPUAllocator.h>

#include <cstring>

#include "backends/pytorch/types.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {
namespace {

at::TensorOptions OptionsOf(const RunInput& input) {
  return at::TensorOptions().dtype(*ToTorchType(input.tensor->type));
}

Error TakeStrings(const c10::IValue& value, RunOutput* output) {
  const c10::ArrayRef<c10::IValue> list = value.toListRef();
  output->elements.clear();
  for (const c10::IValue& element : list) output->elements.push_back(element.toStringView());
  output->shape = {static_cast<int64_t>(list.size())};
  return Error();
}

bool IsListOfStrings(const c10::IValue& value) {
  return value.isList() && value.toList().elementType()->kind() == c10::TypeKind::StringType;
}

Error WrongType(const RunOutput& output, std::string_view found) {
  return Error::InvalidArg(StrCat("configuration expects datatype ",
                                  ConfigTypeName(output.tensor->type), " for output '",
                                  output.tensor->name, "', model provides ", found));
}

}  // namespace

at::Tensor ViewInput(RunInput* input) {
  // PyTorch takes a pointer to non-const. Arguments that a network may write to are copied.
  char* const data = const_cast<char*>(input->Contiguous(input->tensor->element_size));
  return at::from_blob(data, input->shape, OptionsOf(*input));
}

at::Tensor CopyInput(const RunInput& input) {
  at::Tensor tensor = at::empty(input.shape, OptionsOf(input));
  CopyPieces(input.pieces, static_cast<char*>(tensor.mutable_data_ptr()));
  return tensor;
}

c10::IValue ListInput(const RunInput& input) {
  c10::List<std::string> list;
  list.reserve(input.elements.size());
  for (const std::string_view element : input.elements) list.push_back(std::string(element));
  return list;
}

void LetGo(at::Tensor* tensor) {
  const c10::Storage storage = tensor->storage();
  tensor->reset();
  if (storage.use_count() == 1) return;
  const size_t size = storage.nbytes();
  at::DataPtr copy = c10::GetCPUAllocator()->allocate(size);
  if (size > 0) std::memcpy(copy.mutable_get(), storage.data(), size);
  storage.set_data_ptr_noswap(std::move(copy));
}

Error TakeOutput(const c10::IValue& value, RunOutput* output, at::Tensor* kept) {
  const bool strings = output->tensor->element_size == 0;
  if (IsListOfStrings(value)) {
    return strings ? TakeStrings(value, output) : WrongType(*output, "TYPE_STRING");
  }
  if (!value.isTensor()) {
    return Error::Internal(StrCat("output '", output->tensor->name,
                                  "' must be of type Tensor or List[str], received ",
                                  value.type()->annotation_str()));
  }
  const at::Tensor& tensor = value.toTensor();
  if (!tensor.defined()) {
    return Error::Internal(StrCat("output tensor '", output->tensor->name, "' is not found"));
  }
  const TRITONSERVER_DataType type = FromTorchType(tensor.scalar_type());
  if (type != output->tensor->type) {
    return WrongType(*output, type == TRITONSERVER_TYPE_INVALID
                                  ? std::string(c10::toString(tensor.scalar_type()))
                                  : ConfigTypeName(type));
  }
  if (tensor.layout() != c10::Layout::Strided || !tensor.device().is_cpu()) {
    return Error::Internal(
        StrCat("output '", output->tensor->name, "' is not a dense tensor in CPU memory"));
  }
  // Also resolves tensors that are only marked as conjugated or negated.
  *kept = tensor.resolve_conj().resolve_neg().contiguous();
  output->shape.assign(kept->sizes().begin(), kept->sizes().end());
  output->data = static_cast<const char*>(kept->const_data_ptr());
  return Error();
}

}  // namespace nereid_backend
