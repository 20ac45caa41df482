// SPDX-License-Identifier: Apache-2.0
// Reads arbitrary bytes as a BYTES tensor. The elements must be within the bytes, and the elements
// of a complete tensor must rebuild the same tensor.
#include <cstdlib>
#include <string>

#include "frontends/codec/binary_tensor.h"
#include "frontends/codec/json_tensor_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view tensor(reinterpret_cast<const char*>(data), size);
  nereid::BytesElements elements(tensor);
  absl::string_view element;
  std::string again;
  int64_t count = 0;
  while (elements.Next(&element)) {
    nereid::AppendBytesElement(element, &again);
    ++count;
  }
  if (tensor.substr(0, again.size()) != again) std::abort();
  if (elements.complete() != (again.size() == size)) std::abort();
  if (nereid::CountBytesElements(tensor).has_value() != elements.complete()) std::abort();
  std::string json;
  using Fault = nereid::JsonTensorFault;
  const Fault fault = nereid::AppendJsonTensor(nereid::DataType::kBytes, tensor, count,
                                               nereid::NonFinite::kLiteral, &json);
  if (fault.ok() && !elements.complete()) std::abort();
  if (fault.kind == Fault::kNotElements && elements.complete()) std::abort();
  if (fault.kind == Fault::kNotUtf8 && fault.element >= count) std::abort();
  return 0;
}
