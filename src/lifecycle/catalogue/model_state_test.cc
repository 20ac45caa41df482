// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/catalogue/model_state.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "lifecycle/model/loaded_model.h"
#include "lifecycle/testing/fake_repository.h"

namespace nereid {
namespace {

using State = VersionState;
using Event = VersionEvent;

constexpr State kStates[] = {State::kAbsent,   State::kLoading, State::kReady,
                             State::kDraining, State::kFailed,  State::kRetired};

TEST(VersionStateTest, EveryEventInEveryState) {
  struct Row {
    Event event;
    State after[6];  // in the order of kStates
  };
  using enum State;
  const Row rows[] = {
      {Event::kLoadBegins, {kLoading, kLoading, kReady, kLoading, kLoading, kLoading}},
      {Event::kServes, {kAbsent, kReady, kReady, kDraining, kFailed, kRetired}},
      {Event::kLoadFails, {kAbsent, kFailed, kReady, kDraining, kFailed, kRetired}},
      {Event::kRetires, {kAbsent, kLoading, kDraining, kDraining, kRetired, kRetired}},
      {Event::kLeftOut, {kAbsent, kLoading, kDraining, kDraining, kDraining, kDraining}},
      {Event::kTornDown, {kAbsent, kLoading, kReady, kRetired, kFailed, kRetired}},
  };
  for (const Row& row : rows) {
    for (size_t i = 0; i < std::size(kStates); ++i) {
      EXPECT_EQ(After(kStates[i], row.event), row.after[i])
          << "state " << i << ", event " << static_cast<int>(row.event);
    }
  }
}

TEST(VersionStateTest, NamesAreThoseOfTheProtocol) {
  EXPECT_STREQ(VersionStateName(State::kAbsent), "UNKNOWN");
  EXPECT_STREQ(VersionStateName(State::kLoading), "LOADING");
  EXPECT_STREQ(VersionStateName(State::kReady), "READY");
  EXPECT_STREQ(VersionStateName(State::kDraining), "UNLOADING");
  EXPECT_STREQ(VersionStateName(State::kFailed), "UNAVAILABLE");
  EXPECT_STREQ(VersionStateName(State::kRetired), "UNAVAILABLE");
}

TEST(VersionStateTest, WhatTheServerWaitsFor) {
  struct Row {
    State state;
    ReadinessRole alone, beside;  // where no version of the model serves, or one does
  };
  using enum ReadinessRole;
  const Row rows[] = {
      {State::kAbsent, kMissing, kMissing}, {State::kLoading, kMissing, kIgnored},
      {State::kReady, kAsked, kAsked},      {State::kDraining, kIgnored, kIgnored},
      {State::kFailed, kMissing, kMissing}, {State::kRetired, kIgnored, kIgnored},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(RoleInReadiness(row.state, false), row.alone) << static_cast<int>(row.state);
    EXPECT_EQ(RoleInReadiness(row.state, true), row.beside) << static_cast<int>(row.state);
  }
}

class VersionEntryTest : public ::testing::Test {
 protected:
  VersionEntryTest() {
    repository_.Write("m");
    ConfigSource source;
    source.model_dir = "/models/m";
    source.expected_name = "m";
    auto model = LoadedModel::Load(repository_.Context(), *LoadModelConfig(repository_.fs, source),
                                   "/models/m", 1);
    EXPECT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
  }

  void ExpectIs(State state, const std::string& reason, bool has_model) {
    EXPECT_EQ(entry_.state(), state);
    EXPECT_EQ(entry_.ready(), state == State::kReady);
    EXPECT_EQ(entry_.reason(), reason);
    EXPECT_EQ(entry_.model() != nullptr, has_model);
  }

  FakeRepository repository_;
  std::shared_ptr<ManagedModel> model_;
  VersionEntry entry_;
};

TEST_F(VersionEntryTest, FromItsLoadToItsEnd) {
  ExpectIs(State::kAbsent, "", false);
  entry_.BeginLoad();
  ExpectIs(State::kLoading, "", false);
  entry_.Serve(model_);
  ExpectIs(State::kReady, "", true);
  entry_.Retire("");
  ExpectIs(State::kDraining, "", true);
  entry_.TornDown("");
  ExpectIs(State::kRetired, "unloaded", false);
}

TEST_F(VersionEntryTest, AFailureIsTheReasonUntilTheNextLoad) {
  entry_.BeginLoad();
  entry_.FailLoad("why");
  ExpectIs(State::kFailed, "why", false);
  entry_.BeginLoad();
  ExpectIs(State::kLoading, "", false);
  entry_.FailLoad("again");
  entry_.Retire("its member has gone");
  ExpectIs(State::kRetired, "its member has gone", false);
  entry_.Retire("");
  ExpectIs(State::kRetired, "unloaded", false);
}

TEST_F(VersionEntryTest, AVersionThatServesIsNotTouchedByALoadThatFails) {
  entry_.BeginLoad();
  entry_.Serve(model_);
  entry_.BeginLoad();
  ExpectIs(State::kReady, "", true);
  entry_.FailLoad("why");
  ExpectIs(State::kReady, "", true);
}

TEST_F(VersionEntryTest, OneThatDrainsMayBeLoadedAgain) {
  entry_.BeginLoad();
  entry_.Serve(model_);
  entry_.Retire("");
  entry_.BeginLoad();
  ExpectIs(State::kLoading, "", true);
  entry_.FailLoad("why");
  ExpectIs(State::kFailed, "why", true);
  entry_.LeaveOut();
  ExpectIs(State::kDraining, "why", true);
  entry_.TornDown("its member has gone");
  ExpectIs(State::kRetired, "its member has gone", false);
}

TEST_F(VersionEntryTest, TheEndOfAnOldModelLeavesALoadAlone) {
  entry_.BeginLoad();
  entry_.Serve(model_);
  entry_.Retire("");
  entry_.BeginLoad();
  entry_.TornDown("");
  ExpectIs(State::kLoading, "", false);
}

}  // namespace
}  // namespace nereid
