// SPDX-License-Identifier: Apache-2.0
// Reads models that LightGBM saved as text. Pure.
#ifndef NEREID_BACKENDS_FIL_LIGHTGBM_H_
#define NEREID_BACKENDS_FIL_LIGHTGBM_H_

#include <string_view>

#include "backends/fil/forest.h"

namespace nereid_backend {

// INVALID_ARG if `text` is not a model of LightGBM, UNSUPPORTED if it is one that cannot be
// evaluated here. The text says what is wrong with "it".
Result<Forest> ReadLightgbm(std::string_view text);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_FIL_LIGHTGBM_H_
