// SPDX-License-Identifier: Apache-2.0
// ControlRequests: the requests to load and unload models, in the order of their arrival for each
// model. Thread-safe. Owned by the model manager.
//
// A request that waits costs memory and no thread: it waits for an earlier request for its model,
// or for others that work on a model. Equal requests that wait share one attempt and its result. A
// model that hangs therefore holds up the requests for itself, and those alone. A thread of its own
// reads what is to be loaded; the load pool does the rest.
#ifndef NEREID_LIFECYCLE_CONTROL_REQUESTS_H_
#define NEREID_LIFECYCLE_CONTROL_REQUESTS_H_

#include <absl/functional/any_invocable.h>
#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/threads/thread_pool.h"
#include "lifecycle/control_client.h"
#include "model/model_id.h"
#include "repository/load_override.h"

namespace nereid {

// What somebody asks for.
struct ModelChange {
  enum class Kind { kLoad, kUnload, kUnloadWithMembers };
  Kind kind = Kind::kLoad;
  std::string model;      // as the client names it
  LoadOverride override;  // kLoad
};

class ControlRequests {
 public:
  // How a request ended. `begun`: false if nothing was attempted for it. Must not block.
  using Done = absl::AnyInvocable<void(const absl::Status& status, bool begun)>;
  using Ended = std::function<void(absl::Status)>;

  struct Limits {
    size_t per_model = 1'000;          // clients that wait for requests for one model
    size_t all = 10'000;               // clients that wait for requests for any model
    size_t bytes = size_t{256} << 20;  // of configurations and files of requests that wait
    size_t threads = 256;              // that read what is to be loaded
  };
  struct Options {
    // Begins to carry out a change, and reports the end to `ended`, now or later, once. May block
    // for as long as it reads files. If others work on a model that matters: does nothing, and
    // returns that model.
    std::function<std::optional<ModelId>(const ModelChange& change, Ended ended)> attempt;
    // Whether anybody works on a model.
    std::function<bool(const ModelId& id)> is_busy;
    Limits limits = Limits();
  };

  explicit ControlRequests(Options options);
  ~ControlRequests();
  ControlRequests(const ControlRequests&) = delete;
  ControlRequests& operator=(const ControlRequests&) = delete;

  // Carries out `change` after the earlier requests for its model. `done` is called once, on any
  // thread, also before this returns. `client`: null for one that stays. Does not block. `done`
  // gets UNAVAILABLE if too many requests wait or there is no thread, CANCELLED if the client
  // leaves before anything has begun, and the error of Close.
  void Submit(ModelChange change, std::shared_ptr<ControlClient> client, Done done)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The same for a caller that waits, whose thread does what a thread of the requests would do.
  // Returns the status, and sets `begun` unless it is null.
  absl::Status Run(ModelChange change, bool* begun = nullptr) ABSL_LOCKS_EXCLUDED(mu_);

  // Nobody works on `id` any more. Does not block.
  void OnReleased(const ModelId& id) noexcept ABSL_LOCKS_EXCLUDED(mu_);

  // Ends the requests that wait, and all later ones, with `error`.
  void Close(const absl::Status& error) ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until all requests have ended and their clients have been answered.
  void Drain() ABSL_LOCKS_EXCLUDED(mu_);
  // How many clients wait.
  size_t waiting() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Waiter;
  struct Request;
  class ClientPart;
  class Attempt;
  struct Caller;
  // The requests for a model; only the first is attempted.
  struct Model {
    std::list<std::shared_ptr<Request>> queue;
    size_t waiting = 0;  // clients
  };

  std::shared_ptr<Request> MakeRequest(ModelChange change);
  // Puts a request at the end of its model's queue; or joins it to the request there, which then
  // takes its place in `*request`.
  absl::Status Add(std::shared_ptr<Request>* request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckLimits(const Model& model, const Request& request, bool joins) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Adds a request and the client that waits for it.
  absl::Status AddFor(ControlClient* client, std::shared_ptr<Request> request)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Counts `clients` of a request as waiting, or no longer so.
  void BeginWait(const Request& request, size_t clients) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndWait(const Request& request, size_t clients) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Has the first request of a model attempted: see StartThreads.
  void MakeReady(Request* request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The request is being attempted from now on.
  void MakeBegun(Request* request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes a request out of the queue of its model. The next one becomes ready.
  void TakeOut(const std::shared_ptr<Request>& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Starts threads for the requests that are ready. If the machine has none: ends them.
  void StartThreads() noexcept ABSL_LOCKS_EXCLUDED(mu_);
  void RefuseReady() noexcept ABSL_LOCKS_EXCLUDED(mu_);
  void Work() noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Attempts a request that MakeBegun was called for.
  void Try(const std::shared_ptr<Request>& request) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Has a request wait until nobody works on `busy`.
  void Hold(const std::shared_ptr<Request>& request, const ModelId& busy) noexcept
      ABSL_LOCKS_EXCLUDED(mu_);
  void End(const std::shared_ptr<Request>& request, const absl::Status& status, bool begun) noexcept
      ABSL_LOCKS_EXCLUDED(mu_);
  // Answers the clients of a request that was taken out.
  void Answer(Request* request, const absl::Status& status, bool begun) noexcept
      ABSL_LOCKS_EXCLUDED(mu_);
  static void AnswerOne(Done* done, const absl::Status& status, bool begun) noexcept;
  void CountEnd() noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Takes one client out of a request. Empty if the request has begun.
  std::list<Waiter> Drop(const std::shared_ptr<Request>& request,
                         const ControlClient* client) noexcept ABSL_LOCKS_EXCLUDED(mu_);

  const Options options_;
  mutable Mutex mu_;
  CondVar all_answered_;
  std::map<std::string, Model> models_ ABSL_GUARDED_BY(mu_);  // only those with requests
  std::list<Request*> ready_ ABSL_GUARDED_BY(mu_);            // to be attempted by a thread
  size_t workers_ ABSL_GUARDED_BY(mu_) = 0;                   // threads
  size_t starting_ ABSL_GUARDED_BY(mu_) = 0;                  // of these, have not looked yet
  size_t held_ ABSL_GUARDED_BY(mu_) = 0;                      // requests that wait for others' work
  size_t unanswered_ ABSL_GUARDED_BY(mu_) = 0;  // requests whose clients have not all been answered
  size_t waiting_ ABSL_GUARDED_BY(mu_) = 0;     // clients
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;       // of requests that wait
  absl::Status closed_ ABSL_GUARDED_BY(mu_);    // OK: open
  ThreadPool threads_;                          // last: its jobs use all of the above
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_CONTROL_REQUESTS_H_
