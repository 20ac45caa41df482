// SPDX-License-Identifier: Apache-2.0
// CopyVariant: copies a variant whose copy may throw. The copy constructor of libstdc++ 12 is
// unsafe here: it assumes that a variant with a std::string always holds a value, and if copying
// the string throws it destroys a value that was never constructed. Moving is safe. Stateless.
#ifndef NEREID_MODEL_COPY_VARIANT_H_
#define NEREID_MODEL_COPY_VARIANT_H_

#include <type_traits>
#include <utility>
#include <variant>

namespace nereid {

template <typename... T>
std::variant<T...> CopyVariant(const std::variant<T...>& from) {
  return std::visit(
      [](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        Value copy = value;  // may throw, but outside any variant
        return std::variant<T...>(std::in_place_type<Value>, std::move(copy));
      },
      from);
}

}  // namespace nereid

#endif  // NEREID_MODEL_COPY_VARIANT_H_
