// SPDX-License-Identifier: Apache-2.0
// The evaluator of the backend fil in a loop: `trees_loop MODEL ROWS SCORES BATCH SECONDS`.
//
// MODEL is a file of XGBoost (.json), LightGBM (.txt) or Treelite (.tl), ROWS holds floats. Writes
// the scores of all rows to SCORES, then computes batches of BATCH rows, each batch other rows, for
// SECONDS. Prints rows per second.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "backends/fil/lightgbm.h"
#include "backends/fil/treelite.h"
#include "backends/fil/xgboost.h"

namespace {

using nereid_backend::Forest;
using nereid_backend::Result;

std::string ReadAll(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return std::move(bytes).str();
}

Result<Forest> ReadModel(std::string_view path, std::string_view bytes) {
  if (path.ends_with(".json")) return nereid_backend::ReadXgboostJson(bytes);
  if (path.ends_with(".tl")) return nereid_backend::ReadTreelite(bytes);
  return nereid_backend::ReadLightgbm(bytes);
}

double RowsPerSecond(const Forest& forest, const std::vector<float>& rows, size_t batch,
                     double seconds, float* scores) {
  const size_t count = rows.size() / forest.features();
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::chrono::duration<double> passed{};
  size_t first = 0, done = 0;
  while (passed.count() < seconds) {
    forest.Scores(rows.data() + first * forest.features(), batch, scores);
    done += batch;
    first = first + 2 * batch <= count ? first + batch : 0;
    passed = Clock::now() - start;
  }
  return static_cast<double>(done) / passed.count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: trees_loop MODEL ROWS SCORES BATCH SECONDS\n";
    return 2;
  }
  Result<Forest> forest = ReadModel(argv[1], ReadAll(argv[1]));
  if (!forest.ok()) {
    std::cerr << "trees_loop: " << argv[1] << ": " << forest.error().message() << "\n";
    return 1;
  }
  const std::string bytes = ReadAll(argv[2]);
  std::vector<float> rows(bytes.size() / sizeof(float));
  std::memcpy(rows.data(), bytes.data(), rows.size() * sizeof(float));
  const size_t count = rows.size() / forest->features();
  const auto batch = static_cast<size_t>(std::atoll(argv[4]));
  if (batch == 0 || batch > count) {
    std::cerr << "trees_loop: BATCH is " << batch << "; it has to be from 1 to the " << count
              << " rows\n";
    return 2;
  }
  std::vector<float> scores(count * forest->outputs());
  forest->Scores(rows.data(), count, scores.data());
  std::ofstream(argv[3], std::ios::binary)
      .write(reinterpret_cast<const char*>(scores.data()),
             static_cast<std::streamsize>(scores.size() * sizeof(float)));
  std::cout << RowsPerSecond(*forest, rows, batch, std::atof(argv[5]), scores.data()) << "\n";
  return 0;
}
