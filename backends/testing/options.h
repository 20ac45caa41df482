// SPDX-License-Identifier: Apache-2.0
// What can be given to the models of the backend testing. Constants.
#ifndef NEREID_BACKENDS_TESTING_OPTIONS_H_
#define NEREID_BACKENDS_TESTING_OPTIONS_H_

#include "backends/sdk/option_table.h"

namespace nereid_backend {

inline constexpr OptionSpec kTestingParameters[] = {
    TextOption("behaviour"),
    IntegerOption("delay_ms", 0, int64_t{24} * 3600 * 1000),
    WithChoices(IntegerOption("responses", 0, INT32_MAX), "input"),
    IntegerOption("times", 0, INT32_MAX),
    BoolOption("final_with_last"),
    BoolOption("ignores_credit"),
    IntegerOption("batch_sum_limit", 0, INT32_MAX),
};

// Of --backend-config=testing,NAME=VALUE.
inline constexpr OptionSpec kTestingSettings[] = {BoolOption("device-blocking")};

inline constexpr BackendOptions kTestingOptions = {"testing", kTestingParameters, kTestingSettings};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TESTING_OPTIONS_H_
