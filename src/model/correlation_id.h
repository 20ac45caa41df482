// SPDX-License-Identifier: Apache-2.0
// CorrelationId: names the sequence that a request belongs to: none, an unsigned number or a
// string. A number and a string are distinct ids even if they read alike. A plain value.
#ifndef NEREID_MODEL_CORRELATION_ID_H_
#define NEREID_MODEL_CORRELATION_ID_H_

#include <absl/strings/str_cat.h>

#include <cstdint>
#include <string>
#include <variant>

#include "model/copy_variant.h"

namespace nereid {

inline constexpr size_t kMaxCorrelationIdLength = 128;

class CorrelationId {
 public:
  CorrelationId() = default;
  CorrelationId(const CorrelationId& other) : id_(CopyVariant(other.id_)) {}
  CorrelationId(CorrelationId&&) = default;
  CorrelationId& operator=(const CorrelationId& other) { return *this = CorrelationId(other); }
  CorrelationId& operator=(CorrelationId&&) = default;
  explicit CorrelationId(uint64_t id) : id_(id) {}
  explicit CorrelationId(std::string id) : id_(std::move(id)) {}

  bool is_string() const { return std::holds_alternative<std::string>(id_); }
  // False for 0 and for "": the request belongs to no sequence.
  bool present() const { return is_string() ? !string_value().empty() : uint_value() != 0; }
  // REQUIRES: !is_string()
  uint64_t uint_value() const { return std::get<uint64_t>(id_); }
  // REQUIRES: is_string()
  const std::string& string_value() const { return std::get<std::string>(id_); }
  std::string ToString() const { return is_string() ? string_value() : absl::StrCat(uint_value()); }

  friend bool operator==(const CorrelationId&, const CorrelationId&) = default;
  // An arbitrary but fixed order.
  friend bool operator<(const CorrelationId& a, const CorrelationId& b) { return a.id_ < b.id_; }

 private:
  std::variant<uint64_t, std::string> id_ = uint64_t{0};
};

}  // namespace nereid

#endif  // NEREID_MODEL_CORRELATION_ID_H_
