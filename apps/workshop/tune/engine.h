// SPDX-License-Identifier: Apache-2.0
// Engine: what computes a model's executions, as far as `nereid tune` varies it. Plain values and
// pure functions.
#ifndef NEREID_APPS_WORKSHOP_TUNE_ENGINE_H_
#define NEREID_APPS_WORKSHOP_TUNE_ENGINE_H_

#include <absl/strings/string_view.h>

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "config/compiled_model.h"

namespace nereid {

struct Engine {
  int32_t threads = 0;  // of an execution; 0: as many as the backend chooses
  std::string backend;  // empty: today's

  friend auto operator<=>(const Engine&, const Engine&) = default;
};

// "openvino with 2 threads", or one of these; empty: today's backend, which chooses.
std::string NameOf(const Engine& engine);

// The parameter of a model with which `backend` takes the number of threads; empty: there is none.
std::string ThreadParameterOf(absl::string_view backend);

// Those of the backends in `directory` that the server would find as a library. Blocks on file I/O.
std::set<std::string> InstalledBackends(const std::string& directory);
// Other backends than the model's that read its file, of those that are `installed`.
std::vector<std::string> OtherBackendsFor(const CompiledModel& model,
                                          const std::set<std::string>& installed);

// As the model is configured.
Engine EngineOf(const CompiledModel& model);
// Today's engine first, then those with other numbers of threads: `asked`; if that is empty 1, 2, 4
// ... and as many as there are `processors`, which is also what backends choose. Then the same for
// `other_backends`.
std::vector<Engine> EnginesFor(const CompiledModel& model, int processors,
                               const std::vector<int>& asked,
                               const std::vector<std::string>& other_backends);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_ENGINE_H_
