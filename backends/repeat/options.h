// SPDX-License-Identifier: Apache-2.0
// Nothing can be given to the backend repeat or to its models. Constants.
#ifndef NEREID_BACKENDS_REPEAT_OPTIONS_H_
#define NEREID_BACKENDS_REPEAT_OPTIONS_H_

#include "backends/sdk/option_table.h"

namespace nereid_backend {

inline constexpr BackendOptions kRepeatOptions = {"repeat", {}, {}};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_REPEAT_OPTIONS_H_
