#include "execution/instance_runner.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

class EmptySource final : public BatchSource {
 public:
  Batch Pull() override { return {}; }
};

class FailingInstance final : public Instance {
 public:
  absl::Status Initialize() override { return absl::InternalError("no"); }
  void Execute(Batch batch) override { FAIL(); }
  void Finalize() override { FAIL(); }
};

TEST(InstanceRunnerTest, TellsThatTheInstanceFailedToInitialise) {
  EmptySource source;
  InstanceRunner runner("name", std::make_unique<FailingInstance>(), &source);
  EXPECT_EQ(runner.WaitInitialized(), absl::InternalError("no"));
}

}  // namespace
}  // namespace nereid
