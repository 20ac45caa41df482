// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a model, without a fault, and evaluates what was read. Each reader is a fuzzer
// of its own (CMakeLists.txt).
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "backends/fil/lightgbm.h"
#include "backends/fil/treelite.h"
#include "backends/fil/xgboost.h"

namespace {

// Rows, and features and outputs together, that are evaluated: what is larger takes long and is no
// other code.
constexpr size_t kRows = 3;
constexpr size_t kMostEvaluated = 1 << 16;

void Evaluate(const nereid_backend::Forest& forest) {
  if (forest.features() + forest.outputs() > kMostEvaluated) return;
  constexpr float kValues[] = {0,
                               -1,
                               1e-36f,
                               2.5f,
                               1e30f,
                               -std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> rows(kRows * forest.features());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = kValues[i % std::size(kValues)];
  std::vector<float> scores(kRows * forest.outputs());
  forest.Scores(rows.data(), kRows, scores.data());
  std::vector<float> classes(kRows);
  forest.Classes(rows.data(), kRows, classes.data());
  for (const float one : classes) {
    if (!(one >= 0) || one >= static_cast<float>(forest.outputs())) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto forest = nereid_backend::NEREID_FIL_READER(bytes);
  if (forest.ok()) Evaluate(*forest);
  return 0;
}
