// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/catalogue/sharing_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "lifecycle/testing/small_stack.h"

namespace nereid {
namespace {

struct Entry {
  int value = 0;
};

using Map = SharingMap<Entry>;

void ExpectEqual(const Map& map, const std::map<std::string, int>& expected) {
  ASSERT_EQ(map.size(), expected.size());
  auto it = map.begin();
  for (const auto& [key, value] : expected) {
    ASSERT_NE(it, map.end());
    ASSERT_EQ(it->first, key);
    ASSERT_EQ(it->second.value, value);
    ASSERT_EQ(map.find(key), it);
    ASSERT_EQ(map.at(key).value, value);
    ++it;
  }
  ASSERT_EQ(it, map.end());
}

TEST(SharingMapTest, HasWhatStdMapHasAndKeepsItsCopies) {
  std::mt19937 random(7);
  Map map;
  std::map<std::string, int> expected;
  std::vector<std::pair<Map, std::map<std::string, int>>> copies;
  for (int step = 0; step < 20'000; ++step) {
    const std::string key = std::to_string(random() % 300);
    if (random() % 3 > 0) {
      map[key].value = step;
      expected[key] = step;
    } else if (expected.erase(key) > 0) {
      map.erase(map.find(key));
    } else {
      ASSERT_EQ(map.find(key), map.end());
    }
    if (step % 1000 == 0) copies.emplace_back(map, expected);
  }
  map.EraseIf([](const Entry& entry) { return entry.value % 2 == 0; });
  std::erase_if(expected, [](const auto& element) { return element.second % 2 == 0; });
  ExpectEqual(map, expected);
  for (const auto& [copy, then] : copies) ExpectEqual(copy, then);
}

TEST(SharingMapTest, KeysInOrderMakeNoLongWay) {
  // A tree that is not balanced would be as deep as it has keys, and the stack would not do.
  constexpr int kKeys = 20'000;
  OnSmallStack([] {
    Map map;
    for (int i = 0; i < kKeys; ++i) map[std::to_string(100'000 + i)].value = i;
    const Map copy = map;
    for (int i = 0; i < kKeys; i += 2) map.erase(map.find(std::to_string(100'000 + i)));
    EXPECT_EQ(map.size(), kKeys / 2u);
    EXPECT_EQ(copy.size(), size_t{kKeys});
    EXPECT_EQ(map.begin()->second.value, 1);
    EXPECT_EQ(copy.at("100000").value, 0);
  });
}

TEST(SharingMapTest, TellsWhatHasChanged) {
  Map map;
  map["a"].value = 1;
  map["b"].value = 2;
  map.TakeChanges();
  map["a"].value = 3;
  map.erase(map.find("b"));
  map["c"];
  const std::vector<Map::Change> changes = map.TakeChanges();
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].key, "a");
  EXPECT_EQ(changes[0].before->value, 1);
  EXPECT_EQ(changes[1].key, "b");
  EXPECT_EQ(changes[1].before->value, 2);
  EXPECT_EQ(changes[2].key, "c");
  EXPECT_EQ(changes[2].before, nullptr);
  EXPECT_TRUE(map.TakeChanges().empty());
}

}  // namespace
}  // namespace nereid
