#include "scheduling/dynamic/batch_policy.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

TEST(BatchCursorTest, BeginsAtTheHeadOfTheQueue) {
  EXPECT_EQ(BatchCursor().examined, 0u);
  EXPECT_FALSE(BatchCursor().closed);
}

}  // namespace
}  // namespace nereid
