#include "infer/scheduler_slot.h"

#include <gtest/gtest.h>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

struct QueuePlace : SlotOf<QueuePlace> {
  QueuePlace() = default;
  int number = 1;
};
struct Owner : SlotOf<Owner> {
  int number = 2;
};
struct Stranger : SlotOf<Stranger> {
  int number = 3;
};

class SchedulerSlotTest : public ::testing::Test {
 protected:
  TestRequest request_{FakeModel::Make(ModelBuilder("m"))};
};

TEST_F(SchedulerSlotTest, IsGivenBackAsWhatItIsAndAsNothingElse) {
  EXPECT_EQ(request_->FindSlot<Owner>(), nullptr);
  Owner owner;
  request_->PutSlot(&owner);
  EXPECT_EQ(request_->FindSlot<Owner>(), &owner);
  EXPECT_EQ(request_->FindSlot<Stranger>(), nullptr);
  request_->TakeSlot(&owner);
  EXPECT_EQ(request_->FindSlot<Owner>(), nullptr);
}

TEST_F(SchedulerSlotTest, APartPutsItsSlotOverTheSchedulers) {
  Owner owner;
  QueuePlace place;
  request_->PutSlot(&owner);
  request_->PutSlot(&place);
  EXPECT_EQ(request_->FindSlot<QueuePlace>(), &place);
  EXPECT_EQ(request_->FindSlot<Owner>(), &owner);
  request_->TakeSlot(&place);
  EXPECT_EQ(request_->FindSlot<QueuePlace>(), nullptr);
  EXPECT_EQ(request_->FindSlot<Owner>(), &owner);
  request_->TakeSlot(&owner);
}

TEST_F(SchedulerSlotTest, SeveralRequestsMayShareTheFirst) {
  TestRequest other(request_->model());
  Owner owner;
  QueuePlace place;
  request_->PutSlot(&owner);
  request_->PutSlot(&place);
  other->PutSlot(&owner);
  EXPECT_EQ(request_->FindSlot<Owner>(), &owner);
  EXPECT_EQ(other->FindSlot<Owner>(), &owner);
  EXPECT_EQ(other->FindSlot<QueuePlace>(), nullptr);
}

TEST_F(SchedulerSlotTest, CanBeMadeAnewWhereItLies) {
  QueuePlace place;
  request_->PutSlot(&place);
  request_->TakeSlot(&place);
  place = QueuePlace{};
  request_->PutSlot(&place);
  EXPECT_EQ(request_->FindSlot<QueuePlace>(), &place);
}

}  // namespace
}  // namespace nereid
