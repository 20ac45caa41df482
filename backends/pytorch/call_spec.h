// SPDX-License-Identifier: Apache-2.0
// Reads the call specification of an AOTInductor package: how the nested arguments and results of
// the exported program map to the flat lists that a run takes and returns. Pure.
#ifndef NEREID_BACKENDS_PYTORCH_CALL_SPEC_H_
#define NEREID_BACKENDS_PYTORCH_CALL_SPEC_H_

#include <string>
#include <string_view>
#include <vector>

#include "backends/pytorch/forward.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

// `in_spec` and `out_spec` as PyTorch writes them, JSON. Each leaf is a tensor, in order, with the
// path as its name: ARGS[0], ARGS[2][key], KWARGS[name]; RESULT, RESULT[0], RESULT[key][1]. An item
// directly in KWARGS or in a dictionary of results has its key as another name.
Result<Forward> ReadCallSpec(std::string_view in_spec, std::string_view out_spec);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_CALL_SPEC_H_
