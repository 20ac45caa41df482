// SPDX-License-Identifier: Apache-2.0
// Tensors of strings: a length of 4 bytes, little-endian, before each element. All REQUIRE the GIL.
#ifndef NEREID_BACKENDS_SDK_PYTHON_STRINGS_H_
#define NEREID_BACKENDS_SDK_PYTHON_STRINGS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/python/numpy_interface.h"
#include "backends/sdk/python/python_api.h"

namespace nereid_python {

// The elements of an array of objects or of fixed-size bytes, contiguous in C order. Objects other
// than bytes become str(object) in UTF-8. False with an exception.
bool SerializeStrings(const ArrayInterface& array, std::string* bytes);
// A new array of bytes objects. None with an exception, or, if the bytes are not valid strings,
// without one and with the reason in `*why`.
Ref DecodeStrings(const std::vector<int64_t>& shape, std::string_view bytes, const char** why);

}  // namespace nereid_python

#endif  // NEREID_BACKENDS_SDK_PYTHON_STRINGS_H_
