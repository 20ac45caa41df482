// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/otlp_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "observe/trace/inference_trace.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

// What was posted, and what the collector answers.
struct Collector {
  std::vector<std::string> bodies;
  absl::Status answer;
};

class FakeSender final : public HttpSender {
 public:
  explicit FakeSender(Collector* collector) : collector_(collector) {}
  absl::Status Post(absl::string_view body, Duration) override {
    collector_->bodies.emplace_back(body);
    return collector_->answer;
  }

 private:
  Collector* const collector_;
};

// How many spans a message holds, by the name that each has.
size_t SpansOf(const std::string& body) {
  size_t count = 0;
  for (size_t at = body.find("InferRequest"); at != std::string::npos;
       at = body.find("InferRequest", at + 1)) {
    ++count;
  }
  return count;
}

class OtlpExporterTest : public ::testing::Test {
 protected:
  void Start(uint32_t queue, uint32_t batch) {
    OtlpOptions options;
    options.url = "http://collector";
    options.max_queue_size = queue;
    options.max_export_batch_size = batch;
    options.schedule_delay_ms = 5000;
    options.resource = {{"service.name", "mine"}};
    exporter_ =
        std::make_unique<OtlpExporter>(options, std::make_unique<FakeSender>(&collector_), &clock_);
  }
  // Traces of one span each.
  void Add(int traces) {
    for (int i = 0; i < traces; ++i) {
      auto trace = std::make_unique<FinishedTrace>();
      trace->root_id = 1;
      trace->events.push_back(TracedTime{1, "HTTP_RECV_START", 5});
      EXPECT_EQ(exporter_->WeightOf(*trace), 1U);
      exporter_->Add(std::move(trace));
    }
  }
  std::vector<size_t> Sent() const {
    std::vector<size_t> sent;
    for (const std::string& body : collector_.bodies) sent.push_back(SpansOf(body));
    return sent;
  }
  void Pass(Duration time) {
    clock_.Advance(time);
    if (exporter_->due().has_value() && *exporter_->due() <= clock_.Now()) exporter_->OnDue();
  }

  FakeClock clock_;
  Collector collector_;
  std::unique_ptr<OtlpExporter> exporter_;
};

TEST_F(OtlpExporterTest, SpansWaitForTheDelayOrForABatch) {
  Start(100, 3);
  EXPECT_FALSE(exporter_->due().has_value());
  Add(2);
  EXPECT_THAT(Sent(), ElementsAre());
  Pass(std::chrono::seconds(4));
  EXPECT_THAT(Sent(), ElementsAre());
  Pass(std::chrono::seconds(1));
  EXPECT_THAT(Sent(), ElementsAre(2));
  EXPECT_FALSE(exporter_->due().has_value());
  EXPECT_NE(collector_.bodies[0].find("mine"), std::string::npos);
  Add(7);
  EXPECT_THAT(Sent(), ElementsAre(2, 3, 3));
  exporter_->Finish();
  EXPECT_THAT(Sent(), ElementsAre(2, 3, 3, 1));
  EXPECT_EQ(exporter_->TakeLost(), 0U);
}

TEST_F(OtlpExporterTest, AMessageIsSentAgainLaterEachTime) {
  Start(100, 2);
  collector_.answer = absl::UnavailableError("down");
  Add(2);
  EXPECT_THAT(Sent(), ElementsAre(2));
  Pass(std::chrono::seconds(1));
  EXPECT_THAT(Sent(), ElementsAre(2, 2));
  Pass(std::chrono::seconds(1));
  EXPECT_THAT(Sent(), ElementsAre(2, 2)) << "the second pause is longer";
  Add(1);
  collector_.answer = absl::OkStatus();
  Pass(std::chrono::seconds(1));
  EXPECT_THAT(Sent(), ElementsAre(2, 2, 2, 1));
}

TEST_F(OtlpExporterTest, AMessageIsGivenUpInTheEnd) {
  Start(100, 2);
  collector_.answer = absl::UnavailableError("down");
  Add(2);
  for (int i = 0; i < 20; ++i) Pass(std::chrono::seconds(1));
  EXPECT_EQ(Sent().size(), static_cast<size_t>(OtlpExporter::kAttempts));
  EXPECT_EQ(exporter_->TakeLost(), 2U);
  EXPECT_FALSE(exporter_->due().has_value());
  // What is wrong with the message itself is not tried again.
  collector_.answer = absl::InternalError("no such path");
  Add(2);
  EXPECT_EQ(Sent().size(), static_cast<size_t>(OtlpExporter::kAttempts) + 1);
  EXPECT_EQ(exporter_->TakeLost(), 2U);
}

TEST_F(OtlpExporterTest, AFullQueueIsSentAtOnce) {
  Start(/*queue=*/4, /*batch=*/100);
  Add(5);
  EXPECT_THAT(Sent(), ElementsAre(4));
  EXPECT_EQ(exporter_->TakeLost(), 0U);
}

TEST_F(OtlpExporterTest, TheQueueIsBounded) {
  Start(/*queue=*/4, /*batch=*/2);
  collector_.answer = absl::UnavailableError("down");
  Add(10);
  EXPECT_EQ(exporter_->TakeLost(), 6U);
  collector_.answer = absl::OkStatus();
  exporter_->Finish();
  EXPECT_THAT(Sent(), ElementsAre(2, 2, 2));
}

}  // namespace
}  // namespace nereid
