// SPDX-License-Identifier: Apache-2.0
// LoadPlan: everything that is the same for all rows of a result: the server, the model and the
// bytes of the requests. Immutable once made. Used by one thread.
#ifndef NEREID_APPS_WORKSHOP_BENCH_LOAD_PLAN_H_
#define NEREID_APPS_WORKSHOP_BENCH_LOAD_PLAN_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/loadgen/endpoint.h"
#include "apps/loadgen/http_transport.h"
#include "apps/loadgen/transport.h"
#include "bench/bench_options.h"
#include "bench/model_description.h"
#include "bench/request_body.h"
#include "bench/server_client.h"
#include "bench/shared_regions.h"

namespace nereid::bench {

// One of the requests of a load in which they differ.
struct PlannedRequest {
  std::chrono::nanoseconds due{0};  // from the start of the load
  int64_t batch_size = 1;
  RequestParameters parameters;
  // As they are sent; null: made up. Bytes that are missing are made up, too.
  std::shared_ptr<const RequestInputs> inputs;
};

class LoadPlan {
 public:
  // Finds the server, asks it about the model, and makes the requests. `options` outlive this
  // object. The error is one sentence for the user: INVALID_ARGUMENT if an option is to blame.
  static absl::StatusOr<std::unique_ptr<LoadPlan>> Make(const BenchOptions& options);
  // The same for an open loop of these requests, which are in the order in which they fall due.
  // REQUIRES: there is one; `options` ask for no sequences and no data file.
  static absl::StatusOr<std::unique_ptr<LoadPlan>> MakeFor(
      const BenchOptions& options, const std::vector<PlannedRequest>& requests);

  const BenchOptions& options() const { return options_; }
  const ModelDescription& model() const { return model_; }
  const ServerClient& client() const { return client_; }
  const std::vector<std::chrono::nanoseconds>& trace() const { return trace_; }

  // New connections with `slots` requests in flight at most.
  absl::StatusOr<std::unique_ptr<Transport>> Connect(int slots) const;

 private:
  explicit LoadPlan(const BenchOptions& options) : options_(options), client_(options, endpoint_) {}
  // Fills in the endpoint: looks the name up and takes the first address that answers.
  absl::Status FindServer();
  // Finds the server and asks it about the model.
  absl::Status Prepare();
  absl::Status MakeRequests();
  absl::Status MakePlanned(const std::vector<PlannedRequest>& requests);
  // Makes one request's bytes, and returns how many there are.
  absl::StatusOr<size_t> AddRequest(const RequestInputs& inputs, const RequestPlaces& places,
                                    RequestParameters parameters);
  absl::StatusOr<RequestInputs> WithMissingBytes(RequestInputs inputs) const;
  absl::StatusOr<RequestScript> MakeScript(int slots) const;

  const BenchOptions& options_;
  std::optional<ClientTls> tls_;
  Endpoint endpoint_;
  const ServerClient client_;
  ModelDescription model_;
  std::vector<std::chrono::nanoseconds> trace_;
  std::unique_ptr<SharedRegions> regions_;  // null: tensors come with requests and answers
  // Of one of the protocols.
  std::vector<HttpRequestText> http_;
  std::vector<std::string> grpc_;  // serialized messages, without prefix
  std::vector<uint32_t> order_;    // which of them is sent next; empty: in turn
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_LOAD_PLAN_H_
