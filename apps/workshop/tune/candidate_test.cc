// SPDX-License-Identifier: Apache-2.0
#include "tune/candidate.h"

#include <absl/algorithm/container.h>
#include <gmock/gmock.h>

#include "simulation/simulated_config.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

CompiledModel Model(const std::string& more) {
  const auto model = ModelFromJson(
      "{\"name\":\"m\",\"backend\":\"identity\","
      "\"input\":[{\"name\":\"i\",\"data_type\":\"TYPE_FP32\",\"dims\":[1]}],"
      "\"output\":[{\"name\":\"o\",\"data_type\":\"TYPE_FP32\",\"dims\":[1]}]" +
      more + "}");
  EXPECT_TRUE(model.ok()) << model.status();
  return *model;
}

TEST(CandidatesFor, OnlyInstancesWithoutBatches) {
  const Candidate current = CurrentOf(Model(""));
  const auto all = CandidatesFor(current, {9, {}, {{{}, 100}}});
  std::vector<int32_t> counts;
  for (const Candidate& candidate : all) {
    counts.push_back(candidate.instances);
    EXPECT_EQ(candidate.max_batch_size, 0);
    EXPECT_FALSE(candidate.batching);
  }
  EXPECT_THAT(counts, ElementsAre(1, 2, 3, 4, 8, 9));
}

TEST(CandidatesFor, TodaysIsTheFirstAndNoneIsThereTwice) {
  const Candidate current = CurrentOf(
      Model(",\"max_batch_size\":8,\"instance_group\":[{\"count\":3,\"kind\":\"KIND_CPU\"}],"
            "\"dynamic_batching\":{\"preferred_batch_size\":[4],"
            "\"max_queue_delay_microseconds\":1000}"));
  const auto all = CandidatesFor(current, {2, {}, {{{}, 1000}}});
  EXPECT_EQ(all[0], current);
  EXPECT_EQ(NameOf(current), "3 instances, batches of 8, preferred 4, delay 1000 µs");
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(all[i].batching);
    EXPECT_EQ(all[i].max_batch_size, 8);
    for (size_t j = 0; j < i; ++j) EXPECT_FALSE(all[i] == all[j]) << i << " " << j;
  }
  // 1, 2 and 3 instances; no delay, or 3 delays with no preferred size, 2 or 4.
  EXPECT_THAT(all, SizeIs(3 * (1 + 3 * 3)));
}

TEST(CandidatesFor, DelaysAreBoundedAndRound) {
  const Candidate current = CurrentOf(Model(",\"max_batch_size\":2,\"dynamic_batching\":{}"));
  std::set<uint64_t> delays;
  for (const Candidate& candidate : CandidatesFor(current, {1, {}, {{{}, 1234}}})) {
    delays.insert(candidate.max_queue_delay_us);
  }
  EXPECT_THAT(delays, ElementsAre(0, 620, 1200, 2500));
  for (const Candidate& candidate : CandidatesFor(current, {1, {}, {{{}, 0.01}}})) {
    EXPECT_TRUE(candidate.max_queue_delay_us == 0 || candidate.max_queue_delay_us == 50);
  }
}

TEST(CandidatesFor, LargestBatchesOnlyWhereAsked) {
  const Candidate current = CurrentOf(Model(",\"max_batch_size\":4"));
  EXPECT_EQ(NameOf(current), "1 instance, no batching");
  const auto all = CandidatesFor(current, {1, {1, 16}, {{{}, 1000}}});
  EXPECT_TRUE(absl::c_any_of(all, [](const Candidate& c) { return c.max_batch_size == 16; }));
  EXPECT_TRUE(absl::c_any_of(
      all, [](const Candidate& c) { return c.preferred_batch_sizes == std::vector<int32_t>{8}; }));
}

