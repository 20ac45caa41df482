#include "bench/loadgen/driver.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "bench/loadgen/arrivals.h"

namespace nereid::bench {
namespace {

using std::chrono::milliseconds;

constexpr float kValue = 4.5f;

// Answers at once except for one pause, like a server that stalls.
class FakeTransport final : public Transport {
 public:
  explicit FakeTransport(int slots) : slots_(slots) {}

  int slots() const override { return slots_; }
  absl::Status Send(int slot) override {
    ++sent;
    if (on_send) on_send();
    waiting_.push_back(slot);
    return absl::OkStatus();
  }
  absl::Status Poll(BenchTime until, std::vector<Completion>* done) override {
    if (pause_at > 0 && sent >= pause_at) {
      const BenchTime resume = BenchClock::now() + pause;
      while (BenchClock::now() < resume) {
      }
      pause_at = 0;
    }
    for (const int slot : waiting_) done->push_back({slot, ok});
    waiting_.clear();
    while (done->empty() && BenchClock::now() < until) {
    }
    return absl::OkStatus();
  }
  void KeepAnswers(bool keep) override { keeps = keep; }
  absl::string_view answer(int) const override {
    return absl::string_view(reinterpret_cast<const char*>(&value), sizeof value);
  }

  std::function<void()> on_send;
  bool ok = true;
  bool keeps = false;
  float value = kValue;
  int sent = 0;
  int pause_at = 0;
  milliseconds pause{0};

 private:
  const int slots_;
  std::vector<int> waiting_;
};

Reference OneValue() {
  std::string bytes(sizeof kValue, 0);
  std::memcpy(bytes.data(), &kValue, sizeof kValue);
  return *Reference::Parse(bytes);
}

TEST(CheckAnswersTest, LooksAtEverySlot) {
  FakeTransport transport(3);
  EXPECT_TRUE(CheckAnswers(&transport, OneValue(), AnswerForm::kBinary, 2).ok());
  EXPECT_EQ(transport.sent, 6);
  EXPECT_FALSE(transport.keeps);
}

TEST(CheckAnswersTest, StopsAtAWrongAnswer) {
  FakeTransport transport(3);
  transport.value = 5;
  EXPECT_EQ(CheckAnswers(&transport, OneValue(), AnswerForm::kBinary, 2).code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(transport.sent, 1);
}

TEST(CheckAnswersTest, StopsAtAnError) {
  FakeTransport transport(1);
  transport.ok = false;
  EXPECT_FALSE(CheckAnswers(&transport, OneValue(), AnswerForm::kBinary, 1).ok());
}

TEST(CheckAnswersTest, LooksIntoTheFile) {
  const std::string path = testing::TempDir() + "driver_test.answer";
  // Every request writes the value, as a server does.
  FakeTransport transport(2);
  std::ofstream(path, std::ios::binary) << std::string(sizeof kValue, '\0');
  transport.on_send = [&] {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(&kValue), sizeof kValue);
  };
  const AnswerFile file(path, sizeof kValue);
  EXPECT_TRUE(CheckAnswers(&transport, OneValue(), AnswerForm::kBinary, 2, file).ok());
  EXPECT_EQ(transport.sent, 4);
  transport.on_send = nullptr;
  EXPECT_EQ(CheckAnswers(&transport, OneValue(), AnswerForm::kBinary, 1, file).code(),
            absl::StatusCode::kDataLoss);
  std::filesystem::remove(path);
  EXPECT_EQ(CheckAnswers(&transport, OneValue(), AnswerForm::kBinary, 1, file).code(),
            absl::StatusCode::kNotFound);
}

TEST(ClosedLoopTest, CountsWhatCompletes) {
  FakeTransport transport(4);
  const auto measured = RunClosed(&transport, milliseconds(5));
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(measured->latency.count() + 4, static_cast<uint64_t>(transport.sent));
  EXPECT_EQ(measured->errors, 0u);
  EXPECT_DOUBLE_EQ(measured->seconds, 0.005);
}

TEST(ClosedLoopTest, CountsErrors) {
  FakeTransport transport(1);
  transport.ok = false;
  const auto measured = RunClosed(&transport, milliseconds(2));
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(measured->latency.count(), 0u);
  EXPECT_GT(measured->errors, 0u);
}

TEST(OpenLoopTest, SendsWhatFallsDueAndNoMore) {
  FakeTransport transport(2);
  const auto measured =
      RunOpen(&transport, DueTimes(Arrivals::kUniform, 10'000, 0.02, 1), std::chrono::seconds(1));
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(transport.sent, 200);
  EXPECT_EQ(measured->latency.count(), 200u);
  EXPECT_EQ(measured->in_time, 200u);
}

// A pause of 20 ms at 1,000 requests per second makes 20 requests late. A load generator that
// measures from the time of sending would report only one.
TEST(OpenLoopTest, AStallIsChargedToAllThatFellDueMeanwhile) {
  FakeTransport transport(1);
  transport.pause_at = 10;
  transport.pause = milliseconds(20);
  const auto measured =
      RunOpen(&transport, DueTimes(Arrivals::kUniform, 1'000, 0.04, 1), milliseconds(10));
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(measured->latency.count(), 40u);
  EXPECT_GE(measured->latency.max(), 20'000'000);
  EXPECT_GE(measured->latency.Percentile(0.75), 5'000'000);
  EXPECT_LE(measured->in_time, 31u);
}

}  // namespace
}  // namespace nereid::bench
