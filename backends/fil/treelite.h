// SPDX-License-Identifier: Apache-2.0
// Reads checkpoints of Treelite, in the fourth version of its format. Pure.
#ifndef NEREID_BACKENDS_FIL_TREELITE_H_
#define NEREID_BACKENDS_FIL_TREELITE_H_

#include <string_view>

#include "backends/fil/forest.h"

namespace nereid_backend {

// INVALID_ARG if `bytes` is not a checkpoint, UNSUPPORTED if it is one that cannot be evaluated
// here. The text says what is wrong with "it".
Result<Forest> ReadTreelite(std::string_view bytes);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_FIL_TREELITE_H_
