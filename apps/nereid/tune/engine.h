// Engine: what computes a model's executions, as far as `nereid tune` varies it. Plain values and
// pure functions.
#ifndef NEREID_APPS_NEREID_TUNE_ENGINE_H_
#define NEREID_APPS_NEREID_TUNE_ENGINE_H_

#include <absl/strings/string_view.h>

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "config/compiled_model.h"

namespace nereid {

struct Engine {
  int32_t threads = 0;  // of an execution; 0: as many as the backend chooses

  friend auto operator<=>(const Engine&, const Engine&) = default;
};

// "2 threads"; empty: the backend chooses.
std::string NameOf(const Engine& engine);

// The parameter of a model with which `backend` takes the number of threads; empty: there is none.
std::string ThreadParameterOf(absl::string_view backend);

// As the model is configured.
Engine EngineOf(const CompiledModel& model);
// Today's engine first, then those with other numbers of threads: `asked`; if that is empty 1, 2, 4
// ... and as many as there are `processors`, which is also what backends choose.
std::vector<Engine> EnginesFor(const CompiledModel& model, int processors,
                               const std::vector<int>& asked);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_TUNE_ENGINE_H_
