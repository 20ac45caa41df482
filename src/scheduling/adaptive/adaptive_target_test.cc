// SPDX-License-Identifier: Apache-2.0
#include "scheduling/adaptive/adaptive_policy.h"

#include <gtest/gtest.h>

#include <string>

#include "infer/testing/fake_model.h"

namespace nereid {
namespace {

using std::chrono::microseconds;

CompiledModel Asking(const std::string& value, const ModelBuilder& builder) {
  CompiledModel model = builder.Build();
  model.parameters["nereid.target_p99_us"] = value;
  return model;
}

ModelBuilder Batched() {
  ModelBuilder builder("m");
  builder.MaxBatch(8).Batching();
  return builder;
}

std::string Error(const CompiledModel& model, const BatchingRivals& rivals = {}) {
  return std::string(AdaptiveTarget(model, rivals).status().message());
}

TEST(AdaptiveTargetTest, IsOffByDefault) {
  EXPECT_EQ(*AdaptiveTarget(ModelBuilder("m").Build(), {}), Duration(0));
  EXPECT_EQ(*AdaptiveTarget(Batched().Build(), {true, true}), Duration(0));
}

TEST(AdaptiveTargetTest, IsAWholeNumberOfMicroseconds) {
  EXPECT_EQ(*AdaptiveTarget(Asking("5000", Batched()), {}), microseconds(5000));
  for (const char* wrong :
       {"", "0", "-1", "5ms", "1.5", " 5", "+5", "3600000001", "99999999999999999999"}) {
    EXPECT_EQ(Error(Asking(wrong, Batched())),
              std::string("parameter 'nereid.target_p99_us' of model 'm' is '") + wrong +
                  "'; it must be a whole number of microseconds from 1 to 3600000000");
  }
}

TEST(AdaptiveTargetTest, NeedsBatchesToChoose) {
  constexpr char kError[] =
      "parameter 'nereid.target_p99_us' of model 'm' needs dynamic_batching and a max_batch_size "
      "of 2 or more";
  EXPECT_EQ(Error(Asking("5000", ModelBuilder("m").MaxBatch(8))), kError);
  EXPECT_EQ(Error(Asking("5000", ModelBuilder("m").MaxBatch(1).Batching())), kError);
}

TEST(AdaptiveTargetTest, ContradictsWhatElseChoosesThem) {
  constexpr char kError[] =
      "parameter 'nereid.target_p99_us' of model 'm' cannot be combined with preferred_batch_size "
      "or max_queue_delay_microseconds, which it chooses";
  EXPECT_EQ(Error(Asking("5000", ModelBuilder("m").MaxBatch(8).Batching({4}))), kError);
  EXPECT_EQ(Error(Asking("5000", ModelBuilder("m").MaxBatch(8).Batching({}, microseconds(1)))),
            kError);
  EXPECT_EQ(Error(Asking("5000", Batched()), {true, false}),
            "parameter 'nereid.target_p99_us' of model 'm' cannot be combined with a custom "
            "batching strategy");
  EXPECT_EQ(Error(Asking("5000", Batched()), {false, true}),
            "parameter 'nereid.target_p99_us' of model 'm' cannot be combined with the rate "
            "limiter (--rate-limit)");
}

}  // namespace
}  // namespace nereid
