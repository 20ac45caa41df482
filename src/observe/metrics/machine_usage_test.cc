#include "observe/metrics/machine_usage.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

TEST(ParseCpuTicksTest, RefusesAnythingElse) { EXPECT_FALSE(ParseCpuTicks("").has_value()); }

}  // namespace
}  // namespace nereid
