// SPDX-License-Identifier: Apache-2.0
#include "execution/resource_ledger.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "base/status_macros.h"

namespace nereid {
namespace {

absl::Status MixedError(const std::string& name) {
  return absl::InvalidArgumentError(
      absl::StrCat("Resource \"", name,
                   "\" is present as both global and device-specific resource in the model "
                   "configuration."));
}

}  // namespace

std::optional<uint64_t> ResourceLedger::Limit(const Pool& pool) const {
  const auto by_device = limits_.find(pool.name);
  if (by_device == limits_.end()) return std::nullopt;
  std::optional<uint64_t> limit;
  for (const auto& [device, count] : by_device->second) {
    // For a global resource, the device in the configuration does not matter.
    if (pool.device == Pool::kGlobal || device == kEveryDevice || device == pool.device) {
      limit = std::max(limit.value_or(0), count);
    }
  }
  return limit;
}

absl::Status ResourceLedger::Check(const std::map<Pool, uint64_t>& needs) const {
  std::map<std::string, bool> is_global;
  for (const auto& [pool, state] : pools_) is_global[pool.name] = pool.device == Pool::kGlobal;
  for (const auto& [pool, count] : needs) {
    const bool global = pool.device == Pool::kGlobal;
    if (is_global.try_emplace(pool.name, global).first->second != global) {
      return MixedError(pool.name);
    }
    uint64_t most = count;
    if (const auto it = pools_.find(pool); it != pools_.end()) {
      most = std::max(most, *it->second.needs.rbegin());
    }
    if (const std::optional<uint64_t> limit = Limit(pool); limit.has_value() && *limit < most) {
      return absl::InvalidArgumentError(
          absl::StrCat("Resource count for \"", pool.name, "\" is limited to ", *limit,
                       " which will prevent scheduling of one or more model instances, the "
                       "minimum required count is ",
                       most));
    }
  }
  return absl::OkStatus();
}

void ResourceLedger::UpdateCapacity(const Pool& pool, PoolState* state) const {
  state->stock.capacity = Limit(pool).value_or(*state->needs.rbegin());
}

absl::StatusOr<ResourceLedger::Id> ResourceLedger::Add(const InstanceSpec& instance) {
  Member member;
  member.priority = instance.rate_priority;
  for (const ResourceNeed& need : instance.resources) {
    member.needs[{need.name, need.global ? Pool::kGlobal : instance.device_id}] += need.count;
  }
  RETURN_IF_ERROR(Check(member.needs));
  Turns one = {Turn{}};
  member.turn = one.extract(one.begin());
  for (const auto& [pool, count] : member.needs) {
    PoolState& state = pools_[pool];
    state.needs.insert(count);
    UpdateCapacity(pool, &state);
  }
  const Id id = next_id_++;
  members_.emplace(id, std::move(member));
  return id;
}

void ResourceLedger::Remove(Id id) {
  const auto it = members_.find(id);
  Member& member = it->second;
  if (member.state == State::kHolding) Release(id, /*used=*/true);
  if (member.state == State::kStaged) staged_.erase(TurnOf(id, member));
  for (const auto& [pool, count] : member.needs) {
    const auto pool_it = pools_.find(pool);
    PoolState& state = pool_it->second;
    state.needs.erase(state.needs.find(count));
    if (state.needs.empty()) {
      pools_.erase(pool_it);
    } else {
      // The capacity may fall below what is in use. Then nothing is granted until enough has been
      // released.
      UpdateCapacity(pool, &state);
    }
  }
  members_.erase(it);
}

void ResourceLedger::Stage(Id id) noexcept {
  Member& member = members_.find(id)->second;
  if (member.state != State::kIdle) return;
  member.state = State::kStaged;
  member.start = std::max(member.next_start, now_);
  member.order = next_order_++;
  member.turn.value() = TurnOf(id, member);
  staged_.insert(std::move(member.turn));
}

void ResourceLedger::Unstage(Id id) noexcept {
  Member& member = members_.find(id)->second;
  if (member.state != State::kStaged) return;
  member.turn = staged_.extract(TurnOf(id, member));
  member.state = State::kIdle;
}

bool ResourceLedger::Fits(const Member& member) const {
  return std::all_of(member.needs.begin(), member.needs.end(), [&](const auto& need) {
    const Stock& stock = pools_.at(need.first).stock;
    return stock.in_use + need.second <= stock.capacity;
  });
}

void ResourceLedger::Grant(absl::FunctionRef<void(Id)> tell) noexcept {
  ++rounds_;  // marks the pools that a member with an earlier turn awaits in this call
  for (auto turn = staged_.begin(); turn != staged_.end();) {
    Member& member = members_.find(turn->id)->second;
    const bool behind = std::any_of(
        member.needs.begin(), member.needs.end(),
        [&](const auto& need) { return pools_.find(need.first)->second.awaited_in == rounds_; });
    if (behind || !Fits(member)) {
      for (const auto& [pool, count] : member.needs) pools_.find(pool)->second.awaited_in = rounds_;
      ++turn;
      continue;
    }
    for (const auto& [pool, count] : member.needs) pools_.find(pool)->second.stock.in_use += count;
    member.state = State::kHolding;
    now_ = std::max(now_, member.start);
    const auto granted = turn++;
    const Id id = granted->id;
    member.turn = staged_.extract(granted);
    tell(id);
  }
}

void ResourceLedger::Release(Id id, bool used) noexcept {
  Member& member = members_.find(id)->second;
  if (member.state != State::kHolding) return;
  for (const auto& [pool, count] : member.needs) pools_.find(pool)->second.stock.in_use -= count;
  member.state = State::kIdle;
  member.next_start = member.start + (used ? member.priority : 0);
}

std::map<ResourceLedger::Pool, ResourceLedger::Stock> ResourceLedger::Stocks() const {
  std::map<Pool, Stock> stocks;
  for (const auto& [pool, state] : pools_) stocks[pool] = state.stock;
  return stocks;
}

}  // namespace nereid
