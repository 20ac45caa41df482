// SPDX-License-Identifier: Apache-2.0
#include "backends/python/fork_servers.h"

#include <algorithm>
#include <utility>

namespace nereid_backend {

// Owned by the pointers that For gives. It is made before there is anything to give back.
class ForkServers::Lease {
 public:
  explicit Lease(ForkServers* owner) : owner_(owner) {}
  ~Lease() {
    if (known_ != nullptr) owner_->Drop(known_);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  void Take(Known* known) {
    ++known->uses;
    known_ = known;
  }

 private:
  ForkServers* const owner_;
  Known* known_ = nullptr;  // stays where it is while it has uses
};

std::shared_ptr<ForkServer> ForkServers::For(const Launch& launch, const std::string& main) {
  ForkServer::Spec spec;
  spec.interpreter = launch.interpreter;
  spec.main = main;
  spec.forks = options_.forks;
  spec.environment = launch.environment;
  std::vector<std::string> key = spec.environment;
  key.push_back(spec.interpreter);
  key.push_back(main);

  const auto lease = std::make_shared<Lease>(this);
  std::unique_ptr<ForkServer> over;  // ends without the lock
  const std::lock_guard lock(mu_);
  Known& known = servers_[std::move(key)];
  if (std::shared_ptr<ForkServer> used = known.users.lock(); used != nullptr) return used;
  if (known.server == nullptr || !known.server->Return(options_.clock())) {
    over = std::exchange(known.server, std::make_unique<ForkServer>(std::move(spec)));
  }
  lease->Take(&known);
  std::shared_ptr<ForkServer> use(lease, known.server.get());
  known.users = use;
  return use;
}

// There may be another lease, made after the last pointer to this one was gone.
void ForkServers::Drop(Known* known) {
  Servers surplus;  // ends without the lock
  const std::lock_guard lock(mu_);
  if (--known->uses > 0) return;
  const uint64_t now = options_.clock();
  known->until = now + options_.keep_ns;
  known->server->Leave(known->until);
  surplus = TakeSurplus(now);
}

ForkServers::Servers ForkServers::TakeSurplus(uint64_t now) {
  Servers surplus;
  for (auto it = servers_.begin(); it != servers_.end();) {
    const auto here = it++;
    const bool over = here->second.uses == 0 && here->second.until <= now;
    if (over) surplus.insert(servers_.extract(here));
  }
  while (CountKept() > options_.most_kept) {
    const auto oldest =
        std::min_element(servers_.begin(), servers_.end(), [](const auto& a, const auto& b) {
          if ((a.second.uses == 0) != (b.second.uses == 0)) return a.second.uses == 0;
          return a.second.until < b.second.until;
        });
    surplus.insert(servers_.extract(oldest));
  }
  return surplus;
}

size_t ForkServers::CountKept() const {
  return static_cast<size_t>(std::count_if(
      servers_.begin(), servers_.end(), [](const auto& known) { return known.second.uses == 0; }));
}

size_t ForkServers::kept() const {
  const std::lock_guard lock(mu_);
  return CountKept();
}

}  // namespace nereid_backend