TEST(CandidatesFor, EachEngineWithItsOwnDelays) {
  CompiledModel model = Model(",\"max_batch_size\":2");
  model.backend = "onnxruntime";
  const Candidate current = CurrentOf(model);
  std::vector<std::string> names;
  for (const Candidate& c : CandidatesFor(current, {1, {}, {{{0}, 4000}, {{1}, 8000}}})) {
    if (c.max_queue_delay_us >= 4000) names.push_back(NameOf(c));
  }
  EXPECT_THAT(names, ElementsAre("1 instance, batches of 2, delay 4000 µs",
                                 "1 instance, batches of 2, delay 8000 µs",
                                 "1 instance of 1 thread, batches of 2, delay 4000 µs",
                                 "1 instance of 1 thread, batches of 2, delay 8000 µs",
                                 "1 instance of 1 thread, batches of 2, delay 16000 µs"));
  const Candidate threads{3, 2, true, {}, 70, {2}};
  EXPECT_EQ(NameOf(threads), "3 instances of 2 threads, batches of 2, delay 70 µs");
  EXPECT_EQ(CurrentOf(With(model, threads)), threads);
  EXPECT_THAT(ChangesOf(model, threads).parameters,
              ElementsAre(testing::Pair("intra_op_thread_count", "2")));
  EXPECT_TRUE(ChangesOf(model, current).parameters.empty());
  const Candidate moved{1, 2, true, {}, 0, {1, "openvino"}};
  EXPECT_EQ(NameOf(moved), "1 instance of openvino with 1 thread, batches of 2");
  EXPECT_EQ(ChangesOf(model, moved).backend, "openvino");
  EXPECT_THAT(ChangesOf(model, moved).parameters,
              ElementsAre(testing::Pair("INFERENCE_NUM_THREADS", "1")));
  EXPECT_EQ(With(model, moved).backend, "openvino");
}

TEST(With, RunsAsTheCandidateSays) {
  const CompiledModel model = Model(",\"max_batch_size\":4");
  const Candidate candidate{3, 8, true, {2}, 70};
  EXPECT_EQ(CurrentOf(With(model, candidate)), candidate);
}

TEST(ChangesOf, RemovesBatching) {
  const CompiledModel batched = With(Model(",\"max_batch_size\":8"), {1, 8, true, {}, 0});
  const ConfigChanges changes = ChangesOf(batched, {2, 8, false, {}, 0});
  EXPECT_TRUE(changes.no_batching);
  EXPECT_EQ(changes.max_batch_size, 8);
  EXPECT_FALSE(changes.max_queue_delay_us.has_value());
  EXPECT_FALSE(ChangesOf(With(batched, {2, 8, false, {}, 0}), {1, 8, false, {}, 0}).no_batching);
}

TEST(ChangesOf, NamesOnlyWhatDiffers) {
  const CompiledModel model = Model(",\"max_batch_size\":8");
  const CompiledModel current = With(model, {1, 8, true, {4}, 100});
  ConfigChanges changes = ChangesOf(current, CurrentOf(current));
  EXPECT_FALSE(changes.instances || changes.preferred_batch_sizes || changes.max_queue_delay_us);
  // Needed beside preferred sizes; the text changes only if it does not have it.
  EXPECT_EQ(changes.max_batch_size, 8);
  changes = ChangesOf(current, {2, 8, true, {4}, 0});
  EXPECT_EQ(changes.instances, 2);
  EXPECT_EQ(changes.max_queue_delay_us, 0u);
  EXPECT_FALSE(changes.preferred_batch_sizes);
  // An explicit preferred size may be too large for another largest batch.
  EXPECT_TRUE(
      ChangesOf(With(model, {1, 8, true, {}, 0}), {1, 4, true, {}, 0}).preferred_batch_sizes);
  // Batching that was not there is written also if all its values are defaults.
  changes = ChangesOf(model, {1, 8, true, {}, 0});
  EXPECT_TRUE(changes.preferred_batch_sizes && changes.max_queue_delay_us);
}

}  // namespace
}  // namespace nereid
