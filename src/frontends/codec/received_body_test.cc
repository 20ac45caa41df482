// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/received_body.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

namespace nereid {
namespace {

TEST(ReceivedBodyTest, GrowingKeepsTheBytesAndTheirPlace) {
  constexpr size_t kAlignedOffset = 30;
  const std::shared_ptr<ReceivedBody> body = ReceivedBody::Reserve(100, kAlignedOffset);
  ASSERT_NE(body, nullptr);
  std::string sent;
  // Behind the object, on the heap, mapped, and mapped again.
  for (const size_t capacity : {100u, 5'000u, 3'000'000u, 20'000'000u}) {
    if (capacity > body->capacity()) ASSERT_TRUE(body->Grow(capacity));
    EXPECT_EQ(body->capacity(), capacity);
    body->Grant(capacity - sent.size(), BudgetUnits());
    const std::string piece(capacity - sent.size(), static_cast<char>('a' + sent.size() % 26));
    std::memcpy(body->mutable_end(), piece.data(), piece.size());
    body->Extend(piece.size());
    sent += piece;
    EXPECT_TRUE(body->text() == sent) << capacity;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(body->data() + kAlignedOffset) % 64, 0u) << capacity;
  }
  body->Seal();
  EXPECT_EQ(body->data()[sent.size() + ReceivedBody::kPadding - 1], '\0');
  EXPECT_FALSE(body->Grow(SIZE_MAX));
  EXPECT_TRUE(body->text() == sent) << "it is as it was";
}

}  // namespace
}  // namespace nereid
