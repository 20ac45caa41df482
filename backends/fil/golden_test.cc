// SPDX-License-Identifier: Apache-2.0
// The models that testdata/make.py trained, against what their libraries predict: bit by bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "backends/fil/test_files.h"
#include "backends/sdk/json.h"

namespace nereid_backend {
namespace {

std::vector<float> Floats(const Json& rows) {
  std::vector<float> values;
  for (const Json& row : rows.items()) {
    for (const Json& value : row.items()) {
      values.push_back(value.is_null() ? std::numeric_limits<float>::quiet_NaN()
                                       : static_cast<float>(value.AsDouble()));
    }
  }
  return values;
}

Result<Forest> Load(const std::string& file) { return ReadTestModel(file, ReadTestFile(file)); }

TEST(GoldenTest, PredictionsAreThoseOfTheLibraries) {
  std::istringstream golden(ReadTestFile("golden.jsonl"));
  std::string line;
  ASSERT_TRUE(std::getline(golden, line));
  const Result<Json> first = Json::Parse(line);
  ASSERT_TRUE(first.ok());
  const std::vector<float> rows = Floats((*first)["rows"]);
  const size_t count = (*first)["rows"].items().size();
  int models = 0;
  while (std::getline(golden, line)) {
    const Result<Json> entry = Json::Parse(line);
    ASSERT_TRUE(entry.ok());
    const std::string file = (*entry)["file"].AsString();
    SCOPED_TRACE(file);
    Result<Forest> forest = Load(file);
    ASSERT_TRUE(forest.ok()) << forest.error().message();
    ASSERT_EQ(forest->features() * count, rows.size());
    const std::vector<float> expected = Floats((*entry)["predicted"]);
    std::vector<float> predicted(count * forest->outputs());
    forest->Scores(rows.data(), count, predicted.data());
    if (forest->transform.predicts_classes && forest->outputs() > 1) {
      predicted.resize(count);
      forest->Classes(rows.data(), count, predicted.data());
    }
    ASSERT_EQ(predicted.size(), expected.size());
    size_t differing = 0;
    for (size_t i = 0; i < expected.size(); ++i) differing += predicted[i] != expected[i] ? 1 : 0;
    EXPECT_EQ(differing, 0) << "of " << expected.size() << "; the first: " << predicted[0]
                            << " for " << expected[0];
    ++models;
  }
  EXPECT_EQ(models, 39);
}

TEST(GoldenTest, RowsInBlocksAndOneByOneGiveTheSame) {
  Result<Forest> forest = Load("xgb_softprob.ubj");
  ASSERT_TRUE(forest.ok());
  constexpr size_t kCount = 300;
  std::vector<float> rows(kCount * forest->features());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = std::sin(static_cast<float>(i));
  std::vector<float> together(kCount * 3);
  forest->Scores(rows.data(), kCount, together.data());
  for (size_t i = 0; i < kCount; ++i) {
    float alone[3];
    forest->Scores(rows.data() + i * forest->features(), 1, alone);
    EXPECT_EQ(memcmp(alone, together.data() + i * 3, sizeof(alone)), 0) << i;
  }
}

}  // namespace
}  // namespace nereid_backend
