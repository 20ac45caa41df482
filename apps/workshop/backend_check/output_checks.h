// SPDX-License-Identifier: Apache-2.0
// What an output tensor has to be, by itself and by the model's configuration. Pure function.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_OUTPUT_CHECKS_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_OUTPUT_CHECKS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "config/compiled_model.h"
#include "infer/response.h"

namespace nereid {

// The findings about `output`, each with its kind (findings.h) and details; `batch_size`: rows of
// the request, 0 if they do not matter.
std::vector<std::pair<const char*, std::string>> CheckOutput(const CompiledModel& model,
                                                             const ResponseOutput& output,
                                                             int64_t batch_size);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_OUTPUT_CHECKS_H_
