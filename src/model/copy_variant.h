// CopyVariant: a copy of a variant that may throw. The copy constructor of libstdc++ 12 must not:
// it takes a variant with a std::string to be never without a value, and where the string's copy
// throws it destroys one that never was. Moving is safe. Stateless.
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
        Value copy = value;  // what may throw, with no variant around it
        return std::variant<T...>(std::in_place_type<Value>, std::move(copy));
      },
      from);
}

}  // namespace nereid

#endif  // NEREID_MODEL_COPY_VARIANT_H_
