// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/binary_tensor.h"

#include <cstring>

namespace nereid {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "tensors travel in little-endian order and are not converted");

bool BytesElements::Next(absl::string_view* element) {
  uint32_t length;
  if (rest_.size() < sizeof(length)) return false;
  std::memcpy(&length, rest_.data(), sizeof(length));
  if (rest_.size() - sizeof(length) < length) return false;
  *element = rest_.substr(sizeof(length), length);
  rest_.remove_prefix(sizeof(length) + length);
  return true;
}

std::optional<int64_t> CountBytesElements(absl::string_view tensor) {
  BytesElements elements(tensor);
  absl::string_view element;
  int64_t count = 0;
  while (elements.Next(&element)) ++count;
  if (!elements.complete()) return std::nullopt;
  return count;
}

void AppendBytesElement(absl::string_view element, std::string* tensor) {
  const uint32_t length = static_cast<uint32_t>(element.size());
  tensor->append(reinterpret_cast<const char*>(&length), sizeof(length));
  tensor->append(element.data(), element.size());
}

void PutBytesElement(absl::string_view element, char** at) {
  const auto size = static_cast<uint32_t>(element.size());  // little-endian, as the machine
  std::memcpy(*at, &size, sizeof(size));
  *at += sizeof(size);
  if (!element.empty()) std::memcpy(*at, element.data(), element.size());
  *at += element.size();
}

}  // namespace nereid
