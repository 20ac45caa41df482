// SPDX-License-Identifier: Apache-2.0
#include "execution/resource_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Pool = ResourceLedger::Pool;

InstanceSpec Needs(std::vector<ResourceNeed> resources, uint32_t priority = 1, int device = 0) {
  InstanceSpec spec;
  spec.resources = std::move(resources);
  spec.rate_priority = priority;
  spec.device_id = device;
  return spec;
}

std::vector<ResourceLedger::Id> Granted(ResourceLedger* ledger) {
  std::vector<ResourceLedger::Id> granted;
  ledger->Grant([&](ResourceLedger::Id id) { granted.push_back(id); });
  return granted;
}

class ResourceLedgerTest : public ::testing::Test {
 protected:
  ResourceLedger::Id Add(const InstanceSpec& spec) { return *ledger_.Add(spec); }
  std::vector<ResourceLedger::Id> Grant() { return Granted(&ledger_); }
  uint64_t Capacity(const std::string& name, int device = 0) {
    return ledger_.Stocks().at({name, device}).capacity;
  }

  ResourceLedger ledger_{{}};
};

// ---- Capacities.

TEST_F(ResourceLedgerTest, WithoutLimitsThereIsWhatTheNeediestNeeds) {
  const auto small = Add(Needs({{"R", false, 2}}));
  EXPECT_EQ(Capacity("R"), 2u);
  const auto big = Add(Needs({{"R", false, 7}}));
  EXPECT_EQ(Capacity("R"), 7u);
  ledger_.Remove(big);
  EXPECT_EQ(Capacity("R"), 2u);
  ledger_.Remove(small);
  EXPECT_THAT(ledger_.Stocks(), IsEmpty());
}

TEST_F(ResourceLedgerTest, EveryDeviceHasItsOwnButTheGlobalOnesAreOne) {
  Add(Needs({{"R", false, 2}, {"G", true, 1}}, 1, 0));
  Add(Needs({{"R", false, 3}, {"G", true, 4}}, 1, 1));
  EXPECT_EQ(Capacity("R", 0), 2u);
  EXPECT_EQ(Capacity("R", 1), 3u);
  EXPECT_EQ(Capacity("G", Pool::kGlobal), 4u);
}

TEST(ResourceLimitsTest, ALimitHoldsForItsDeviceOrForEvery) {
  ResourceLedger ledger({{"R", {{kEveryDevice, 10}, {1, 20}, {2, 5}}}, {"G", {{0, 6}, {3, 5}}}});
  ASSERT_TRUE(ledger.Add(Needs({{"R", false, 1}, {"G", true, 1}}, 1, 0)).ok());
  ASSERT_TRUE(ledger.Add(Needs({{"R", false, 1}}, 1, 1)).ok());
  ASSERT_TRUE(ledger.Add(Needs({{"R", false, 1}, {"S", false, 2}}, 1, 2)).ok());
  EXPECT_EQ((ledger.Stocks().at({"R", 0}).capacity), 10u);
  EXPECT_EQ((ledger.Stocks().at({"R", 1}).capacity), 20u);
  EXPECT_EQ((ledger.Stocks().at({"R", 2}).capacity), 10u);
  EXPECT_EQ((ledger.Stocks().at({"S", 2}).capacity), 2u) << "nothing was said of it";
  EXPECT_EQ((ledger.Stocks().at({"G", Pool::kGlobal}).capacity), 6u);
}

TEST(ResourceLimitsTest, ALimitBelowTheNeedIsAnError) {
  ResourceLedger ledger({{"resource1", {{kEveryDevice, 1}}}});
  EXPECT_TRUE(ledger.Add(Needs({{"resource1", false, 1}})).ok());
  EXPECT_EQ(ledger.Add(Needs({{"resource1", false, 4}})).status(),
            absl::InvalidArgumentError(
                "Resource count for \"resource1\" is limited to 1 which will prevent scheduling of "
                "one or more model instances, the minimum required count is 4"));
  EXPECT_EQ((ledger.Stocks().at({"resource1", 0}).capacity), 1u);
}

