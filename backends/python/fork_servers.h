// SPDX-License-Identifier: Apache-2.0
// ForkServers: the fork servers of a backend, one for each interpreter and environment. One that no
// model uses any more is kept for a while, so that a model that is loaded again starts as fast as
// one beside others. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_FORK_SERVERS_H_
#define NEREID_BACKENDS_PYTHON_FORK_SERVERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/python/environment/launch.h"
#include "backends/python/fork_server.h"
#include "backends/sdk/batch.h"

namespace nereid_backend {

class ForkServers {
 public:
  struct Options {
    bool forks = true;     // false: every process is started as a program
    uint64_t keep_ns = 0;  // how long a server is kept without a model
    size_t most_kept = 4;  // so many at most; the one that is unused for longest ends first
    Batch::Clock clock = &NowNs;
  };

  explicit ForkServers(Options options) : options_(options) {}
  // Ends the servers that are kept. REQUIRES: nobody has one.
  ~ForkServers() = default;
  ForkServers(const ForkServers&) = delete;
  ForkServers& operator=(const ForkServers&) = delete;

  // The one for such launches of the program `main`. Whoever drops the last pointer to it waits for
  // the end of servers that are too many.
  std::shared_ptr<ForkServer> For(const Launch& launch, const std::string& main);

  // How many are kept without a user.
  size_t kept() const;

 private:
  struct Known {
    std::unique_ptr<ForkServer> server;
    std::weak_ptr<ForkServer> users;  // what For has given
    size_t uses = 0;                  // leases that exist
    uint64_t until = 0;               // without uses: how long it is kept
  };
  // By interpreter, program and environment.
  using Servers = std::map<std::vector<std::string>, Known>;
  class Lease;

  // A lease has ended.
  void Drop(Known* known);
  // REQUIRES: mu_ is held. Takes out those whose time is over, and those that are too many.
  Servers TakeSurplus(uint64_t now);
  size_t CountKept() const;

  const Options options_;
  mutable std::mutex mu_;
  Servers servers_;  // guarded by mu_
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_FORK_SERVERS_H_
