// SPDX-License-Identifier: Apache-2.0
#include "config/parsed_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing/config_text.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

ParsedConfig Parsed(absl::string_view text, bool provided = true) {
  return ParsedConfig(std::make_unique<inference::ModelConfig>(ConfigFromText(text)), provided);
}

constexpr char kInputJson[] = R"({"input":[{"name":"I","data_type":"TYPE_FP32","dims":[4]}]})";

TEST(ParsedConfigTest, TellsWhatItHolds) {
  const ParsedConfig config = Parsed(
      "name: 'm' platform: 'p' backend: 'b' runtime: 'r' default_model_filename: 'f' "
      "optimization { cuda { } }");
  EXPECT_EQ(config.name(), "m");
  EXPECT_EQ(config.platform(), "p");
  EXPECT_EQ(config.backend(), "b");
  EXPECT_EQ(config.runtime(), "r");
  EXPECT_EQ(config.default_model_filename(), "f");
  EXPECT_THAT(config.Json(), HasSubstr(R"("version_policy":{"latest":{"num_versions":1}})"));
  EXPECT_THAT(config.notes(), ElementsAre(HasSubstr("'optimization.cuda'")));
}

TEST(ParsedConfigTest, VersionPolicies) {
  using Kind = VersionPolicy::Kind;
  EXPECT_EQ(Parsed("name: 'm'").version_policy().latest, 1u);
  EXPECT_EQ(Parsed("version_policy { latest { num_versions: 2 } }").version_policy().latest, 2u);
  EXPECT_EQ(Parsed("version_policy { all { } }").version_policy().kind, Kind::kAll);
  const VersionPolicy specific =
      Parsed("version_policy { specific { versions: [ 3, 1 ] } }").version_policy();
  EXPECT_EQ(specific.kind, Kind::kSpecific);
  EXPECT_THAT(specific.versions, ElementsAre(3, 1));
}

TEST(ParsedConfigTest, CopiesAreIndependent) {
  const ParsedConfig original = Parsed("name: 'm' backend: 'b'");
  ParsedConfig copy = original;
  ASSERT_EQ(copy.MergeBackendUpdate(1, kInputJson), absl::OkStatus());
  EXPECT_THAT(copy.Json(), HasSubstr(R"("dims":[4])"));
  EXPECT_THAT(original.Json(), HasSubstr(R"("input":[])"));
  copy = original;
  EXPECT_EQ(copy.Json(), original.Json());
}

TEST(ParsedConfigTest, InstanceGroupsAreNormalisedAndChecked) {
  ParsedConfig good = Parsed("name: 'm' backend: 'b'");
  ASSERT_EQ(good.NormalizeInstanceGroups({{{InstanceKind::kCpu, 3, {}}}, {}}), absl::OkStatus());
  EXPECT_EQ(good.Compile(1).value().instances.size(), 3u);

  ParsedConfig bad = Parsed("name: 'm' backend: 'b' instance_group { gpus: 1 }");
  EXPECT_EQ(bad.NormalizeInstanceGroups({}),
            absl::InvalidArgumentError("instance group m_0 of model m has kind KIND_CPU but "
                                       "specifies one or more GPUs (instance_group[0].gpus: remove "
                                       "it)"));
}

TEST(ParsedConfigTest, BackendCompletesTensorsBatchingAndTransactions) {
  ParsedConfig config = Parsed("name: 'm' backend: 'b' max_batch_size: 1 input { name: 'old' }");
  ASSERT_EQ(config.NormalizeInstanceGroups({}), absl::OkStatus());
  ASSERT_EQ(
      config.MergeBackendUpdate(
          1, R"({"name":"other","max_batch_size":8,"dynamic_batching":{},)"
             R"("input":[{"name":"I","data_type":"TYPE_FP32","dims":["4"]}],)"
             R"("output":[{"name":"O","data_type":"TYPE_FP32","dims":[4]}],)"
             R"("model_transaction_policy":{"decoupled":true},"instance_group":[{"count":9}]})"),
      absl::OkStatus());
  const CompiledModel model = config.Compile(1).value();
  EXPECT_EQ(model.name, "m");
  EXPECT_EQ(model.max_batch_size, 8);
  ASSERT_EQ(model.inputs.size(), 1u);
  EXPECT_EQ(model.inputs[0].name, "I");
  EXPECT_EQ(model.outputs.size(), 1u);
  EXPECT_TRUE(model.decoupled);
  EXPECT_EQ(model.instances.size(), 1u);
  EXPECT_TRUE(model.batching.enabled);
  EXPECT_THAT(model.batching.preferred_batch_sizes, ElementsAre(8));
}

