// SPDX-License-Identifier: Apache-2.0
#include "backend_check/trials.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <vector>

#include "backend_check/call_watch.h"
#include "backend_check/driver.h"
#include "backend_check/entry_points.h"
#include "backend_check/error_ledger.h"
#include "backend_check/footprint.h"
#include "backend_check/interposed.h"
#include "backend_check/ledger.h"
#include "backend_check/recorder.h"
#include "backend_check/trial_files.h"
#include "base/shared_library.h"
#include "base/status_macros.h"
#include "server/server.h"
#include "triton/core/tritonbackend.h"

namespace nereid {
namespace {

constexpr int kManyRequests = 32;
constexpr int kCancelledRequests = 8;
constexpr int kSequenceLength = 3;
constexpr int kLives = 7;
// The first lives may fill caches that stay; what the later ones add is left behind.
constexpr int kFirstLives = 3;
constexpr int kRounds = 5;
constexpr int kMostRounds = 10;  // if memory has grown in each
constexpr int kRequestsPerRound = 100;
// What the allocator and the server's own caches move between two looks.
constexpr int64_t kHeapPerLife = 16 << 10;
constexpr int64_t kHeapPerRequest = 64;

Recorder& Report() { return Recorder::Get(); }

// INTERNAL, with the reason, if the model is not ready.
absl::Status CheckLoaded(const Server& server, const std::string& model) {
  ASSIGN_OR_RETURN(const std::vector<IndexEntry> index, server.RepositoryIndex(false));
  for (const IndexEntry& entry : index) {
    if (entry.name != model || entry.state == "READY") continue;
    return absl::InternalError(absl::StrCat(entry.state, ": ", entry.reason));
  }
  return absl::OkStatus();
}

// A server with the model loaded.
absl::StatusOr<Server::Owner> Load(const TrialPlan& plan) {
  ASSIGN_OR_RETURN(Server::Owner server, Server::Create(plan.server));
  RETURN_IF_ERROR(CheckLoaded(*server, plan.model));
  return server;
}

// Unloads the model and ends the server; its backend is finalised then. `driver` may be null.
void End(Server::Owner server, Driver* driver) {
  if (const absl::Status stopped = server->Stop(); !stopped.ok()) {
    Report().Note(absl::StrCat("the server did not stop: ", stopped.message()));
  }
  if (driver != nullptr) driver->Forget();
}

// The first load. Null if it fails, which is reported.
Server::Owner LoadFirst(const TrialPlan& plan) {
  Report().Phase("loading the model");
  absl::StatusOr<Server::Owner> server = Load(plan);
  if (!server.ok()) {
    const std::string why(server.status().message());
    if (!BackendWasLoaded()) {
      Report().Cannot(
          absl::StrCat("the model does not use the backend '", plan.backend, "': ", why));
    } else if (plan.made_up) {
      Report().Cannot(absl::StrCat("a made-up model does not load: ", why,
                                   "; --model=FOLDER names one that the backend can serve"));
    } else {
      Report().Found("model-not-loaded", why);
    }
    return nullptr;
  }
  return *std::move(server);
}

bool LoadAgain(const TrialPlan& plan, Server* server) {
  Report().Phase("loading the model again, with several instances");
  const auto loaded = server->FindModel(plan.model, kLatestVersion);
  absl::Status status = loaded.status();
  if (status.ok()) status = WidenTrialModel(plan.folder, (*loaded)->config());
  if (status.ok()) status = server->LoadModel(plan.model);
  if (status.ok()) return true;
  Report().Found("load-again-failed", std::string(status.message()));
  return false;
}

// Reports what keeps requests from being sent; requests that do not come back are found by others.
void ReportUnsent(const absl::Status& status) {
  if (status.code() != absl::StatusCode::kUnavailable) {
    Report().Cannot(absl::StrCat("a request cannot be sent: ", status.message(),
                                 "; --input=FILE gives one that fits the model"));
  }
}

absl::Status SendAlone(const CompiledModel& model, Driver* driver) {
  Report().Phase("requests one at a time");
  for (int i = 0; i < 3; ++i) RETURN_IF_ERROR(driver->Send({}));
  if (!model.sequence.enabled) return absl::OkStatus();
  Report().Phase("a sequence of requests");
  return driver->SendSequence(kSequenceLength);
}

absl::Status SendTogether(Driver* driver) {
  Report().Phase("many requests at a time, for several instances");
  for (int i = 0; i < 3; ++i) RETURN_IF_ERROR(driver->Send({.count = kManyRequests}));
  Report().Phase("requests that are cancelled");
  return driver->Send({.count = kCancelledRequests, .cancel = true});
}

// Whether the library can be loaded by itself; a finding if it can not.
bool TryLibrary(const std::string& path) {
  Report().Phase("loading the library");
  const WatchedCall watched("dlopen");
  const auto library = SharedLibrary::Open(path);
  if (!library.ok()) Report().Found("load-failed", std::string(library.status().message()));
  return library.ok();
}

// Whether `growth`, of life after life or round after round, is above `limit` each time.
bool Grows(const std::vector<int64_t>& growth, int64_t limit) {
  return std::all_of(growth.begin(), growth.end(), [limit](int64_t each) { return each > limit; });
}

struct Growth {
  std::vector<int64_t> threads, descriptors, processes, heap_bytes;

