// SPDX-License-Identifier: Apache-2.0
#include "process_stat/available_memory.h"

#include <gmock/gmock.h>
#include <unistd.h>

namespace nereid {
namespace {

TEST(AvailableMemoryTest, IsAPartOfAllMemory) {
  const auto available = AvailableMemory();
  ASSERT_TRUE(available.has_value());
  EXPECT_GT(*available, uint64_t{16} << 20);
  EXPECT_LT(*available, static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                            static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace
}  // namespace nereid