TEST(ParsedConfigTest, BackendAddsWhatTheOpenAiRoutesWantToKnow) {
  ParsedConfig config = Parsed(
      "name: 'm' backend: 'b' parameters { key: 'openai.takes' value { string_value: 'n' } }");
  ASSERT_EQ(
      config.MergeBackendUpdate(1, R"({"parameters":{"openai.takes":{"string_value":"top_k"},)"
                                   R"("openai.chat_template":{"string_value":"chatml"},)"
                                   R"("other":{"string_value":"1"}}})"),
      absl::OkStatus());
  ASSERT_EQ(config.NormalizeInstanceGroups({}), absl::OkStatus());
  EXPECT_THAT(
      config.Compile(1).value().parameters,
      UnorderedElementsAre(Pair("openai.takes", "n"), Pair("openai.chat_template", "chatml")));
}

TEST(ParsedConfigTest, BackendMayNotChangeTheScheduler) {
  ParsedConfig config = Parsed(
      "name: 'm' backend: 'b' max_batch_size: 8 dynamic_batching { preferred_batch_size: 2 }");
  const std::string before = config.Json();
  EXPECT_EQ(config.MergeBackendUpdate(1, R"({"sequence_batching":{}})"),
            absl::InternalError("Cannot update scheduling choice from 11 to 11 when "
                                "auto-completing."));
  EXPECT_EQ(config.Json(), before);
  ASSERT_EQ(config.MergeBackendUpdate(
                1, R"({"max_batch_size":8,"dynamic_batching":{"preferred_batch_size":[4]}})"),
            absl::OkStatus());
  EXPECT_THAT(config.Json(), HasSubstr(R"("preferred_batch_size":[2])"));
}

TEST(ParsedConfigTest, BadUpdatesChangeNothing) {
  ParsedConfig config = Parsed("name: 'm' backend: 'b'", /*provided=*/false);
  EXPECT_EQ(config.MergeBackendUpdate(2, kInputJson),
            absl::InvalidArgumentError("model configuration version 2 not supported, supported "
                                       "versions are: 1"));
  EXPECT_TRUE(absl::IsInvalidArgument(config.MergeBackendUpdate(1, "{")));
  EXPECT_TRUE(absl::IsNotFound(config.Compile(1).status()));
}

TEST(ParsedConfigTest, SomeoneMustProvideTheConfiguration) {
  ParsedConfig config = Parsed("name: 'm' backend: 'b'", /*provided=*/false);
  ASSERT_EQ(config.NormalizeInstanceGroups({}), absl::OkStatus());
  EXPECT_EQ(config.Compile(1).status(),
            absl::NotFoundError("model configuration is not provided for model 'm'"));
  ASSERT_EQ(config.MergeBackendUpdate(1, kInputJson), absl::OkStatus());
  EXPECT_TRUE(config.Compile(1).ok());
}

TEST(ParsedConfigTest, CompileReportsAllProblems) {
  ParsedConfig config = Parsed(
      "name: 'm' backend: 'b' max_batch_size: 4 dynamic_batching { preferred_batch_size: 5 "
      "preserve_ordering: true } metric_tags { key: 'my-team' } input { name: 'I' dims: 0 }");
  ASSERT_EQ(config.NormalizeInstanceGroups({}), absl::OkStatus());
  const absl::Status status = config.Compile(1).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()),
              ::testing::StartsWith("the configuration of model 'm' has 4 problems:\n  1. dynamic "
                                    "batching preferred size must be <= max batch size for m "));
}

}  // namespace
}  // namespace nereid
