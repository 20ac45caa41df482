// SPDX-License-Identifier: Apache-2.0
// Compile-time comparison of what the public headers declare with what they must declare.
// Immutable.
#ifndef NEREID_TESTS_CONFORMANCE_CAPI_SAME_TYPE_H_
#define NEREID_TESTS_CONFORMANCE_CAPI_SAME_TYPE_H_

#include <type_traits>

// The function `name` has exactly this type.
#define NEREID_SAME(name, ...) \
  static_assert(std::is_same_v<decltype(name), __VA_ARGS__>, "signature of " #name)

// The type `name` is exactly this type.
#define NEREID_SAME_TYPE(name, ...) \
  static_assert(std::is_same_v<name, __VA_ARGS__>, "definition of " #name)

#endif  // NEREID_TESTS_CONFORMANCE_CAPI_SAME_TYPE_H_
