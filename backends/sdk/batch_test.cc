// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/batch.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "backends/sdk/echo.h"
#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

class BatchTest : public ::testing::Test {
 protected:
  BatchTest() {
    for (int i = 0; i < 3; ++i) {
      requests_[i].wanted_outputs = {"OUT"};
      requests_[i].inputs.push_back(
          testing::MakeInput("IN", TRITONSERVER_TYPE_UINT8, {1, 2}, std::string(2, char('a' + i))));
    }
  }
  // In every test each request gets one final response (unless it can not be made), is released
  // once after its statistics, and no error is leaked.
  ~BatchTest() override {
    for (const TRITONBACKEND_Request& request : requests_) {
      EXPECT_EQ(request.released, 1);
      EXPECT_TRUE(request.reported_before_release);
      EXPECT_EQ(request.statistics.size(), 1u);
      if (request.refuse_responses) continue;
      EXPECT_EQ(request.responses.size(), 1u);
      EXPECT_TRUE(request.responses.back().final);
    }
    EXPECT_EQ(testing::LiveErrors(), 0);
  }

  template <typename Body>
  void Run(Body&& body) {
    TRITONBACKEND_Request* pointers[] = {&requests_[0], &requests_[1], &requests_[2]};
    EXPECT_EQ(RunBatch(&instance_, pointers, 3, body), nullptr);
  }

  bool Failed(int i, const std::string& message) const {
    const auto& errors = requests_[i].responses[0].errors;
    return errors.size() == 1 && errors[0].message == message && !requests_[i].statistics[0];
  }
  bool Succeeded(int i) const {
    return requests_[i].responses[0].errors.empty() && requests_[i].statistics[0];
  }

  TRITONBACKEND_ModelInstance instance_;
  TRITONBACKEND_Request requests_[3];
};

TEST_F(BatchTest, SuccessCountsRows) {
  Run([](Batch& batch) {
    batch.set_rows(1, 5);
    return Error();
  });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Succeeded(i));
  EXPECT_EQ(instance_.batch_sizes, std::vector<uint64_t>{7});
}

TEST_F(BatchTest, SendsItsResponsesTogether) {
  Run([](Batch& batch) {
    batch.Fail(1, Error::InvalidArg("at once"));
    return Error();
  });
  EXPECT_TRUE(requests_[0].responses[0].together);
  EXPECT_FALSE(requests_[1].responses[0].together);
  EXPECT_TRUE(requests_[2].responses[0].together);
}

TEST_F(BatchTest, AFailureStaysWithItsRequest) {
  Run([](Batch& batch) {
    batch.Fail(1, Error::InvalidArg("no"));
    return Error();
  });
  EXPECT_TRUE(Succeeded(0));
  EXPECT_TRUE(Failed(1, "no"));
  EXPECT_TRUE(Succeeded(2));
  EXPECT_EQ(instance_.batch_sizes, std::vector<uint64_t>{2});
}

TEST_F(BatchTest, AnErrorOfTheBodyFailsTheLiveOnes) {
  Run([](Batch& batch) {
    batch.Fail(0, Error::InvalidArg("first"));
    return Error::Internal("all");
  });
  EXPECT_TRUE(Failed(0, "first"));
  EXPECT_TRUE(Failed(1, "all"));
  EXPECT_TRUE(Failed(2, "all"));
  EXPECT_TRUE(instance_.batch_sizes.empty());
}

TEST_F(BatchTest, AnExceptionBecomesAnError) {
  Run([](Batch& batch) -> Error {
    batch.Fail(0, Error::InvalidArg("first"));
    throw std::runtime_error("thrown");
  });
  EXPECT_TRUE(Failed(0, "first"));
  EXPECT_TRUE(Failed(2, "thrown"));
}

TEST_F(BatchTest, ARequestWithoutResponseIsStillReleased) {
  requests_[1].refuse_responses = true;
  Run([](Batch& batch) {
    EXPECT_FALSE(batch.Response(1).ok());
    return Error();
  });
  EXPECT_TRUE(requests_[1].responses.empty());
  EXPECT_FALSE(requests_[1].statistics[0]);
  EXPECT_TRUE(Succeeded(2));
}

TEST_F(BatchTest, ADroppedResponseIsReplaced) {
  Run([](Batch& batch) -> Error {
    const int64_t shape[] = {1};
    NB_ASSIGN_OR_RETURN(TRITONBACKEND_Response * response, batch.Response(0));
    NB_ASSIGN_OR_RETURN(char* buffer,
                        AllocateOutput(response, "OUT", TRITONSERVER_TYPE_UINT8, shape, 1, 1));
    *buffer = 'x';
    batch.DropResponse(0);
    return Error();
  });
  EXPECT_EQ(requests_[0].responses_deleted, 1);
  EXPECT_TRUE(requests_[0].responses[0].outputs.empty());
}

uint64_t fake_now = 0;
uint64_t FakeNow() { return fake_now; }

