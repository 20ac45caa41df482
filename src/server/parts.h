// Part of Server: what the models need from it, and what works on them. Only the sources of Server
// include this.
#ifndef NEREID_SERVER_PARTS_H_
#define NEREID_SERVER_PARTS_H_

#include <memory>

#include "backend_host/backend_registry.h"
#include "base/executor.h"
#include "base/job_threads.h"
#include "base/timer.h"
#include "cache/response_cache.h"
#include "execution/rate_limiter.h"
#include "filesystem/local_file_system.h"
#include "lifecycle/model_manager.h"
#include "lifecycle/readiness_checker.h"
#include "lifecycle/repository_poller.h"
#include "memory/output_allocator.h"
#include "server/server.h"

namespace nereid {

// What is used by others comes before them, and is destroyed after them.
struct Server::Parts {
  // Requests that load and unload models, at a time.
  static constexpr size_t kControlRequests = 256;

  explicit Parts(Budget* in_flight_bytes) : step_allocator(in_flight_bytes) {}

  const HeapOutputAllocator step_allocator;  // backends may have buffers of it to their end
  LocalFileSystem file_system;
  std::unique_ptr<ResponseCache> cache;      // null: none
  std::unique_ptr<Executor> cache_executor;  // null unless the cache needs it; joins before it goes
  std::unique_ptr<Timer> timer;              // the models' alarms are gone before it
  std::unique_ptr<ReadinessChecker> readiness;  // its checks end before the models have gone
  std::unique_ptr<RateLimiter> rate_limiter;    // null: off
  std::unique_ptr<BackendRegistry> backends;
  std::unique_ptr<ModelManager> models;
  std::unique_ptr<RepositoryPoller> poller;  // null: nobody polls
  // For requests that load and unload models, which may take minutes. First to go: waits for those
  // that use all of this.
  JobThreads control{"model control", kControlRequests};
};

}  // namespace nereid

#endif  // NEREID_SERVER_PARTS_H_
