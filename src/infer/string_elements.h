// SPDX-License-Identifier: Apache-2.0
// The check of a BYTES tensor, whose elements say how long they are. A pure function.
#ifndef NEREID_INFER_STRING_ELEMENTS_H_
#define NEREID_INFER_STRING_ELEMENTS_H_

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <string>

namespace nereid {

// INVALID_ARGUMENT unless `bytes` are exactly `expected` elements. `about`, put into the texts,
// says of what: " for inference input 'x' for model 'm'".
absl::Status CheckStringElements(absl::string_view bytes, int64_t expected,
                                 absl::FunctionRef<std::string()> about);

}  // namespace nereid

#endif  // NEREID_INFER_STRING_ELEMENTS_H_
