// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/connection_room.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "frontends/transport/io_loop.h"

namespace nereid::transport {
namespace {

// How many go beyond those that are too many: a share of all.
constexpr uint64_t kShareThatGoes = 64;
// How many connections may come while idle ones are looked for.
constexpr uint64_t kExcess = 8;
// Descriptors that connections do not take: an eighth, within these bounds.
constexpr uint64_t kLeastKeptBack = 32;
constexpr uint64_t kMostKeptBack = 1024;
// However few there are, the server tries to serve so many clients.
constexpr uint64_t kLeastConnections = 8;

}  // namespace

// The loops are asked for their candidates. The last one to answer chooses among all, and the
// chosen are let go on their loops, unless they have become busy meanwhile.
struct ConnectionRoom::Search {
  struct Candidate {
    bool goes_last;
    TimePoint idle_since;
    std::weak_ptr<LoopConnection> connection;
    std::weak_ptr<IoLoop> loop;
  };

  size_t wanted = 0;
  std::function<void(size_t)> done;
  Mutex mu;
  size_t open ABSL_GUARDED_BY(mu) = 0;  // loops that have not answered, or connections to let go
  std::vector<Candidate> found ABSL_GUARDED_BY(mu);
  size_t gone ABSL_GUARDED_BY(mu) = 0;

  // Another answer. Whether it was the last one.
  bool Answered() ABSL_LOCKS_EXCLUDED(mu) {
    MutexLock lock(&mu);
    return --open == 0;
  }
};

uint64_t ConnectionRoom::MostFor(uint64_t limit, uint64_t open) {
  const uint64_t kept_back = open + std::clamp(limit / 8, kLeastKeptBack, kMostKeptBack);
  return limit < kept_back + kLeastConnections ? kLeastConnections : limit - kept_back;
}

void ConnectionRoom::Join(Member member) {
  MutexLock lock(&mu_);
  members_.push_back(std::move(member));
}

void ConnectionRoom::Leave(const Budget* connections) {
  MutexLock lock(&mu_);
  std::erase_if(members_, [&](const Member& one) { return one.connections == connections; });
}

uint64_t ConnectionRoom::Used() const {
  uint64_t used = 0;
  for (const Member& member : members_) used += member.connections->used();
  return used;
}

bool ConnectionRoom::IsFull() const {
  MutexLock lock(&mu_);
  return Used() >= most();
}

bool ConnectionRoom::IsOver() const {
  MutexLock lock(&mu_);
  return Used() > kExcess && Used() - kExcess > most();
}

absl::Status ConnectionRoom::Refusal() const {
  MutexLock lock(&mu_);
  return absl::UnavailableError(absl::StrCat(
      "the server has ", Used(), " connections, and its limit of open files (ulimit -n) allows ",
      most(), "; try again later"));
}

void ConnectionRoom::LetIdleGo(std::function<void(size_t)> done) {
  auto search = std::make_shared<Search>();
  search->done = std::move(done);
  std::vector<std::pair<std::shared_ptr<IoLoop>, bool>> loops;
  {
    MutexLock lock(&mu_);
    const uint64_t used = Used();
    search->wanted = static_cast<size_t>(1 + used / kShareThatGoes + used - std::min(used, most()));
    for (const Member& member : members_) {
      for (const auto& loop : member.loops) loops.emplace_back(loop, member.goes_last);
    }
  }
  if (loops.empty()) return search->done(0);
  {
    MutexLock lock(&search->mu);
    search->open = loops.size();
  }
  for (const auto& [loop, goes_last] : loops) {
    // The task must not keep the loop that owns it.
    loop->Post([search, goes_last = goes_last, raw = loop.get()] {
      const std::vector<IoLoop::Idle> idle = raw->LongestIdle(search->wanted);
      {
        MutexLock lock(&search->mu);
        for (const IoLoop::Idle& one : idle) {
          search->found.push_back(
              {goes_last, one.since, one.connection->weak_from_this(), raw->weak_from_this()});
        }
      }
      if (search->Answered()) Choose(search);
    });
  }
}

void ConnectionRoom::Choose(const std::shared_ptr<Search>& search) {
  std::vector<Search::Candidate> chosen;
  {
    MutexLock lock(&search->mu);
    chosen.swap(search->found);
    std::sort(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) {
      return std::tie(a.goes_last, a.idle_since) < std::tie(b.goes_last, b.idle_since);
    });
    chosen.resize(std::min(chosen.size(), search->wanted));
    search->open = chosen.size();
  }
  if (chosen.empty()) return search->done(0);
  for (const Search::Candidate& one : chosen) {
    const auto let_go = [search, connection = one.connection] {
      const std::shared_ptr<LoopConnection> known = connection.lock();
      const bool idle = known != nullptr && known->IdleSince().has_value();
      if (idle) known->LetGo();
      size_t gone = 0;
      {
        MutexLock lock(&search->mu);
        gone = search->gone += idle ? 1 : 0;
      }
      if (search->Answered()) search->done(gone);
    };
    const std::shared_ptr<IoLoop> loop = one.loop.lock();
    // A loop that has ended has no connections any more.
    if (loop != nullptr) {
      loop->Post(let_go);
    } else if (search->Answered()) {
      search->done(0);
    }
  }
}

}  // namespace nereid::transport