  void Add(const Footprint& before, const Footprint& after) {
    threads.push_back(after.threads - before.threads);
    descriptors.push_back(after.descriptors - before.descriptors);
    processes.push_back(after.processes - before.processes);
    heap_bytes.push_back(after.heap_bytes - before.heap_bytes);
  }
};

void FindGrowth(const char* id, const std::vector<int64_t>& growth, int64_t limit,
                const char* unit) {
  if (growth.empty() || !Grows(growth, limit)) return;
  Report().Found(id, absl::StrCat("at least ", *std::min_element(growth.begin(), growth.end()), " ",
                                  unit, " in each of ", growth.size(), " lives"));
}

// One life of server and model, with a few requests. False if it fails.
bool LiveOnce(const TrialPlan& plan) {
  absl::StatusOr<Server::Owner> server = Load(plan);
  if (!server.ok()) {
    Report().Found("load-again-failed", std::string(server.status().message()));
    return false;
  }
  Driver driver(server->get(), plan.model, plan.json, plan.timeout);
  const absl::Status sent = driver.Send({.count = 4});
  if (!sent.ok()) {
    (void)server->release();  // requests are still under way
    return false;
  }
  End(*std::move(server), &driver);
  return true;
}

bool TryLives(const TrialPlan& plan) {
  Report().Phase("loading and unloading again and again");
  Growth growth;
  Footprint before = Footprint::Now();
  for (int life = 0; life < kLives; ++life) {
    if (!LiveOnce(plan)) return false;
    const Footprint after = Footprint::Now();
    if (life >= kFirstLives) growth.Add(before, after);
    before = after;
  }
  FindGrowth("threads-left", growth.threads, 0, "threads");
  FindGrowth("descriptors-left", growth.descriptors, 0, "descriptors");
  FindGrowth("processes-left", growth.processes, 0, "processes");
  FindGrowth("memory-grows-by-loads", growth.heap_bytes, kHeapPerLife, "bytes");
  return true;
}

void TryManyRequests(const TrialPlan& plan) {
  Report().Phase("hundreds of requests");
  absl::StatusOr<Server::Owner> server = Load(plan);
  if (!server.ok())
    return Report().Found("load-again-failed", std::string(server.status().message()));
  Driver driver(server->get(), plan.model, plan.json, plan.timeout);
  std::vector<int64_t> growth;
  int64_t before = 0;
  constexpr int64_t kLimit = kHeapPerRequest * kRequestsPerRound;
  // Caches may still fill on a busy machine, but not for ever: growth has to go on.
  const auto in_doubt = [&] { return !growth.empty() && Grows(growth, kLimit); };
  for (int round = 0; round < kRounds || (round < kMostRounds && in_doubt()); ++round) {
    for (int i = 0; i < kRequestsPerRound; ++i) {
      if (!driver.Send({}).ok()) {
        (void)server->release();  // requests are still under way
        return;
      }
    }
    const int64_t after = Footprint::Now().heap_bytes;
    if (round >= 2) growth.push_back(after - before);  // the first rounds fill caches
    before = after;
  }
  if (in_doubt()) {
    const int64_t least = *std::min_element(growth.begin(), growth.end());
    Report().Found("memory-grows-by-requests",
                   absl::StrCat("at least ", least / kRequestsPerRound, " bytes for each of ",
                                growth.size() * kRequestsPerRound, " requests"));
  }
  End(*std::move(server), &driver);
}

}  // namespace

void TryLife(const TrialPlan& plan) {
  if (!TryLibrary(plan.library)) return;
  Server::Owner server = LoadFirst(plan);
  if (server == nullptr) return;
  Driver driver(server.get(), plan.model, plan.json, plan.timeout, /*keep=*/true);
  const auto model = server->FindModel(plan.model, kLatestVersion);
  absl::Status sent = model.ok() ? SendAlone((*model)->config(), &driver) : model.status();
  const bool batching = model.ok() && (*model)->config().max_batch_size > 1;
  if (sent.ok() && LoadAgain(plan, server.get())) sent = SendTogether(&driver);
  if (!sent.ok()) {
    ReportUnsent(sent);
    (void)server.release();  // requests are still under way, and keep the model
    return;
  }
  if (!driver.any_good()) Report().Note("no request was answered without an error");
  if (batching && Ledger::Get().largest_batch() < 2) {
    Report().Note("no batch had more than one request, although the model has batches");
  }
  Report().Phase("unloading the model");
  End(std::move(server), &driver);
  Report().Phase("after the last Finalize");
  Ledger::Get().CheckEnd();
  ErrorLedger::Get().CheckEnd();
}

void TryAgain(const TrialPlan& plan) {
  if (TryLives(plan)) TryManyRequests(plan);
}

void TryOtherVersion(const TrialPlan& plan) {
  Report().Phase("a server with another major version of the interface");
  PretendMajorVersion(TRITONBACKEND_API_VERSION_MAJOR + 1);
  absl::StatusOr<Server::Owner> server = Load(plan);
  if (!server.ok()) return;
  Report().Found("version-accepted",
                 absl::StrCat("the model loads although TRITONBACKEND_ApiVersion says ",
                              TRITONBACKEND_API_VERSION_MAJOR + 1, ".0"));
  End(*std::move(server), nullptr);
}

}  // namespace nereid
