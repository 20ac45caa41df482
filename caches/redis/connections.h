// SPDX-License-Identifier: Apache-2.0
// Connections: a few connections to one Redis server, each for one command at a time. Thread-safe.
//
// A connection that fails is closed, and the next command opens another. If opening one fails, or
// an answer does not arrive in time, commands fail at once for a second, so that a server that is
// down or hangs delays few requests.
#ifndef NEREID_CACHES_REDIS_CONNECTIONS_H_
#define NEREID_CACHES_REDIS_CONNECTIONS_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/error.h"
#include "caches/redis/options.h"

struct redisContext;
struct redisReply;

namespace nereid_cache {

struct ContextDeleter {
  void operator()(redisContext* context) const;
};
struct ReplyDeleter {
  void operator()(redisReply* reply) const;
};
using Context = std::unique_ptr<redisContext, ContextDeleter>;
using Reply = std::unique_ptr<redisReply, ReplyDeleter>;

class Connections {
 public:
  explicit Connections(RedisOptions options) : options_(std::move(options)) {}
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Sends one command and waits for the answer. UNAVAILABLE if no connection is available or the
  // connection fails, INTERNAL with the server's text if it answers with an error.
  nereid_backend::Result<Reply> Run(const std::vector<std::string_view>& command);
  const RedisOptions& options() const { return options_; }

 private:
  using Clock = std::chrono::steady_clock;

  nereid_backend::Result<Context> Take();
  void Return(Context context);
  // Call if the server does not answer: closes the idle connections, and opens none for a while.
  void GiveUp(const std::string& because);
  void SetDown(const std::string& because);  // holds mu_
  nereid_backend::Result<Context> Open() const;
  nereid_backend::Error LogIn(redisContext* context) const;
  // Null means that the connection failed; the error is in the context.
  static Reply Send(redisContext* context, const std::vector<std::string_view>& command);
  static nereid_backend::Error ErrorOf(const redisContext& context, const redisReply* reply);

  const RedisOptions options_;
  std::mutex mu_;
  std::condition_variable returned_;
  // Everything below is guarded by mu_.
  std::vector<Context> idle_;
  size_t open_ = 0;  // idle or in use
  Clock::time_point down_until_{};
  std::string down_because_;
};

}  // namespace nereid_cache

#endif  // NEREID_CACHES_REDIS_CONNECTIONS_H_
