// SPDX-License-Identifier: Apache-2.0
// Reads models that XGBoost saved as JSON or UBJSON. Pure.
#ifndef NEREID_BACKENDS_FIL_XGBOOST_H_
#define NEREID_BACKENDS_FIL_XGBOOST_H_

#include <string_view>

#include "backends/fil/forest.h"

namespace nereid_backend {

// INVALID_ARG if `bytes` is not a model of XGBoost, UNSUPPORTED if it is one that cannot be
// evaluated here. The text says what is wrong with "it".
Result<Forest> ReadXgboostJson(std::string_view bytes);
Result<Forest> ReadXgboostUbjson(std::string_view bytes);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_FIL_XGBOOST_H_
