// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/binary_tensor.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid {
namespace {

using std::string_literals::operator""s;

std::vector<std::string> Elements(const std::string& tensor, bool* complete) {
  BytesElements elements(tensor);
  absl::string_view element;
  std::vector<std::string> all;
  while (elements.Next(&element)) all.emplace_back(element);
  *complete = elements.complete();
  return all;
}

TEST(BinaryTensorTest, WalksWhatWasAppended) {
  const std::vector<std::string> texts = {"", "a", "\0\xff"s, std::string(70000, 'x')};
  std::string tensor;
  for (const std::string& text : texts) AppendBytesElement(text, &tensor);
  bool complete = false;
  EXPECT_EQ(Elements(tensor, &complete), texts);
  EXPECT_TRUE(complete);
  EXPECT_EQ(CountBytesElements(tensor), 4);
}

TEST(BinaryTensorTest, LengthIsLittleEndian) {
  std::string tensor;
  AppendBytesElement(std::string(258, 'y'), &tensor);
  EXPECT_EQ(tensor.substr(0, 4), "\x02\x01\0\0"s);
}

TEST(BinaryTensorTest, EmptyTensorHasNoElements) {
  bool complete = false;
  EXPECT_TRUE(Elements("", &complete).empty());
  EXPECT_TRUE(complete);
  EXPECT_EQ(CountBytesElements(""), 0);
}

TEST(BinaryTensorTest, EveryTruncationIsSeen) {
  std::string tensor;
  AppendBytesElement("abc", &tensor);
  AppendBytesElement("de", &tensor);
  for (size_t size = 1; size < tensor.size(); ++size) {
    const bool at_element_end = size == 7;
    EXPECT_EQ(CountBytesElements(absl::string_view(tensor).substr(0, size)).has_value(),
              at_element_end)
        << size;
  }
}

TEST(BinaryTensorTest, LengthBeyondTheEndIsIncomplete) {
  bool complete = true;
  EXPECT_TRUE(Elements("\xff\xff\xff\xff"s, &complete).empty());
  EXPECT_FALSE(complete);
  EXPECT_TRUE(Elements("\x04\0\0\0abc"s, &complete).empty());
  EXPECT_FALSE(complete);
}

}  // namespace
}  // namespace nereid
