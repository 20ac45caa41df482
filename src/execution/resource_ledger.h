// SPDX-License-Identifier: Apache-2.0
// ResourceLedger: which instances hold which resources of the rate limiter, and which instance gets
// its resources next. Pure: no lock, no clock, no thread. Thread-compatible.
//
// An instance that has work is staged; Grant() gives resources to staged instances, in the order of
// their turns. An instance of priority p gets one turn for every p turns of an instance of priority
// 1. An instance that was idle does not catch up on missed turns. An instance that cannot have all
// that it needs takes nothing; instances behind it get none of the resources that it needs, so that
// it gets them in the end. Instances that need other resources go past it.
#ifndef NEREID_EXECUTION_RESOURCE_LEDGER_H_
#define NEREID_EXECUTION_RESOURCE_LEDGER_H_

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/compiled_model.h"

namespace nereid {

// Counts of the server's resources, by name and device; kEveryDevice stands for any device. If
// several counts concern a pool, the largest holds. The count of a resource that is not listed is
// the largest need of any instance.
inline constexpr int kEveryDevice = -1;
using ResourceLimits = std::map<std::string, std::map<int, uint64_t>>;

class ResourceLedger {
 public:
  using Id = uint64_t;

  // One kind of resource: a pool of a device, or the global one.
  struct Pool {
    static constexpr int kGlobal = -2;
    std::string name;
    int device = 0;  // or kGlobal
    auto operator<=>(const Pool&) const = default;
  };
  // The resources of one pool.
  struct Stock {
    uint64_t capacity = 0;
    uint64_t in_use = 0;
  };

  explicit ResourceLedger(ResourceLimits limits) : limits_(std::move(limits)) {}

  // Adds an instance. INVALID_ARGUMENT if a limit is below what the instance needs, or if a
  // resource is global for this instance and a device's for another.
  absl::StatusOr<Id> Add(const InstanceSpec& instance);
  // Removes an instance, and takes back all that it holds.
  void Remove(Id id);

  // The next four functions take no memory.
  // Notes that the instance has work. No-op if it is staged or holds its resources.
  void Stage(Id id) noexcept;
  // The instance does not want its resources any more. No-op unless it is staged.
  void Unstage(Id id) noexcept;
  // Gives staged instances their resources. Calls `tell` for each instance that got its resources,
  // in the order of their turns.
  void Grant(absl::FunctionRef<void(Id)> tell) noexcept;
  // Takes back what a granted instance holds. An instance that has not used it keeps its turn.
  void Release(Id id, bool used) noexcept;

  // Every pool from which an instance needs resources.
  std::map<Pool, Stock> Stocks() const;

 private:
  enum class State { kIdle, kStaged, kHolding };
  struct Turn {
    uint64_t end;
    uint64_t priority;  // of turns that end together, those of the better priority come first
    uint64_t order;
    Id id;
    auto operator<=>(const Turn&) const = default;
  };
  using Turns = std::set<Turn>;
  struct Member {
    std::map<Pool, uint64_t> needs;
    uint64_t priority = 1;
    State state = State::kIdle;
    // Turns are counted in virtual time: a turn begins at `start` and lasts `priority`.
    uint64_t start = 0;
    uint64_t next_start = 0;
    uint64_t order = 0;     // order of staging; decides between turns of one priority
    Turns::node_type turn;  // made with the instance; empty in kStaged
  };
  struct PoolState {
    Stock stock;
    std::multiset<uint64_t> needs;  // of all members
    uint64_t awaited_in = 0;        // the last round in which an instance waited for the pool
  };

  absl::Status Check(const std::map<Pool, uint64_t>& needs) const;
  // The configured count of `pool`; none: not configured.
  std::optional<uint64_t> Limit(const Pool& pool) const;
  void UpdateCapacity(const Pool& pool, PoolState* state) const;
  bool Fits(const Member& member) const;
  static Turn TurnOf(Id id, const Member& member) {
    return {member.start + member.priority, member.priority, member.order, id};
  }

  const ResourceLimits limits_;
  std::map<Id, Member> members_;
  std::map<Pool, PoolState> pools_;
  Turns staged_;
  uint64_t rounds_ = 0;  // number of Grant calls
  uint64_t now_ = 0;     // virtual time: where the last granted turn starts
  Id next_id_ = 1;
  uint64_t next_order_ = 1;
};

}  // namespace nereid

#endif  // NEREID_EXECUTION_RESOURCE_LEDGER_H_
