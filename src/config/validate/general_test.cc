// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing/config_text.h"
#include "config/validate/checks.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> GeneralProblems(const std::string& text) {
  return ProblemsOf(CheckGeneral, text + " version_policy { latest { num_versions: 1 } }");
}

TEST(CheckGeneralTest, AcceptsGoodConfigurations) {
  EXPECT_THAT(GeneralProblems("name: 'm' backend: 'identity'"), IsEmpty());
  EXPECT_THAT(GeneralProblems("name: 'm' backend: 'onnxruntime' platform: 'onnxruntime_onnx'"),
              IsEmpty());
  EXPECT_THAT(GeneralProblems("name: 'm' backend: 'pytorch' platform: 'torch_aoti'"), IsEmpty());
  EXPECT_THAT(GeneralProblems("name: 'e' platform: 'ensemble'"), IsEmpty());
}

TEST(CheckGeneralTest, NameAndVersionPolicy) {
  EXPECT_THAT(ProblemsOf(CheckGeneral, "backend: 'b'"),
              ElementsAre("name: model configuration must specify 'name'",
                          "version_policy: must specify 'version policy' for "));
}

TEST(CheckGeneralTest, BackendAndPlatform) {
  EXPECT_THAT(GeneralProblems("name: 'm' platform: 'p'"),
              ElementsAre("platform: unexpected platform type 'p' for m"));
  EXPECT_THAT(GeneralProblems("name: 'm' platform: 'ensemble' backend: 'b'"),
              ElementsAre("backend: Ensemble model 'm' must have platform type 'ensemble' and "
                          "empty backend type"));
  EXPECT_THAT(GeneralProblems("name: 'm' platform: 'p' backend: 'onnxruntime'"),
              ElementsAre("platform: unexpected 'platform' and 'backend' pair, got:p, "
                          "onnxruntime"));
  EXPECT_THAT(GeneralProblems("name: 'm' backend: 'tensorflow'"),
              ElementsAre("platform: unexpected 'platform' and 'backend' pair, got:, tensorflow"));
}

TEST(CheckGeneralTest, BatchSize) {
  EXPECT_THAT(GeneralProblems("name: 'm' backend: 'b' max_batch_size: -1"),
              ElementsAre("max_batch_size: 'max_batch_size' must be non-negative value for m"));
}

TEST(CheckGeneralTest, CacheExcludesDecoupled) {
  EXPECT_THAT(GeneralProblems("name: 'm' backend: 'b' response_cache { enable: true } "
                              "model_transaction_policy { decoupled: true }"),
              ElementsAre("response_cache.enable: Response Cache does not currently support model "
                          "m with 'decoupled' transaction policy. Please disable the response "
                          "cache."));
}

// Other names may be meant for the backend or for other software.
TEST(CheckGeneralTest, ParametersWithTheServersPrefixAreKnown) {
  const auto problems = [](const std::string& key) {
    return GeneralProblems("name: 'm' backend: 'b' parameters { key: '" + key +
                           "' value { string_value: 'true' } }");
  };
  EXPECT_THAT(problems("nereid.inline_execution"), IsEmpty());
  EXPECT_THAT(problems("nereid.target_p99_us"), IsEmpty());
  EXPECT_THAT(problems("nereid"), IsEmpty());
  EXPECT_THAT(problems("nereid.inline_executoin"),
              ElementsAre("parameters.nereid.inline_executoin: unknown parameter "
                          "'nereid.inline_executoin' for m"));
}

}  // namespace
}  // namespace nereid
