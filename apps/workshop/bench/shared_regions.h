// SPDX-License-Identifier: Apache-2.0
// SharedRegions: system shared memory with the inputs of all requests, and space for the outputs.
// It is taken back from the server and from the system when this object ends. Thread-compatible.
#ifndef NEREID_APPS_WORKSHOP_BENCH_SHARED_REGIONS_H_
#define NEREID_APPS_WORKSHOP_BENCH_SHARED_REGIONS_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/request_body.h"
#include "bench/server_client.h"

namespace nereid::bench {

class SharedRegions {
 public:
  // Makes and registers the regions. `output_bytes`: space for an output whose size the model does
  // not say. `client` outlives this object. Errors of the system; those of the server, which may
  // run on another machine or refuse shared memory.
  static absl::StatusOr<std::unique_ptr<SharedRegions>> Make(
      const ServerClient& client, const ModelDescription& model,
      const std::vector<RequestInputs>& requests, size_t output_bytes);
  ~SharedRegions();
  SharedRegions(const SharedRegions&) = delete;
  SharedRegions& operator=(const SharedRegions&) = delete;

  const RequestPlaces& places(size_t request) const { return places_[request]; }

 private:
  struct Region {
    std::string name;  // what the server calls it
    std::string key;   // of shm_open; empty: not made
    bool registered = false;
  };

  explicit SharedRegions(const ServerClient& client) : client_(client) {}
  // A region with these pieces one after the other, and `spare` more bytes.
  absl::Status Add(const std::string& kind, const std::vector<RequestInputs>& requests,
                   size_t bytes);

  const ServerClient& client_;
  std::vector<Region> regions_;
  std::vector<RequestPlaces> places_;
};

// Bytes of an output, `output_bytes` if its shape or data type does not say. `batch_size`: the
// first dimension of the request's inputs.
size_t OutputBytes(const TensorDescription& output, int64_t batch_size, size_t output_bytes);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_SHARED_REGIONS_H_