TEST_F(ResourceLedgerTest, GlobalHereAndADevicesThereIsAnError) {
  const absl::Status mixed = absl::InvalidArgumentError(
      "Resource \"resource2\" is present as both global and device-specific resource in the model "
      "configuration.");
  const auto global = Add(Needs({{"resource2", true, 1}}));
  EXPECT_EQ(ledger_.Add(Needs({{"resource2", false, 1}})).status(), mixed);
  ledger_.Remove(global);
  Add(Needs({{"resource2", false, 1}}));
  EXPECT_EQ(ledger_.Add(Needs({{"other", true, 1}, {"resource2", true, 1}})).status(), mixed);
  EXPECT_EQ(ledger_.Stocks().size(), 1u) << "nothing stays of what was refused";
  EXPECT_EQ(ledger_.Add(Needs({{"x", false, 1}, {"x", true, 1}})).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// ---- Turns.

TEST_F(ResourceLedgerTest, ResourcesAreHeldUntilTheyAreReleased) {
  const auto a = Add(Needs({{"R", false, 1}}));
  const auto b = Add(Needs({{"R", false, 1}}));
  ledger_.Stage(a);
  ledger_.Stage(a);
  EXPECT_THAT(Grant(), ElementsAre(a));
  ledger_.Stage(a);
  ledger_.Stage(b);
  EXPECT_THAT(Grant(), IsEmpty());
  EXPECT_EQ((ledger_.Stocks().at({"R", 0}).in_use), 1u);
  ledger_.Release(a, true);
  EXPECT_THAT(Grant(), ElementsAre(b));
  ledger_.Release(a, true);
  EXPECT_THAT(Grant(), IsEmpty()) << "what is not held cannot be released";
}

TEST_F(ResourceLedgerTest, WhoNeedsNothingNeverWaits) {
  const auto a = Add(Needs({{"R", false, 1}}));
  const auto b = Add(Needs({{"R", false, 1}}));
  const auto free = Add(Needs({}));
  for (const auto id : {a, b, free}) ledger_.Stage(id);
  EXPECT_THAT(Grant(), ElementsAre(a, free));
}

TEST_F(ResourceLedgerTest, WhoCannotHaveAllTakesNothingAndIsNotStarved) {
  ResourceLedger ledger({{"R", {{kEveryDevice, 4}}}});
  const auto small = *ledger.Add(Needs({{"R", false, 2}}));
  const auto big = *ledger.Add(Needs({{"R", false, 4}}));
  const auto other = *ledger.Add(Needs({{"R", false, 2}}));
  const auto elsewhere = *ledger.Add(Needs({{"S", false, 1}}));
  ledger.Stage(small);
  EXPECT_THAT(Granted(&ledger), ElementsAre(small));
  for (const auto id : {big, other, elsewhere}) ledger.Stage(id);
  EXPECT_THAT(Granted(&ledger), ElementsAre(elsewhere)) << "other waits behind big";
  ledger.Release(small, true);
  EXPECT_THAT(Granted(&ledger), ElementsAre(big));
  ledger.Release(big, true);
  EXPECT_THAT(Granted(&ledger), ElementsAre(other));
}

TEST_F(ResourceLedgerTest, RemovingAnInstanceGivesBackWhatItHolds) {
  const auto a = Add(Needs({{"R", false, 1}}));
  const auto b = Add(Needs({{"R", false, 1}}));
  ledger_.Stage(a);
  Grant();
  ledger_.Stage(b);
  ledger_.Remove(a);
  EXPECT_THAT(Grant(), ElementsAre(b));
  const auto c = Add(Needs({{"R", false, 1}}));
  ledger_.Stage(c);
  ledger_.Remove(c);
  ledger_.Release(b, true);
  EXPECT_THAT(Grant(), IsEmpty());
}

// How many of the next `turns` turns each of `ids` gets, if all of them always have work.
std::vector<int> Turns(ResourceLedger* ledger, const std::vector<ResourceLedger::Id>& ids,
                       int turns) {
  std::vector<int> counts(ids.size(), 0);
  for (const auto id : ids) ledger->Stage(id);
  for (int i = 0; i < turns; ++i) {
    const std::vector<ResourceLedger::Id> granted = Granted(ledger);
    EXPECT_EQ(granted.size(), 1u);
    for (const auto id : granted) {
      ++counts[static_cast<size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin())];
      ledger->Release(id, true);
      ledger->Stage(id);
    }
  }
  return counts;
}

TEST_F(ResourceLedgerTest, APriorityOfTwoGetsHalfTheTurnsOfOne) {
  const auto first = Add(Needs({{"R", false, 1}}, 1));
  const auto second = Add(Needs({{"R", false, 1}}, 2));
  const auto fourth = Add(Needs({{"R", false, 1}}, 4));
  const std::vector<int> turns = Turns(&ledger_, {first, second, fourth}, 700);
  EXPECT_NEAR(turns[0], 400, 4);
  EXPECT_NEAR(turns[1], 200, 4);
  EXPECT_NEAR(turns[2], 100, 4);
}

// Also within few turns, and whoever of the two asked first.
TEST_F(ResourceLedgerTest, TheBetterPriorityIsAheadFromTheFirstTurn) {
  const auto second = Add(Needs({{"R", false, 1}}, 2));
  const auto first = Add(Needs({{"R", false, 1}}, 1));
  ledger_.Stage(second);
  ledger_.Stage(first);
  int firsts = 0;
  for (int seconds = 0; seconds < 10;) {
    const std::vector<ResourceLedger::Id> granted = Grant();
    ASSERT_EQ(granted.size(), 1u);
    ++(granted[0] == first ? firsts : seconds);
    EXPECT_GE(firsts, 2 * seconds);
    ledger_.Release(granted[0], true);
    ledger_.Stage(granted[0]);
  }
}

TEST_F(ResourceLedgerTest, WhoWasIdleCatchesUpOnNothing) {
  const auto busy = Add(Needs({{"R", false, 1}}));
  Turns(&ledger_, {busy}, 1000);
  const auto late = Add(Needs({{"R", false, 1}}));
  const std::vector<int> turns = Turns(&ledger_, {busy, late}, 100);
  EXPECT_NEAR(turns[0], 50, 2);
  EXPECT_NEAR(turns[1], 50, 2);
}

TEST_F(ResourceLedgerTest, AnUnusedGrantCostsNoTurn) {
  const auto a = Add(Needs({{"R", false, 1}}));
  const auto b = Add(Needs({{"R", false, 1}}, 3));
  for (int i = 0; i < 100; ++i) {
    ledger_.Stage(a);
    ASSERT_THAT(Grant(), ElementsAre(a));
    ledger_.Release(a, false);
  }
  ledger_.Stage(b);
  ledger_.Stage(a);
  EXPECT_THAT(Grant(), ElementsAre(a));
}

Pool PoolOf(const InstanceSpec& spec, const ResourceNeed& need) {
  return {need.name, need.global ? Pool::kGlobal : spec.device_id};
}

// Random instances are added, work and are removed: nothing is ever granted twice, an instance gets
// free resources for which no other instance waits, and every instance gets its turn.
TEST(ResourceLedgerRandomTest, NothingIsGivenOutTwiceAndNobodyIsForgotten) {
  struct Client {
    ResourceLedger::Id id;
    InstanceSpec spec;
    enum { kIdle, kStaged, kHolding } state = kIdle;
    int waited = 0;  // operations since the instance was staged
  };
  std::mt19937 random(7);
  const auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  ResourceLedger ledger({{"A", {{kEveryDevice, 5}}}, {"G", {{0, 3}}}});
  std::vector<Client> clients;
  int grants = 0;
  for (int step = 0; step < 100'000; ++step) {
    const uint32_t action = pick(100);
    if (clients.size() < 3 || (action == 0 && clients.size() < 12)) {
      InstanceSpec spec = Needs({}, 1 + pick(3), static_cast<int>(pick(2)));
      if (pick(3) > 0) spec.resources.push_back({"A", false, 1 + pick(5)});
      if (pick(3) == 0) spec.resources.push_back({"G", true, 1 + pick(3)});
      if (pick(3) == 0) spec.resources.push_back({"B", false, 1 + pick(4)});
      absl::StatusOr<ResourceLedger::Id> id = ledger.Add(spec);
      ASSERT_TRUE(id.ok()) << id.status();
      clients.push_back({*id, spec});
    } else if (action == 1) {
      const size_t gone = pick(static_cast<uint32_t>(clients.size()));
      ledger.Remove(clients[gone].id);
      clients.erase(clients.begin() + static_cast<long>(gone));
    } else {
      Client& client = clients[pick(static_cast<uint32_t>(clients.size()))];
      if (client.state == Client::kIdle) {
        ledger.Stage(client.id);
        client.state = Client::kStaged;
        client.waited = 0;
      } else if (client.state == Client::kHolding) {
        ledger.Release(client.id, pick(4) > 0);
        client.state = Client::kIdle;
      }
    }
    const std::map<Pool, ResourceLedger::Stock> before = ledger.Stocks();
    for (const ResourceLedger::Id id : Granted(&ledger)) {
      const auto it = std::find_if(clients.begin(), clients.end(),
                                   [&](const Client& client) { return client.id == id; });
      ASSERT_NE(it, clients.end());
      ASSERT_EQ(it->state, Client::kStaged) << "who does not ask gets nothing";
      it->state = Client::kHolding;
      ++grants;
    }
    const std::map<Pool, ResourceLedger::Stock> stocks = ledger.Stocks();
    std::map<Pool, uint64_t> in_use;
    std::map<Pool, int> waiting;
    for (const Client& client : clients) {
      for (const ResourceNeed& need : client.spec.resources) {
        if (client.state == Client::kHolding) in_use[PoolOf(client.spec, need)] += need.count;
        if (client.state == Client::kStaged) ++waiting[PoolOf(client.spec, need)];
      }
    }
    for (const auto& [pool, stock] : stocks) {
      ASSERT_EQ(stock.in_use, in_use[pool]) << pool.name;
      // More than the capacity may be in use only where the capacity has shrunk, because the
      // instance
      // with the largest need was removed.
      ASSERT_LE(stock.in_use, std::max(stock.capacity, before.at(pool).in_use)) << pool.name;
    }
    for (Client& client : clients) {
      if (client.state != Client::kStaged) continue;
      ASSERT_LT(++client.waited, 5000) << "forgotten";
      // An instance waits only if a resource is short, or if another instance waits for it, too.
      ASSERT_TRUE(std::any_of(client.spec.resources.begin(), client.spec.resources.end(),
                              [&](const ResourceNeed& need) {
                                const Pool pool = PoolOf(client.spec, need);
                                const ResourceLedger::Stock& stock = stocks.at(pool);
                                return stock.in_use + need.count > stock.capacity ||
                                       waiting[pool] > 1;
                              }));
    }
  }
  EXPECT_GT(grants, 10'000);
}

}  // namespace
}  // namespace nereid
