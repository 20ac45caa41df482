// SPDX-License-Identifier: Apache-2.0
#include "caches/redis/connections.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include <utility>

namespace nereid_cache {
namespace {

using nereid_backend::Error;
using nereid_backend::Result;
using nereid_backend::StrCat;

constexpr std::chrono::seconds kDownTime(1);

timeval ToTimeval(std::chrono::milliseconds time) {
  return {time.count() / 1000, (time.count() % 1000) * 1000};
}

// Writing to a connection that the other side has reset raises SIGPIPE, which would end the
// process. This blocks the signal for the calling thread, and then removes it from the pending
// signals.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    if (!was_pending_) {
      const timespec at_once{};
      while (sigtimedwait(&pipe_, nullptr, &at_once) == SIGPIPE) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};

// An idle connection receives nothing. So if it becomes readable, the other side has closed it.
bool HasEnded(const redisContext& context) {
  pollfd look{context.fd, POLLIN, 0};
  return poll(&look, 1, 0) != 0;
}

}  // namespace

void ContextDeleter::operator()(redisContext* context) const { redisFree(context); }
void ReplyDeleter::operator()(redisReply* reply) const { freeReplyObject(reply); }

Result<Reply> Connections::Run(const std::vector<std::string_view>& command) {
  const NoSigpipe no_sigpipe;
  NB_ASSIGN_OR_RETURN(Context context, Take());
  const Clock::time_point sent = Clock::now();
  Reply reply = Send(context.get(), command);
  Error error = ErrorOf(*context, reply.get());
  const bool timed = options_.socket_timeout.count() > 0;
  if (reply == nullptr && timed && Clock::now() - sent >= options_.socket_timeout) {
    GiveUp(error.message());
  }
  Return(reply == nullptr ? nullptr : std::move(context));
  if (!error.ok()) return error;
  return reply;
}

Result<Context> Connections::Take() {
  std::unique_lock<std::mutex> lock(mu_);
  const auto can_have_one = [&] { return !idle_.empty() || open_ < options_.pool_size; };
  if (!returned_.wait_for(lock, options_.wait_timeout, can_have_one)) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 StrCat("all ", options_.pool_size, " connections to Redis (", options_.host, ":",
                        options_.port, ") are in use"));
  }
  while (!idle_.empty()) {
    Context context = std::move(idle_.back());
    idle_.pop_back();
    if (!HasEnded(*context)) return context;
    --open_;
  }
  if (Clock::now() < down_until_) {
    returned_.notify_one();
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, down_because_);
  }
  ++open_;
  lock.unlock();
  Result<Context> opened = Open();
  if (opened.ok()) return opened;
  lock.lock();
  --open_;
  SetDown(opened.error().message());
  returned_.notify_one();
  return opened;
}

void Connections::SetDown(const std::string& because) {
  down_until_ = Clock::now() + kDownTime;
  down_because_ = because;
}

void Connections::GiveUp(const std::string& because) {
  const std::lock_guard<std::mutex> lock(mu_);
  SetDown(because);
  open_ -= idle_.size();
  idle_.clear();
}

void Connections::Return(Context context) {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    if (context != nullptr) {
      idle_.push_back(std::move(context));
    } else {
      --open_;
    }
  }
  returned_.notify_one();
}

Result<Context> Connections::Open() const {
  const bool timed = options_.connect_timeout.count() > 0;
  Context context(timed ? redisConnectWithTimeout(options_.host.c_str(), options_.port,
                                                  ToTimeval(options_.connect_timeout))
                        : redisConnect(options_.host.c_str(), options_.port));
  if (context == nullptr || context->err != 0) {
    std::string message = StrCat("failed to connect to Redis (", options_.host, ":", options_.port,
                                 "): ", context == nullptr ? "out of memory" : context->errstr);
    if (options_.port == 0) message += StrCat(" (the port given is '", options_.port_text, "')");
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, message);
  }
  if (options_.socket_timeout.count() > 0) {
    redisSetTimeout(context.get(), ToTimeval(options_.socket_timeout));
  }
  NB_RETURN_IF_ERROR(LogIn(context.get()));
  return context;
}

Error Connections::LogIn(redisContext* context) const {
  if (!options_.password.empty()) {
    const Reply reply = options_.user.empty()
                            ? Send(context, {"AUTH", options_.password})
                            : Send(context, {"AUTH", options_.user, options_.password});
    NB_RETURN_IF_ERROR(ErrorOf(*context, reply.get()));
  }
  if (options_.db != 0) {
    const std::string db = std::to_string(options_.db);
    const Reply reply = Send(context, {"SELECT", db});
    NB_RETURN_IF_ERROR(ErrorOf(*context, reply.get()));
  }
  return {};
}

Reply Connections::Send(redisContext* context, const std::vector<std::string_view>& command) {
  std::vector<const char*> words;
  std::vector<size_t> sizes;
  for (const std::string_view word : command) {
    words.push_back(word.data());
    sizes.push_back(word.size());
  }
  return Reply(static_cast<redisReply*>(
      redisCommandArgv(context, static_cast<int>(words.size()), words.data(), sizes.data())));
}

Error Connections::ErrorOf(const redisContext& context, const redisReply* reply) {
  if (reply == nullptr) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, StrCat("connection to Redis: ", context.errstr));
  }
  if (reply->type == REDIS_REPLY_ERROR) {
    return Error::Internal(StrCat("Redis: ", std::string_view(reply->str, reply->len)));
  }
  return {};
}

}  // namespace nereid_cache
