#include "observe/metrics/prometheus_text.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

TEST(EscapeLabelValueTest, EscapesWhatTheFormatAsksFor) {
  EXPECT_EQ(EscapeLabelValue("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
}

}  // namespace
}  // namespace nereid
