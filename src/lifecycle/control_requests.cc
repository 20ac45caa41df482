// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/control_requests.h"

#include <absl/strings/str_cat.h>

#include <exception>
#include <utility>
#include <vector>

#include "base/blake2b.h"
#include "base/caught.h"
#include "base/log.h"

namespace nereid {
namespace {

// Tells changes of the same model apart: equal ones have the same digest.
Blake2b128::Digest DigestOf(const ModelChange& change) {
  Blake2b128 hash;
  const auto add_size = [&](uint64_t size) { hash.Update(&size, sizeof(size)); };
  const auto add = [&](const std::string& text) {
    add_size(text.size());
    hash.Update(text.data(), text.size());
  };
  add_size(static_cast<uint64_t>(change.kind));
  add_size(change.override.config_json.has_value() ? 1 : 0);
  if (change.override.config_json.has_value()) add(*change.override.config_json);
  for (const auto& [name, content] : change.override.files) {
    add(name);
    add(content);
  }
  return hash.Finish();
}

size_t BytesOf(const LoadOverride& override) {
  size_t bytes = override.config_json.has_value() ? override.config_json->size() : 0;
  for (const auto& [name, content] : override.files) bytes += name.size() + content.size();
  return bytes;
}

absl::Status ClientLeft() {
  return SureStatus(absl::StatusCode::kCancelled, "the client closed its connection or its call");
}

}  // namespace

struct ControlRequests::Waiter {
  std::shared_ptr<ControlClient> client;  // null: it stays
  Done done;
};

// A caller of Run. Its members belong to ControlRequests::mu_.
struct ControlRequests::Caller {
  CondVar changed;
  bool answered = false;
  absl::Status status;
  bool begun = false;
};

// A request and those that have joined it. Its members belong to ControlRequests::mu_, but for
// those of a request that is being attempted, and of one that was taken out.
struct ControlRequests::Request {
  enum class State {
    kQueued,  // behind another request for its model
    kReady,   // for a thread, or for the thread of its caller
    kHeld,    // by others, who work on a model that matters
    kBegun,
    kOut,  // of its queue
  };

  bool waits() const {
    return state == State::kQueued || state == State::kReady || state == State::kHeld;
  }

  ModelChange change;
  Blake2b128::Digest digest;
  size_t bytes = 0;
  std::list<Waiter> waiters;
  Caller* caller = nullptr;  // whose thread attempts it; null: a thread of the requests
  State state = State::kQueued;
  ModelId held_by;                                      // kHeld
  std::list<std::shared_ptr<Request>>::iterator place;  // in the queue of its model
  std::list<Request*> ready;                            // its node of ready_, while it is not there
  std::list<Request*>::iterator ready_place;
};

// Reports the end of an attempt, once. If it is destroyed without a report, there was no memory to
// go on.
class ControlRequests::Attempt {
 public:
  Attempt(ControlRequests* requests, std::shared_ptr<Request> request)
      : requests_(requests), request_(std::move(request)) {}
  ~Attempt() {
    if (request_ != nullptr) Report(OutOfMemory());
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  void Report(const absl::Status& status) {
    if (const auto request = std::move(request_)) requests_->End(request, status, /*begun=*/true);
  }
  // Nothing was done.
  void Forget() { request_ = nullptr; }

 private:
  ControlRequests* const requests_;
  std::shared_ptr<Request> request_;  // null once reported
};

class ControlRequests::ClientPart final : public ControlClient::Part {
 public:
  ClientPart(ControlRequests* requests, const ControlClient* client)
      : requests_(requests), client_(client) {}
  // Before any other call.
  void set_request(std::shared_ptr<Request> request) { request_ = std::move(request); }

  bool Drop() noexcept override {
    dropped_ = requests_->Drop(std::exchange(request_, nullptr), client_);
    return !dropped_.empty();
  }
  void AnswerClient() noexcept override {
    requests_->StartThreads();  // for the next request
    AnswerOne(&dropped_.front().done, ClientLeft(), /*begun=*/false);
    dropped_.clear();
    requests_->CountEnd();
  }

