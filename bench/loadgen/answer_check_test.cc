// SPDX-License-Identifier: Apache-2.0
#include "bench/loadgen/answer_check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "apps/loadgen/testing/fake_transport.h"

namespace nereid::bench {
namespace {

constexpr float kValue = 4.5f;  // what the fake answers

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

}  // namespace
}  // namespace nereid::bench
