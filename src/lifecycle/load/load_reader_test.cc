// SPDX-License-Identifier: Apache-2.0
// What a load reads from the repositories. For whole loads see model_manager_test.cc.
#include "lifecycle/load/load_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/outside_text.h"
#include "lifecycle/testing/fake_repository.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class LoadReaderTest : public ::testing::Test {
 protected:
  LoadReader Reader(RepositoryList* list) {
    return LoadReader({&repository_.fs, "", true, nullptr}, list, &catalogue_);
  }

  FakeRepository repository_;
  ModelCatalogue catalogue_{&repository_.clock, false};
};

TEST_F(LoadReaderTest, NamesThatNoModelCanHave) {
  const absl::Status empty = absl::InvalidArgumentError(
      "Model name cannot be empty. Please enter a valid name to deploy.");
  EXPECT_EQ(LoadReader::CheckName(""), empty);
  EXPECT_EQ(LoadReader::CheckName(" \t"), empty);
  for (const std::string name : {"../m", "..", ".", "a/b", "/m"}) {
    EXPECT_EQ(LoadReader::CheckName(name),
              absl::InvalidArgumentError("invalid model name '" + name +
                                         "', model name must not contain path traversal "
                                         "characters"));
  }
  for (const std::string name : {" m", "m ", "m\n"}) {
    EXPECT_EQ(LoadReader::CheckName(name),
              absl::InvalidArgumentError("invalid model name '" + EscapedText(name) +
                                         "', model name must not begin or end with white space"));
  }
  for (int c = 0; c < 0x80; ++c) {
    if (c >= 0x20 && c != 0x7f) continue;
    EXPECT_THAT(LoadReader::CheckName({'a', static_cast<char>(c), 'b'}).message(),
                HasSubstr("b', model name must not contain control characters"))
        << c;
  }
  EXPECT_THAT(LoadReader::CheckName("a\xff").message(),
              HasSubstr("'a\\xff', model name must be UTF-8"));
  EXPECT_FALSE(LoadReader::CheckName(std::string(256, 'a')).ok());
  EXPECT_TRUE(LoadReader::CheckName(std::string(255, 'a')).ok());
  EXPECT_TRUE(LoadReader::CheckName("a model").ok());
}

TEST_F(LoadReaderTest, OfManyRepositoriesOnlySomeAreNamed) {
  RepositoryList list(&repository_.fs, {"/a", "/b", "/c", "/d", "/e", "/f"}, false);
  EXPECT_EQ(
      Reader(&list).Locate("x").status(),
      absl::InternalError("failed to load 'x', failed to poll from model repository: no model "
                          "'x' in '/a', '/b', '/c', '/d' and 2 other repositories"));
}

TEST_F(LoadReaderTest, AModelThatLiesTwice) {
  repository_.Write("m");
  repository_.Write("m", {1}, "", "/other");
  RepositoryList list(&repository_.fs, {"/models", "/other"}, false);
  EXPECT_EQ(Reader(&list).Locate("m").status(), absl::InvalidArgumentError(kAmbiguousReason));
  EXPECT_EQ(catalogue_.Directory().models.at("m").reason, kAmbiguousReason);
  RepositoryList spaces(&repository_.fs, {"/models", "/other"}, true);
  EXPECT_THAT(*Reader(&spaces).Locate("m"),
              ElementsAre(std::pair(ModelId{"/models", "m"}, "/models/m"),
                          std::pair(ModelId{"/other", "m"}, "/other/m")));
}

TEST_F(LoadReaderTest, AModelMayGoBetweenTwoLooks) {
  RepositoryList list(&repository_.fs, {"/models"}, false);
  EXPECT_THAT(std::string(Reader(&list).Scan({"", "m"}, "/models/m").status().message()),
              HasSubstr("failed to load 'm', failed to poll from model repository: "));
  EXPECT_TRUE(Reader(&list).Scan({"", "m"}, "")->files.empty()) << "its files are in the request";
}

TEST_F(LoadReaderTest, MembersAreReadWithTheirMembers) {
  for (const char* name : {"a", "b"}) repository_.Write(name);
  repository_.WriteEnsemble("inner", FakeRepository::Step("a", "in", "out"));
  repository_.WriteEnsemble("outer", FakeRepository::Step("inner", "in", "out"));
  RepositoryList list(&repository_.fs, {"/models"}, false);
  const LoadReader reader = Reader(&list);
  const auto outer = reader.Read({"", "outer"}, *reader.Scan({"", "outer"}, "/models/outer"), {});
  ASSERT_TRUE(outer->config.ok()) << outer->config.status();
  EXPECT_THAT(outer->MemberNames(), ElementsAre("inner"));
  LoadInput input;
  PreparedModels prepared;
  reader.ReadMembers(*outer, &input, &prepared);
  std::vector<std::string> names;
  for (const auto& [id, model] : prepared) names.push_back(id.name);
  EXPECT_THAT(names, UnorderedElementsAre("inner", "a"));
  EXPECT_THAT(input.found.at({"", "inner"}).members, ElementsAre("a"));
  input = {};
  prepared.clear();
  input.running[{"", "inner"}].serving = true;
  reader.ReadMembers(*outer, &input, &prepared);
  EXPECT_TRUE(prepared.empty()) << "what serves is not read again";
}

}  // namespace
}  // namespace nereid
