// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/catalogue/model_state.h"

#include <utility>

namespace nereid {
namespace {

// The reason of a version that was unloaded on purpose.
constexpr char kUnloadedReason[] = "unloaded";

std::string ReasonText(const std::string& reason) {
  return reason.empty() ? kUnloadedReason : reason;
}

}  // namespace

VersionState After(VersionState state, VersionEvent event) {
  using enum VersionState;
  switch (event) {
    case VersionEvent::kLoadBegins:
      return state == kReady ? kReady : kLoading;
    case VersionEvent::kServes:
      return state == kLoading ? kReady : state;
    case VersionEvent::kLoadFails:
      return state == kLoading ? kFailed : state;
    case VersionEvent::kRetires:
      if (state == kReady) return kDraining;
      return state == kFailed ? kRetired : state;
    case VersionEvent::kLeftOut:
      return state == kLoading || state == kAbsent ? state : kDraining;
    case VersionEvent::kTornDown:
      return state == kDraining ? kRetired : state;
  }
  return state;
}

const char* VersionStateName(VersionState state) {
  switch (state) {
    case VersionState::kAbsent:
      return "UNKNOWN";
    case VersionState::kLoading:
      return "LOADING";
    case VersionState::kReady:
      return "READY";
    case VersionState::kDraining:
      return "UNLOADING";
    case VersionState::kFailed:
    case VersionState::kRetired:
      return "UNAVAILABLE";
  }
  return "UNKNOWN";
}

ReadinessRole RoleInReadiness(VersionState state, bool model_serves) {
  switch (state) {
    case VersionState::kReady:
      return ReadinessRole::kAsked;
    case VersionState::kDraining:
    case VersionState::kRetired:
      return ReadinessRole::kIgnored;
    case VersionState::kLoading:
      return model_serves ? ReadinessRole::kIgnored : ReadinessRole::kMissing;
    case VersionState::kAbsent:
    case VersionState::kFailed:
      break;
  }
  return ReadinessRole::kMissing;
}

void VersionEntry::BeginLoad() {
  state_ = After(state_, VersionEvent::kLoadBegins);
  if (state_ == VersionState::kLoading) reason_.clear();
}

void VersionEntry::Serve(std::shared_ptr<ManagedModel> model) {
  state_ = After(state_, VersionEvent::kServes);
  reason_.clear();
  model_ = std::move(model);
}

void VersionEntry::FailLoad(std::string reason) {
  state_ = After(state_, VersionEvent::kLoadFails);
  if (state_ == VersionState::kFailed) reason_ = std::move(reason);
}

void VersionEntry::Retire(const std::string& reason) {
  state_ = After(state_, VersionEvent::kRetires);
  if (state_ == VersionState::kRetired) reason_ = ReasonText(reason);
}

void VersionEntry::TornDown(const std::string& reason) {
  model_ = nullptr;
  if (state_ != VersionState::kDraining) return;
  state_ = After(state_, VersionEvent::kTornDown);
  reason_ = ReasonText(reason);
}

}  // namespace nereid
