#include "observe/stats/model_statistics.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

TEST(ModelStatisticsTest, BeginAtZero) {
  EXPECT_EQ(ModelStatistics(1, 4).Snapshot().inference_count, 0u);
}

}  // namespace
}  // namespace nereid
