// SPDX-License-Identifier: Apache-2.0
// What can be given to the models of the backend identity. Constants.
#ifndef NEREID_BACKENDS_IDENTITY_OPTIONS_H_
#define NEREID_BACKENDS_IDENTITY_OPTIONS_H_

#include "backends/sdk/option_table.h"

namespace nereid_backend {

inline constexpr OptionSpec kIdentityParameters[] = {
    TextOption("execute_delay_ms"),
    IntegerOption("execute_delay_row_us", 0, int64_t{60} * 1000 * 1000),
    IntegerOption("execute_delay_seed", INT64_MIN / 2, INT64_MAX / 2),
};

inline constexpr BackendOptions kIdentityOptions = {"identity", kIdentityParameters, {}};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_IDENTITY_OPTIONS_H_
