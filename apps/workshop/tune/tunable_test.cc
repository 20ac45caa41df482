// SPDX-License-Identifier: Apache-2.0
#include "tune/tunable.h"

#include <gmock/gmock.h>

namespace nereid {
namespace {

using ::testing::HasSubstr;

CompiledModel Batched() {
  CompiledModel model;
  model.name = "m";
  model.backend = "identity";
  model.max_batch_size = 4;
  return model;
}

std::string Refusal(const CompiledModel& model) {
  return std::string(CheckTunable(model).message());
}

TEST(CheckTunable, RefusesWhatItCannotJudge) {
  CompiledModel model = Batched();
  EXPECT_TRUE(CheckTunable(model).ok());
  model.decoupled = true;
  EXPECT_THAT(Refusal(model), HasSubstr("the model 'm' is decoupled"));
  model.sequence.enabled = true;
  EXPECT_THAT(Refusal(model), HasSubstr("serves sequences"));
  model.ensemble.steps.emplace_back();
  EXPECT_THAT(Refusal(model), HasSubstr("an ensemble within an ensemble"));
}

std::string Wrong(const CompiledModel& model, const TuneOptions& options) {
  return std::string(CheckOptionsFor(model, options).message());
}

TEST(CheckOptionsFor, BatchSizes) {
  TuneOptions options;
  options.load.batch_size = 4;
  EXPECT_TRUE(CheckOptionsFor(Batched(), options).ok());
  options.max_batch_sizes = {2};
  EXPECT_THAT(Wrong(Batched(), options), HasSubstr("has 2, which is less than --batch-size"));
  options.load.batch_size = 5;
  EXPECT_EQ(Wrong(Batched(), options), "--batch-size is 5; the model's largest batch is 4");
  options.load.batch_size = 1;
  CompiledModel single = Batched();
  single.max_batch_size = 0;
  EXPECT_THAT(Wrong(single, options), HasSubstr("no batch dimension"));
}

TEST(CheckOptionsFor, Threads) {
  TuneOptions options;
  options.threads = {1};
  EXPECT_EQ(Wrong(Batched(), options),
            "--threads has no meaning: the backend 'identity' has no parameter for its threads");
  CompiledModel model = Batched();
  model.backend = "onnxruntime";
  EXPECT_TRUE(CheckOptionsFor(model, options).ok());
}

TEST(CheckOptionsFor, Ensembles) {
  CompiledModel ensemble = Batched();
  ensemble.ensemble.steps.emplace_back();
  TuneOptions options;
  EXPECT_TRUE(CheckOptionsFor(ensemble, options).ok());
  options.threads = {1};
  EXPECT_THAT(Wrong(ensemble, options), HasSubstr("tune the threads of its models one by one"));
  options.same_backend = true;
  EXPECT_THAT(Wrong(ensemble, options), HasSubstr("--same-backend has no meaning"));
  options.same_backend = false;
  options.max_batch_sizes = {2};
  EXPECT_THAT(Wrong(ensemble, options), HasSubstr("--max-batch-sizes has no meaning for an"));
}

}  // namespace
}  // namespace nereid
