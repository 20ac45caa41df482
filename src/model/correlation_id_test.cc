// SPDX-License-Identifier: Apache-2.0
#include "model/correlation_id.h"

#include <gtest/gtest.h>

#include "model/parameter.h"

namespace nereid {
namespace {

TEST(CorrelationIdTest, NoneByDefault) {
  EXPECT_FALSE(CorrelationId().present());
  EXPECT_FALSE(CorrelationId().is_string());
  EXPECT_EQ(CorrelationId().uint_value(), 0u);
}

TEST(CorrelationIdTest, ZeroAndTheEmptyTextAreNone) {
  EXPECT_FALSE(CorrelationId(uint64_t{0}).present());
  EXPECT_FALSE(CorrelationId(std::string()).present());
  EXPECT_TRUE(CorrelationId(uint64_t{1}).present());
  EXPECT_TRUE(CorrelationId(std::string("a")).present());
}

TEST(CorrelationIdTest, NumbersAndTextsAreDifferentThings) {
  EXPECT_EQ(CorrelationId(uint64_t{7}), CorrelationId(uint64_t{7}));
  EXPECT_NE(CorrelationId(uint64_t{7}), CorrelationId(uint64_t{8}));
  EXPECT_NE(CorrelationId(uint64_t{7}), CorrelationId(std::string("7")));
  EXPECT_NE(CorrelationId(), CorrelationId(std::string()));
}

TEST(CorrelationIdTest, ReadsAlike) {
  EXPECT_EQ(CorrelationId(uint64_t{18446744073709551615u}).ToString(), "18446744073709551615");
  EXPECT_EQ(CorrelationId(std::string("seq")).ToString(), "seq");
  EXPECT_EQ(CorrelationId(std::string("seq")).string_value(), "seq");
}

TEST(ParameterTest, TheCApiSeesTheValueItself) {
  const ParameterValue text = std::string("abc"), number = int64_t{-5}, flag = true, real = 0.5;
  EXPECT_STREQ(static_cast<const char*>(ParameterValuePointer(text)), "abc");
  EXPECT_EQ(*static_cast<const int64_t*>(ParameterValuePointer(number)), -5);
  EXPECT_TRUE(*static_cast<const bool*>(ParameterValuePointer(flag)));
  EXPECT_EQ(*static_cast<const double*>(ParameterValuePointer(real)), 0.5);
}

}  // namespace
}  // namespace nereid
