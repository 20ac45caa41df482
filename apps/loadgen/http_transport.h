// SPDX-License-Identifier: Apache-2.0
// HttpTransport: keep-alive connections over raw non-blocking sockets and epoll. Does as little as
// possible, so that the measurement shows the server and not the client. Used by one thread.
#ifndef NEREID_APPS_LOADGEN_HTTP_TRANSPORT_H_
#define NEREID_APPS_LOADGEN_HTTP_TRANSPORT_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/loadgen/client_socket.h"
#include "apps/loadgen/endpoint.h"
#include "apps/loadgen/event_stream.h"
#include "apps/loadgen/request_script.h"
#include "apps/loadgen/transport.h"

namespace nereid::bench {

struct HttpRequestText {
  std::string path;
  std::string body;
  // Value of Inference-Header-Content-Length; negative: no such header, the body is JSON.
  int64_t header_length = -1;
  std::string method = "POST";
};

// What comes back.
enum class HttpAnswers {
  kWhole,
  kEventStreams  // of generate_stream: done when the stream ends, failed if an event is an error
};

class HttpTransport final : public Transport {
 public:
  // Connects `connections` times. UNAVAILABLE if that fails.
  static absl::StatusOr<std::unique_ptr<Transport>> Connect(
      Endpoint endpoint, RequestScript script, int connections,
      HttpAnswers answers = HttpAnswers::kWhole);
  // `request` as it goes over the wire.
  static std::string Render(const Endpoint& endpoint, const HttpRequestText& request);
  // Sequences of `length` requests on each of `slots` connections, with ids from `first_id` on.
  // INVALID_ARGUMENT if the body is no JSON object.
  static absl::StatusOr<RequestScript> Sequences(const Endpoint& endpoint,
                                                 const HttpRequestText& request, int slots,
                                                 int length,
                                                 uint64_t first_id = RequestScript::kFirstId);
  ~HttpTransport() override;

  int slots() const override { return static_cast<int>(connections_.size()); }
  absl::Status Send(int slot) override;
  absl::Status Poll(BenchTime until, std::vector<Completion>* done) override;
  std::string error(int slot) const override;
  bool EndSequence(int slot) override { return script_.EndSequence(slot); }
  // Streams of events are not kept.
  void KeepAnswers(bool keep) override { keep_ = keep; }
  absl::string_view answer(int slot) const override;

 private:
  struct Connection {
    ClientSocket socket;
    bool open = false;
    bool waiting = false;       // for an answer
    absl::string_view request;  // the request in progress
    size_t sent = 0;            // bytes of the request written
    bool writing = false;       // waits until the socket accepts more
    bool have_head = false;     // of the answer that is arriving
    bool ok = false;
    bool streams = false;    // its body is `events`
    uint64_t body_left = 0;  // bytes of its body still to come, if it is none
    EventStream events;
    BenchTime first{};         // when the first event had arrived
    size_t header_length = 0;  // length of the JSON before the binary part
    std::string head;          // the part that has arrived
    std::string status_line;   // of an answer without success
    std::string body;          // if answers are kept; of a failure its beginning
    std::string lost;          // why the connection was lost, if that ended the request
  };

  HttpTransport(Endpoint endpoint, RequestScript script, HttpAnswers answers);
  absl::Status Open(int slot);
  // Ends the connection, and the request on it without success.
  void Lose(int slot, const absl::Status& why, std::vector<Completion>* done);
  absl::Status Write(int slot);
  // Reads once; sets `complete` when the answer is whole.
  absl::Status Read(Connection* connection, bool* complete);
  absl::Status TakeHead(Connection* connection, absl::string_view* arrived);
  // How long the body is, or that it is a stream.
  absl::Status TakeLength(Connection* connection, absl::string_view head);
  absl::Status TakeEvents(Connection* connection, absl::string_view arrived);
  void TakeBody(Connection* connection, absl::string_view arrived);

  const Endpoint endpoint_;
  RequestScript script_;
  const HttpAnswers answers_;
  int epoll_ = -1;
  bool keep_ = false;
  std::vector<Connection> connections_;
  std::unique_ptr<char[]> scratch_;
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_HTTP_TRANSPORT_H_
