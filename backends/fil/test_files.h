// SPDX-License-Identifier: Apache-2.0
// The models in testdata, for tests.
#ifndef NEREID_BACKENDS_FIL_TEST_FILES_H_
#define NEREID_BACKENDS_FIL_TEST_FILES_H_

#include <fstream>
#include <sstream>
#include <string>

#include "backends/fil/lightgbm.h"
#include "backends/fil/treelite.h"
#include "backends/fil/xgboost.h"

namespace nereid_backend {

inline std::string ReadTestFile(const std::string& name) {
  std::ifstream file(std::string(NEREID_FIL_TESTDATA "/") + name, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return std::move(bytes).str();
}

// By the reader that the name asks for.
inline Result<Forest> ReadTestModel(const std::string& name, const std::string& bytes) {
  if (name.ends_with(".json")) return ReadXgboostJson(bytes);
  if (name.ends_with(".tl")) return ReadTreelite(bytes);
  if (name.ends_with(".ubj")) return ReadXgboostUbjson(bytes);
  return ReadLightgbm(bytes);
}

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_FIL_TEST_FILES_H_
