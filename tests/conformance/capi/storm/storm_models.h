// SPDX-License-Identifier: Apache-2.0
// The models of the storm, and random requests for them with their right answers. The random
// choices depend only on the generator. Functions are thread-safe.
#ifndef NEREID_TESTS_CONFORMANCE_CAPI_STORM_STORM_MODELS_H_
#define NEREID_TESTS_CONFORMANCE_CAPI_STORM_STORM_MODELS_H_

#include <random>
#include <string>
#include <vector>

#include "tests/conformance/capi/harness.h"
#include "tests/conformance/capi/storm/storm_call.h"

namespace nereid_test {

using StormRandom = std::mt19937_64;

// A whole number in low..high.
int Draw(StormRandom* random, int low, int high);

// Loaded and unloaded while requests are sent to it; the others stay loaded.
inline constexpr char kChangingModel[] = "changing";
// Its load fails.
inline constexpr char kBrokenModel[] = "broken";

// Writes all models, and returns the names of those that receive requests.
std::vector<std::string> AddStormModels(Repository* repository);
// REQUIRES: one of those names.
StormRequest RandomRequest(const std::string& model, StormRandom* random);

}  // namespace nereid_test

#endif  // NEREID_TESTS_CONFORMANCE_CAPI_STORM_STORM_MODELS_H_
