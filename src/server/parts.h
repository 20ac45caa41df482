// SPDX-License-Identifier: Apache-2.0
// Part of Server: the objects that the models need, and those that work on the models. Only the
// sources of Server include this.
#ifndef NEREID_SERVER_PARTS_H_
#define NEREID_SERVER_PARTS_H_

#include <memory>

#include "backend_host/backend_registry.h"
#include "base/threads/thread_pool.h"
#include "base/ticker.h"
#include "base/timer.h"
#include "cache/response_cache.h"
#include "device/devices.h"
#include "device/gpu_usage.h"
#include "execution/rate_limiter.h"
#include "filesystem/cloud/cloud_cache.h"
#include "filesystem/cloud/cloud_file_system.h"
#include "filesystem/cloud/cloud_program.h"
#include "filesystem/local_file_system.h"
#include "lifecycle/demand/model_demand.h"
#include "lifecycle/model/readiness_checker.h"
#include "lifecycle/model_manager.h"
#include "scheduling/ensemble/step_allocator.h"
#include "server/live_history.h"
#include "server/on_demand_models.h"
#include "server/server.h"
#include "server/traffic_recorder.h"

namespace nereid {

// Each member comes before the members that use it, and is destroyed after them.
struct Server::Parts {
  static constexpr int kJobs = 16;

  LocalFileSystem local_files;
  std::unique_ptr<CloudProgram> cloud_program;
  std::unique_ptr<CloudCache> cloud_cache;
  std::unique_ptr<CloudFileSystem> file_system;
  std::unique_ptr<Devices> devices;               // before the backends, which allocate on them
  std::unique_ptr<StepAllocator> step_allocator;  // backends may hold its buffers until they end
  std::unique_ptr<GpuUsage> gpu_usage;            // null: GPUs are not measured
  std::unique_ptr<ResponseCache> cache;           // null: none
  std::unique_ptr<ThreadPool> cache_executor;  // null unless the cache needs it; joins before cache
  std::unique_ptr<Timer> timer;                // destroyed after the models' alarms
  std::unique_ptr<ReadinessChecker> readiness;  // its checks end before the models have gone
  std::unique_ptr<RateLimiter> rate_limiter;    // null: off
  std::unique_ptr<InputRecorder> inputs;        // null: inputs are not recorded; models use it
  std::unique_ptr<BackendRegistry> backends;
  std::unique_ptr<OnDemandModels> on_demand_models;  // null unless kOnDemand; as the next one
  std::unique_ptr<ModelDemand> demand;  // is told of the ends of loads, so it goes after the models
  std::unique_ptr<ModelManager> models;
  std::unique_ptr<Ticker> poller;            // null: no polling
  std::unique_ptr<TrafficRecorder> traffic;  // null: nothing is recorded to a file
  LiveHistory history;
  std::unique_ptr<Ticker> historian;  // null: no history is kept; ends before the models
  // Of the frontends. Destroyed first: waits for the jobs, which use all other members.
  ThreadPool jobs{ThreadPoolOptions{.name = "server job", .threads = 0, .most_threads = kJobs}};
};

}  // namespace nereid

#endif  // NEREID_SERVER_PARTS_H_