// One batch whose body moves FakeNow on. Times are relative to its begin.
class BatchTimesTest : public BatchTest {
 protected:
  template <typename Body>
  testing::SeenTimes Times(Body&& body) {
    fake_now = kBegin;
    TRITONBACKEND_Request* pointers[] = {&requests_[0], &requests_[1], &requests_[2]};
    Batch batch(&instance_, pointers, 3, &FakeNow);
    body(batch);
    batch.Finish();
    const testing::SeenTimes seen = instance_.batch_times.at(0);
    const testing::SeenTimes own = requests_[2].times.at(0);
    EXPECT_EQ(own.compute_start, seen.compute_start);
    EXPECT_EQ(own.compute_end, seen.compute_end);
    return {seen.exec_start - kBegin, seen.compute_start - kBegin, seen.compute_end - kBegin,
            seen.exec_end - kBegin};
  }
  static void Pass(uint64_t ns) { fake_now += ns; }

  static constexpr uint64_t kBegin = 1'000'000;
};

TEST_F(BatchTimesTest, OneTurn) {
  const testing::SeenTimes times = Times([](Batch& batch) {
    Pass(3);
    batch.MarkComputeStart();
    Pass(50);
    batch.MarkComputeEnd();
    Pass(2);
  });
  EXPECT_EQ(times.exec_start, 0u);
  EXPECT_EQ(times.compute_start, 3u);
  EXPECT_EQ(times.compute_end, 53u);
  EXPECT_EQ(times.exec_end, 55u);
}

TEST_F(BatchTimesTest, LaterTurnsAddToTheComputationAndNotToTheInput) {
  const testing::SeenTimes times = Times([](Batch& batch) {
    for (const uint64_t turn : {50, 60, 70}) {
      Pass(3);
      batch.MarkComputeStart();
      Pass(turn);
      batch.MarkComputeEnd();
      Pass(2);
    }
  });
  EXPECT_EQ(times.compute_start, 3u);
  EXPECT_EQ(times.compute_end - times.compute_start, 180u);
  EXPECT_EQ(times.exec_end - times.compute_end, 2u + 3 + 2 + 3 + 2);
}

TEST_F(BatchTimesTest, WithoutTurnsAllOfItIsComputation) {
  const testing::SeenTimes times = Times([](Batch&) { Pass(7); });
  EXPECT_EQ(times.compute_start, 0u);
  EXPECT_EQ(times.compute_end, 7u);
}

TEST_F(BatchTimesTest, ATurnThatIsNotEndedEndsWithTheBatch) {
  const testing::SeenTimes times = Times([](Batch& batch) {
    Pass(3);
    batch.MarkComputeStart();
    Pass(9);
  });
  EXPECT_EQ(times.compute_start, 3u);
  EXPECT_EQ(times.compute_end, 12u);
}

TEST_F(BatchTimesTest, ATurnMeasuredElsewhere) {
  const testing::SeenTimes times = Times([](Batch& batch) {
    Pass(20);
    batch.MarkComputed(kBegin + 4, kBegin + 14);
    Pass(20);
    batch.MarkComputed(kBegin + 25, kBegin + 30);
  });
  EXPECT_EQ(times.compute_start, 4u);
  EXPECT_EQ(times.compute_end, 4u + 10 + 5);
  EXPECT_EQ(times.exec_end, 40u);
}

TEST_F(BatchTimesTest, StampsFromElsewhereAreKeptWithinTheBatch) {
  const testing::SeenTimes early = Times([](Batch& batch) {
    Pass(20);
    batch.MarkComputed(kBegin - 100, kBegin + 900);
  });
  EXPECT_EQ(early.compute_start, 0u);
  EXPECT_EQ(early.compute_end, 20u);
}

TEST_F(BatchTimesTest, AnEndBeforeItsStartIsNoTime) {
  const testing::SeenTimes times = Times([](Batch& batch) {
    Pass(20);
    batch.MarkComputed(kBegin + 9, kBegin + 5);
  });
  EXPECT_EQ(times.compute_start, 5u);
  EXPECT_EQ(times.compute_end, 5u);
}

TEST_F(BatchTest, EchoCopiesPiecesIntoTheWantedOutputs) {
  requests_[0].inputs[0].buffers = {"a", "", "b"};
  requests_[1].wanted_outputs.clear();
  const Result<ModelConfig> config = ParseModelConfig(
      R"({"name":"m","max_batch_size":4,"input":[{"name":"IN","data_type":"TYPE_UINT8"}],
          "output":[{"name":"OUT","data_type":"TYPE_UINT8"}]})");
  ASSERT_TRUE(config.ok());
  Result<EchoMap> echo = EchoMap::Build(*config);
  ASSERT_TRUE(echo.ok());
  Run([&](Batch& batch) -> Error {
    for (size_t i = 0; i < batch.size(); ++i) NB_RETURN_IF_ERROR(echo->Echo(&batch, i));
    return Error();
  });
  ASSERT_EQ(requests_[0].responses[0].outputs.size(), 1u);
  EXPECT_EQ(requests_[0].responses[0].outputs[0].data, "ab");
  EXPECT_EQ(requests_[0].responses[0].outputs[0].shape, (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(requests_[1].responses[0].outputs.empty());
  EXPECT_EQ(requests_[2].responses[0].outputs[0].data, "cc");
}

}  // namespace
}  // namespace nereid_backend
