// SPDX-License-Identifier: Apache-2.0
#include "filesystem/cloud/cloud_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

using ::testing::HasSubstr;

constexpr char kRepository[] = "s3://bucket/models";

TEST(CloudProgramTest, AProgramThatIsNotInstalled) {
  CloudProgram program("/nowhere/nereid-cloud", 5);
  const auto list = program.List(kRepository);
  EXPECT_EQ(list.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(list.status().message()),
              HasSubstr("cannot start the program /nowhere/nereid-cloud, which reads cloud "
                        "storage: No such file or directory"));
}

TEST(CloudProgramTest, AProgramThatEndsAtOnce) {
  CloudProgram program("/bin/false", 5);
  EXPECT_EQ(program.Stat(kRepository, "m").status(),
            absl::UnavailableError(
                "the program /bin/false, which reads cloud storage, ends again and again"));
}

TEST(CloudProgramTest, TheProgramAnswers) {
  CloudProgram program(FAKE_CLOUD_PROGRAM, 30);
  const auto list = program.List(kRepository);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->at(0).path, "m/1/model");
  EXPECT_EQ(program.Stat(kRepository, "m/1/model")->tag, "tag of m/1/model");
  EXPECT_EQ(program.Stat(kRepository, "none").status(), absl::NotFoundError("no such object"));
  EXPECT_EQ(program.Fetch(kRepository, {"broken", 1, 0, "t"}, "target"),
            absl::UnavailableError("the store is down"));
}

TEST(CloudProgramTest, AProgramThatEndsMeanwhileIsStartedAgain) {
  CloudProgram program(FAKE_CLOUD_PROGRAM, 30);
  EXPECT_EQ(program.Stat(kRepository, "exit").status().code(), absl::StatusCode::kUnavailable)
      << "it ends each time that it is asked this";
  EXPECT_TRUE(program.List(kRepository).ok());
}

TEST(CloudProgramTest, AStoreThatIsSilentForTooLong) {
  CloudProgram program(FAKE_CLOUD_PROGRAM, 1);
  EXPECT_EQ(program.Stat(kRepository, "silence").status(),
            absl::DeadlineExceededError("the store did not answer within 1 s"));
  EXPECT_TRUE(program.List(kRepository).ok());
}

}  // namespace
}  // namespace nereid
