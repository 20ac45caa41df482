// SPDX-License-Identifier: Apache-2.0
#include "infer/infer_request.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace nereid {
namespace {

constexpr RequestState kAll[] = {RequestState::kInitialized, RequestState::kPending,
                                 RequestState::kExecuting, RequestState::kReleased,
                                 RequestState::kFailedEnqueue};

const std::map<RequestState, std::string> kNames = {
    {RequestState::kInitialized, "INITIALIZED"},      {RequestState::kPending, "PENDING"},
    {RequestState::kExecuting, "EXECUTING"},          {RequestState::kReleased, "RELEASED"},
    {RequestState::kFailedEnqueue, "FAILED_ENQUEUE"},
};

// The steps drawn in the header.
const std::set<std::pair<RequestState, RequestState>> kAllowed = {
    {RequestState::kInitialized, RequestState::kPending},
    {RequestState::kInitialized, RequestState::kReleased},
    {RequestState::kPending, RequestState::kExecuting},
    {RequestState::kPending, RequestState::kReleased},
    {RequestState::kPending, RequestState::kFailedEnqueue},
    {RequestState::kExecuting, RequestState::kReleased},
    {RequestState::kExecuting, RequestState::kPending},
    {RequestState::kReleased, RequestState::kInitialized},
    {RequestState::kFailedEnqueue, RequestState::kInitialized},
};

// A life that has come to `state` by allowed steps.
RequestLifecycle At(RequestState state) {
  static const std::map<RequestState, std::vector<RequestState>> kPaths = {
      {RequestState::kInitialized, {}},
      {RequestState::kPending, {RequestState::kPending}},
      {RequestState::kExecuting, {RequestState::kPending, RequestState::kExecuting}},
      {RequestState::kReleased, {RequestState::kReleased}},
      {RequestState::kFailedEnqueue, {RequestState::kPending, RequestState::kFailedEnqueue}},
  };
  RequestLifecycle life;
  for (const RequestState step : kPaths.at(state)) EXPECT_TRUE(life.MoveTo(step, "").ok());
  EXPECT_EQ(life.state(), state);
  return life;
}

TEST(RequestLifecycleTest, ARequestBeginsInitialized) {
  EXPECT_EQ(RequestLifecycle().state(), RequestState::kInitialized);
}

TEST(RequestLifecycleTest, EveryPairOfStatesIsAllowedOrRefusedAsDrawn) {
  for (const RequestState from : kAll) {
    for (const RequestState to : kAll) {
      SCOPED_TRACE(kNames.at(from) + " -> " + kNames.at(to));
      RequestLifecycle life = At(from);
      const absl::Status status = life.MoveTo(to, "[request id: 7] ");
      if (from == to || kAllowed.count({from, to}) > 0) {
        EXPECT_TRUE(status.ok()) << status;
        EXPECT_EQ(life.state(), to);
        continue;
      }
      EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
      EXPECT_EQ(status.message(), "[request id: 7] Invalid request state transition from " +
                                      kNames.at(from) + " to " + kNames.at(to));
      EXPECT_EQ(life.state(), from) << "a refused step must not move";
    }
  }
}

}  // namespace
}  // namespace nereid
