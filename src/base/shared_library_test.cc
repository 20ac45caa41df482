#include "base/shared_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

using ::testing::HasSubstr;

TEST(SharedLibraryTest, FindsWhatTheLibraryExports) {
  const auto library = SharedLibrary::Open(NEREID_TEST_PLUGIN);
  ASSERT_TRUE(library.ok()) << library.status();
  EXPECT_EQ((*library)->path(), NEREID_TEST_PLUGIN);
  const auto answer = (*library)->Function<int (*)()>("nereid_plugin_answer");
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer(), 42);
}

TEST(SharedLibraryTest, AnUnknownSymbolIsNull) {
  const auto library = SharedLibrary::Open(NEREID_TEST_PLUGIN);
  ASSERT_TRUE(library.ok()) << library.status();
  EXPECT_EQ((*library)->Find("nereid_no_such_symbol"), nullptr);
}

TEST(SharedLibraryTest, ASymbolOfADependencyIsNotTheLibrarys) {
  const auto library = SharedLibrary::Open(NEREID_TEST_PLUGIN);
  ASSERT_TRUE(library.ok()) << library.status();
  EXPECT_EQ((*library)->Find("getpid"), nullptr);
}

TEST(SharedLibraryTest, AFileThatIsNotThereIsNamed) {
  const absl::Status status = SharedLibrary::Open("no/such/library.so").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              ::testing::StartsWith("unable to load shared library: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("no/such/library.so"));
}

TEST(SharedLibraryTest, AMissingSymbolIsNamed) {
  const absl::Status status = SharedLibrary::Open(NEREID_TEST_INCOMPLETE_PLUGIN).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("nereid_function_that_nobody_defines"));
}

}  // namespace
}  // namespace nereid
