// ResourceLedger: which instances hold which resources of the rate limiter, and who gets its
// resources next. Pure: no lock, no clock, no thread. Thread-compatible.
//
// An instance that has work is staged; Grant() gives resources to staged instances, in the order of
// their turns. An instance of priority p gets one turn where one of priority 1 gets p; one that was
// idle catches up on nothing. Who cannot have all it needs takes nothing, and those behind it get
// nothing of what it needs, so that it gets there in the end; others go past it.
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

// Counts of resources that the server has, by name and device; kEveryDevice stands for any device.
// Of several counts that concern a pool the largest holds. What is not listed at all counts as much
// as the instance that needs the most of it.
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

  // Takes an instance on. INVALID_ARGUMENT if a limit is below what it needs, or a resource is
  // global here and a device's elsewhere.
  absl::StatusOr<Id> Add(const InstanceSpec& instance);
  // Lets it go, with all that it holds.
  void Remove(Id id);

  // These three take no memory.
  // The instance has work. No-op for one that is staged or holds its resources.
  void Stage(Id id) noexcept;
  // Gives staged instances their resources; `tell` hears of those that have got them, in the order
  // of their turns.
  void Grant(absl::FunctionRef<void(Id)> tell) noexcept;
  // Takes back what a granted instance holds. One that has not used it keeps its turn.
  void Release(Id id, bool used) noexcept;

  // Every pool that an instance needs something of.
  std::map<Pool, Stock> Stocks() const;

 private:
  enum class State { kIdle, kStaged, kHolding };
  struct Turn {
    uint64_t end;
    uint64_t order;
    Id id;
    auto operator<=>(const Turn&) const = default;
  };
  using Turns = std::set<Turn>;
  struct Member {
    std::map<Pool, uint64_t> needs;
    uint64_t priority = 1;
    State state = State::kIdle;
    // Turns are counted in virtual time: from `start`, for `priority` long.
    uint64_t start = 0;
    uint64_t next_start = 0;
    uint64_t order = 0;     // of staging, where turns are equal
    Turns::node_type turn;  // made with it; empty in kStaged
  };
  struct PoolState {
    Stock stock;
    std::multiset<uint64_t> needs;  // of all members
    uint64_t awaited_in = 0;        // the last round in which somebody waited for it
  };

  absl::Status Check(const std::map<Pool, uint64_t>& needs) const;
  // What the server was told it has of `pool`; none: nothing was said.
  std::optional<uint64_t> Limit(const Pool& pool) const;
  void UpdateCapacity(const Pool& pool, PoolState* state) const;
  bool Fits(const Member& member) const;
  static Turn TurnOf(Id id, const Member& member) {
    return {member.start + member.priority, member.order, id};
  }

  const ResourceLimits limits_;
  std::map<Id, Member> members_;
  std::map<Pool, PoolState> pools_;
  Turns staged_;
  uint64_t rounds_ = 0;  // of Grant
  uint64_t now_ = 0;     // virtual time: where the last granted turn starts
  Id next_id_ = 1;
  uint64_t next_order_ = 1;
};

}  // namespace nereid

#endif  // NEREID_EXECUTION_RESOURCE_LEDGER_H_
