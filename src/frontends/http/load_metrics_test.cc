// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/load_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid {
namespace {

using ::testing::Eq;
using ::testing::Optional;

constexpr LoadMetricsFormat kText = LoadMetricsFormat::kText;
constexpr LoadMetricsFormat kJson = LoadMetricsFormat::kJson;

CustomValue Blocks(const std::string& model, const std::string& type, double value) {
  return {{{"model", model}, {"kv_cache_block_type", type}}, value};
}

std::vector<CustomValue> CacheOf(const std::string& model, double used, double max) {
  return {Blocks(model, "used", used), Blocks(model, "max", max), Blocks(model, "tokens_per", 64),
          Blocks(model, "free", max - used)};
}

TEST(LoadMetricsTest, BothFormats) {
  const std::vector<CustomValue> values = CacheOf("llm", 1, 4);
  EXPECT_THAT(LoadMetricsText(kText, values),
              Optional(Eq("TEXT named_metrics.kv_cache_utilization=0.250000, "
                          "named_metrics.max_token_capacity=256")));
  EXPECT_THAT(LoadMetricsText(kJson, values),
              Optional(Eq(R"(JSON {"named_metrics":{"kv_cache_utilization":0.25,)"
                          R"("max_token_capacity":256}})")));
  EXPECT_EQ(LoadMetricsText(LoadMetricsFormat::kNone, values), std::nullopt);
}

TEST(LoadMetricsTest, CachesOfSeveralModelsCountTogether) {
  std::vector<CustomValue> values = CacheOf("a", 1, 4);
  for (const CustomValue& value : CacheOf("b", 5, 8)) values.push_back(value);
  EXPECT_THAT(LoadMetricsText(kText, values),
              Optional(Eq("TEXT named_metrics.kv_cache_utilization=0.500000, "
                          "named_metrics.max_token_capacity=768")));
}

TEST(LoadMetricsTest, NothingIsToldOfAnIncompleteCache) {
  EXPECT_EQ(LoadMetricsText(kText, {}), std::nullopt);
  const std::vector<CustomValue> values = {
      Blocks("llm", "used", 1), Blocks("llm", "max", 4), {{{"model", "llm"}}, 7}};
  EXPECT_EQ(LoadMetricsText(kText, values), std::nullopt);
  EXPECT_EQ(LoadMetricsText(kText, CacheOf("llm", 1, 1e30)), std::nullopt);
  EXPECT_EQ(LoadMetricsText(kText, CacheOf("llm", 1, -1)), std::nullopt);
}

TEST(LoadMetricsTest, ACacheWithoutBlocksIsEmpty) {
  EXPECT_THAT(LoadMetricsText(kJson, CacheOf("llm", 0, 0)),
              Optional(Eq(R"(JSON {"named_metrics":{"kv_cache_utilization":0.0,)"
                          R"("max_token_capacity":0}})")));
}

}  // namespace
}  // namespace nereid
