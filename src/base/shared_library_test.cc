// SPDX-License-Identifier: Apache-2.0
#include "base/shared_library.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
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

TEST(SharedLibraryTest, ALibraryForAnotherProcessorIsCalledSo) {
  const std::string path = ::testing::TempDir() + "/foreign.so";
  std::ifstream own(NEREID_TEST_PLUGIN, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(own)), {});
  const uint16_t machine = EM_S390;
  std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof(machine));
  std::ofstream(path, std::ios::binary) << bytes;
  const absl::Status status = SharedLibrary::Open(path).status();
  std::filesystem::remove(path);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("; the file is built for the ELF machine 22, and this program for "));
}

TEST(SharedLibraryTest, WhoNeedsAMissingLibraryIsNamed) {
  const absl::Status status = SharedLibrary::Open(NEREID_TEST_DEPENDENT_PLUGIN).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("libnereid_nowhere.so: cannot open"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("; " NEREID_TEST_DEPENDENT_PLUGIN " needs this library"));
}

}  // namespace
}  // namespace nereid