 private:
  ControlRequests* const requests_;
  const ControlClient* const client_;
  std::shared_ptr<Request> request_;
  std::list<Waiter> dropped_;
};

void ControlClient::Leave() {
  std::shared_ptr<Part> dropped;
  {
    MutexLock lock(&mu_);
    left_ = true;
    if (part_ != nullptr && part_->Drop()) dropped = part_;
    part_ = nullptr;
  }
  if (dropped != nullptr) dropped->AnswerClient();
}

ControlRequests::ControlRequests(Options options)
    : options_(std::move(options)),
      // Twice as many as work, because a thread counts until it has returned.
      threads_({.name = "model control",
                .threads = 0,
                .most_threads = static_cast<int>(2 * options_.limits.threads),
                .background = true}) {}

ControlRequests::~ControlRequests() { Drain(); }

void ControlRequests::Drain() {
  MutexLock lock(&mu_);
  while (unanswered_ > 0) all_answered_.Wait(&mu_);
}

// ---- Requests that come

std::shared_ptr<ControlRequests::Request> ControlRequests::MakeRequest(ModelChange change) {
  auto request = std::make_shared<Request>();
  request->digest = DigestOf(change);
  request->bytes = BytesOf(change.override);
  request->change = std::move(change);
  request->ready.push_back(request.get());
  request->ready_place = request->ready.begin();
  return request;
}

void ControlRequests::Submit(ModelChange change, std::shared_ptr<ControlClient> client, Done done) {
  const std::shared_ptr<Request> request = MakeRequest(std::move(change));
  request->waiters.push_back({client, std::move(done)});
  const absl::Status added = AddFor(client.get(), request);
  if (!added.ok()) return request->waiters.front().done(added, /*begun=*/false);
  StartThreads();
}

absl::Status ControlRequests::AddFor(ControlClient* client, std::shared_ptr<Request> request) {
  if (client == nullptr) {
    MutexLock lock(&mu_);
    return Add(&request);
  }
  // Held all the while: a client that leaves meanwhile finds its request.
  MutexLock of_client(&client->mu_);
  if (client->left_) return ClientLeft();
  const auto part = std::make_shared<ClientPart>(this, client);
  absl::Status added;
  {
    MutexLock lock(&mu_);
    added = Add(&request);
  }
  if (!added.ok()) return added;
  // From here on nothing takes memory.
  part->set_request(std::move(request));
  client->part_ = part;
  return added;
}

absl::Status ControlRequests::Add(std::shared_ptr<Request>* request) {
  if (!closed_.ok()) return closed_;
  const std::string& name = (*request)->change.model;
  std::list<std::shared_ptr<Request>> queued{*request};
  const auto [it, fresh] = models_.try_emplace(name);
  Model& model = it->second;
  if (!fresh) {
    const std::shared_ptr<Request> last = model.queue.back();
    const bool joins = last->waits() && last->digest == (*request)->digest;
    absl::Status fits = CheckLimits(model, **request, joins);
    if (!fits.ok()) return fits;
    if (joins) {
      BeginWait(*last, 1);
      last->waiters.splice(last->waiters.end(), (*request)->waiters);
      *request = last;
      return absl::OkStatus();
    }
  }
  ++unanswered_;
  (*request)->place = queued.begin();
  model.queue.splice(model.queue.end(), queued);
  BeginWait(**request, 1);
  bytes_ += (*request)->bytes;
  if (fresh) MakeReady(request->get());
  return absl::OkStatus();
}

absl::Status ControlRequests::CheckLimits(const Model& model, const Request& request,
                                          bool joins) const {
  const Limits& limits = options_.limits;
  if (model.waiting >= limits.per_model) {
    return absl::UnavailableError(absl::StrCat("more than ", limits.per_model,
                                               " requests to load or unload model '",
                                               request.change.model, "' wait: try again later"));
  }
  if (waiting_ >= limits.all) {
    return absl::UnavailableError(absl::StrCat(
        "more than ", limits.all, " requests to load or unload models wait: try again later"));
  }
  if (!joins && bytes_ > 0 && bytes_ + request.bytes > limits.bytes) {
    return absl::UnavailableError(
        absl::StrCat("configurations and files of more than ", limits.bytes,
                     " bytes wait in requests to load models, and model '", request.change.model,
                     "' is being loaded or unloaded: try again later"));
  }
  return absl::OkStatus();
}

absl::Status ControlRequests::Run(ModelChange change, bool* begun) {
  Caller caller;
  const std::shared_ptr<Request> request = MakeRequest(std::move(change));
  request->caller = &caller;
  request->waiters.push_back({nullptr, [this, &caller](const absl::Status& status, bool was_begun) {
                                MutexLock lock(&mu_);
                                caller.answered = true;
                                caller.status = status;
                                caller.begun = was_begun;
                                // With the lock held: the caller goes away once it sees this.
                                caller.changed.NotifyAll();
                              }});
  if (begun != nullptr) *begun = false;
  if (absl::Status added = AddFor(nullptr, request); !added.ok()) return added;
  while (true) {
    absl::Status closed;
    {
      MutexLock lock(&mu_);
      while (!caller.answered && request->state != Request::State::kReady) {
        caller.changed.Wait(&mu_);
      }
      if (caller.answered) break;
      closed = closed_;
      if (closed.ok()) MakeBegun(request.get());
    }
    if (closed.ok()) {
      Try(request);
    } else {
      End(request, closed, /*begun=*/false);
    }
  }
  if (begun != nullptr) *begun = caller.begun;
  return caller.status;
}

// ---- Requests that wait

void ControlRequests::BeginWait(const Request& request, size_t clients) {
  waiting_ += clients;
  models_.find(request.change.model)->second.waiting += clients;
}

void ControlRequests::EndWait(const Request& request, size_t clients) {
  waiting_ -= clients;
  models_.find(request.change.model)->second.waiting -= clients;
}

void ControlRequests::MakeReady(Request* request) {
  request->state = Request::State::kReady;
  if (request->caller != nullptr) {
    request->caller->changed.NotifyAll();
  } else {
    ready_.splice(ready_.end(), request->ready);
  }
}

void ControlRequests::MakeBegun(Request* request) {
  if (request->caller == nullptr) {
    request->ready.splice(request->ready.begin(), ready_, request->ready_place);
  }
  EndWait(*request, request->waiters.size());
  bytes_ -= request->bytes;
  request->state = Request::State::kBegun;
}

void ControlRequests::TakeOut(const std::shared_ptr<Request>& request) {
  if (request->state == Request::State::kHeld) --held_;
  if (request->state == Request::State::kReady && request->caller == nullptr) {
    request->ready.splice(request->ready.begin(), ready_, request->ready_place);
  }
  if (request->waits()) {
    EndWait(*request, request->waiters.size());
    bytes_ -= request->bytes;
  }
  request->state = Request::State::kOut;
  const auto model = models_.find(request->change.model);
  std::list<std::shared_ptr<Request>>& queue = model->second.queue;
  const bool first = request->place == queue.begin();
  queue.erase(request->place);
  if (queue.empty()) {
    models_.erase(model);
  } else if (first) {
    MakeReady(queue.front().get());
  }
}

void ControlRequests::OnReleased(const ModelId& id) noexcept {
  {
    MutexLock lock(&mu_);
    if (held_ == 0) return;
    for (auto& [name, model] : models_) {
      Request* const first = model.queue.front().get();
      if (first->state != Request::State::kHeld || first->held_by != id) continue;
      --held_;
      MakeReady(first);
    }
  }
  StartThreads();
}

std::list<ControlRequests::Waiter> ControlRequests::Drop(const std::shared_ptr<Request>& request,
                                                         const ControlClient* client) noexcept {
  std::list<Waiter> dropped;
  MutexLock lock(&mu_);
  if (!request->waits()) return dropped;
  auto one = request->waiters.begin();
  while (one->client.get() != client) ++one;
  EndWait(*request, 1);
  dropped.splice(dropped.begin(), request->waiters, one);
  // The last one leaves its share of the count to this client.
  if (request->waiters.empty()) {
    TakeOut(request);
  } else {
    ++unanswered_;
  }
  return dropped;
}

void ControlRequests::Close(const absl::Status& error) {
  std::vector<std::shared_ptr<Request>> waiting;
  {
    MutexLock lock(&mu_);
    for (const auto& [name, model] : models_) {
      waiting.insert(waiting.end(), model.queue.begin(), model.queue.end());
    }
    closed_ = error;
  }
  for (const std::shared_ptr<Request>& request : waiting) {
    {
      MutexLock lock(&mu_);
      if (!request->waits()) continue;
      TakeOut(request);
    }
    Answer(request.get(), error, /*begun=*/false);
  }
  StartThreads();
}

size_t ControlRequests::waiting() const {
  MutexLock lock(&mu_);
  return waiting_;
}

// ---- Attempts

void ControlRequests::StartThreads() noexcept {
  while (true) {
    {
      MutexLock lock(&mu_);
      if (ready_.size() <= starting_ || workers_ >= options_.limits.threads) return;
      ++workers_;
      ++starting_;
    }
    if (threads_.TryRun([this] { Work(); })) continue;
    bool others;
    {
      MutexLock lock(&mu_);
      --workers_;
      --starting_;
      others = workers_ > 0;
    }
    return others ? void() : RefuseReady();
  }
}

void ControlRequests::RefuseReady() noexcept {
  while (true) {
    std::shared_ptr<Request> request;
    {
      MutexLock lock(&mu_);
      if (ready_.empty()) return;
      request = *ready_.front()->place;
      TakeOut(request);
    }
    Answer(request.get(),
           SureStatus(absl::StatusCode::kUnavailable, "no thread for a model control request"),
           /*begun=*/false);
  }
}

void ControlRequests::Work() noexcept {
  bool looked = false;
  while (true) {
    std::shared_ptr<Request> request;
    absl::Status closed;
    {
      MutexLock lock(&mu_);
      if (!std::exchange(looked, true)) --starting_;
      if (ready_.empty()) {
        --workers_;
        return;
      }
      request = *ready_.front()->place;
      closed = closed_;
      MakeBegun(request.get());
    }
    if (closed.ok()) {
      Try(request);
    } else {
      End(request, closed, /*begun=*/false);
    }
  }
}

void ControlRequests::Try(const std::shared_ptr<Request>& request) noexcept {
  std::shared_ptr<Attempt> attempt;
  try {
    attempt = std::make_shared<Attempt>(this, request);
    const std::optional<ModelId> busy =
        options_.attempt(request->change, [attempt](const absl::Status& s) { attempt->Report(s); });
    if (!busy.has_value()) {
      request->change.override = LoadOverride();  // was used
      return;
    }
    attempt->Forget();
    Hold(request, *busy);
  } catch (...) {
    const absl::Status error = CaughtStatus();
    if (attempt == nullptr) return End(request, error, /*begun=*/true);
    attempt->Report(error);
  }
}

void ControlRequests::Hold(const std::shared_ptr<Request>& request, const ModelId& busy) noexcept {
  absl::Status closed;
  {
    MutexLock lock(&mu_);
    closed = closed_;
    if (closed.ok()) {
      request->held_by = busy;
      request->state = Request::State::kHeld;
      ++held_;
      BeginWait(*request, request->waiters.size());
      bytes_ += request->bytes;
    }
  }
  if (!closed.ok()) return End(request, closed, /*begun=*/false);
  // Others may have ended their work before the request was noted.
  if (!options_.is_busy(busy)) OnReleased(busy);
}

void ControlRequests::End(const std::shared_ptr<Request>& request, const absl::Status& status,
                          bool begun) noexcept {
  {
    MutexLock lock(&mu_);
    TakeOut(request);
  }
  StartThreads();
  Answer(request.get(), status, begun);
}

void ControlRequests::Answer(Request* request, const absl::Status& status, bool begun) noexcept {
  for (Waiter& waiter : request->waiters) {
    if (waiter.client != nullptr) {
      std::shared_ptr<ControlClient::Part> part;
      MutexLock lock(&waiter.client->mu_);
      part.swap(waiter.client->part_);
    }
    AnswerOne(&waiter.done, status, begun);
  }
  request->waiters.clear();
  CountEnd();
}

void ControlRequests::AnswerOne(Done* done, const absl::Status& status, bool begun) noexcept {
  try {
    (*done)(status, begun);
  } catch (const std::exception& e) {
    // The client hears it from the destruction of its function.
    LOG_ERROR << "the end of a model control request was not told: " << e.what();
  }
}

void ControlRequests::CountEnd() noexcept {
  MutexLock lock(&mu_);
  // With the lock held: the waiting thread may destroy this object.
  if (--unanswered_ == 0) all_answered_.NotifyAll();
}

}  // namespace nereid
