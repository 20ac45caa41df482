// SPDX-License-Identifier: Apache-2.0
// BYTES tensors in their wire format: for each element its length as a little-endian uint32, then
// its bytes. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_BINARY_TENSOR_H_
#define NEREID_FRONTENDS_CODEC_BINARY_TENSOR_H_

#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace nereid {

// Walks the elements of a BYTES tensor; a view, thread-compatible.
//
//   BytesElements elements(tensor);
//   absl::string_view element;
//   while (elements.Next(&element)) ...;
//   if (!elements.complete()) -> the tensor ends within an element
class BytesElements {
 public:
  explicit BytesElements(absl::string_view tensor) : rest_(tensor) {}

  // False at the end, or if the rest is not a complete element.
  bool Next(absl::string_view* element);
  // True once every byte has been part of an element.
  bool complete() const { return rest_.empty(); }

 private:
  absl::string_view rest_;
};

// Number of elements; none if `tensor` ends within one.
std::optional<int64_t> CountBytesElements(absl::string_view tensor);

// REQUIRES: element.size() fits a uint32.
void AppendBytesElement(absl::string_view element, std::string* tensor);
// Writes it to `*at`, where there is room for it, and moves `*at` behind it.
void PutBytesElement(absl::string_view element, char** at);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_BINARY_TENSOR_H_
