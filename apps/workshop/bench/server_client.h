// SPDX-License-Identifier: Apache-2.0
// ServerClient: what `nereid bench` asks of a server besides inferences, in the protocol of the
// load. Each question is a connection of its own. Blocks; used by one thread.
#ifndef NEREID_APPS_WORKSHOP_BENCH_SERVER_CLIENT_H_
#define NEREID_APPS_WORKSHOP_BENCH_SERVER_CLIENT_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <string>

#include "apps/loadgen/endpoint.h"
#include "bench/bench_options.h"
#include "bench/model_description.h"

namespace nereid::bench {

class ServerClient {
 public:
  // `options` and `endpoint` outlive this object.
  ServerClient(const BenchOptions& options, const Endpoint& endpoint)
      : options_(options), endpoint_(endpoint) {}

  // The model's metadata, and what its configuration adds where the server gives it.
  // FAILED_PRECONDITION with the server's words if there is no such model.
  absl::StatusOr<ModelDescription> Describe() const;
  // An error also from servers without the extension "statistics".
  absl::StatusOr<ModelCounts> Counts() const;

  // Makes system shared memory known under `name`, and forgets it.
  absl::Status RegisterMemory(const std::string& name, const std::string& key, size_t bytes) const;
  absl::Status UnregisterMemory(const std::string& name) const;

  // "/v2/models/NAME", with the version if one was given.
  std::string ModelPath() const;

 private:
  const BenchOptions& options_;
  const Endpoint& endpoint_;
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_SERVER_CLIENT_H_
