// SPDX-License-Identifier: Apache-2.0
// GrpcConnection: calls of one method over one HTTP/2 connection, unary or streams that stay open.
// nghttp2 does the framing, the header compression and the flow control. This class owns the socket
// and implements gRPC: the message prefix, and the status in the trailers. Used by one thread.
#ifndef NEREID_APPS_LOADGEN_GRPC_CONNECTION_H_
#define NEREID_APPS_LOADGEN_GRPC_CONNECTION_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/loadgen/client_socket.h"
#include "apps/loadgen/endpoint.h"
#include "apps/loadgen/grpc_headers.h"
#include "apps/loadgen/grpc_message.h"
#include "apps/loadgen/output_queue.h"
#include "apps/loadgen/transport.h"

namespace nereid::bench {

// Which method is called, and how its calls end.
struct GrpcMethod {
  absl::string_view path;  // not owned
  // Both empty: unary. Otherwise a call is a stream that stays open: each Start sends one request
  // on it, and is done when this many messages have arrived,
  uint64_t responses = 0;
  // or with a message that brings an error or says that it is the last one of the request.
  bool until_final = false;

  bool streams() const { return responses > 0 || until_final; }
};

// One request at a time. The owner reads it when it is done; until then it must not move.
struct GrpcCall {
  bool keep = false;   // whether to keep the answer
  std::string answer;  // its messages with their prefixes, when kept

  // State of the answer, as far as it has arrived.
  bool http_ok = false;  // :status 200
  bool grpc_ok = false;  // grpc-status 0; for a stream: no other status so far
  bool reset = false;    // ended with an error; for a stream: ended at all
  GrpcMessageCounter received;
  BenchTime first{};        // streams: when the first message had arrived
  std::string http_status;  // if it was not 200
  std::string grpc_status;  // if it was not 0
  std::string message;      // grpc-message; as sent
  std::string lost;         // why the connection was lost, if that ended the call

  absl::string_view request;  // message with its prefix; not owned
  uint64_t sent = 0;          // bytes of it
  int32_t stream = 0;         // HTTP/2 stream, while open
  bool waiting = false;       // the answer is not complete
  bool surplus = false;       // data arrived when none was expected

  // True if the answer is a success: the expected number of whole, uncompressed messages.
  bool Succeeded(const GrpcMethod& method) const;
  // Why it is none.
  std::string Failure() const;
  // Begins the state of an answer anew.
  void Reset(const GrpcMethod& method);
};

class GrpcConnection {
 public:
  // UNAVAILABLE if nobody listens.
  static absl::StatusOr<std::unique_ptr<GrpcConnection>> Connect(const Endpoint& endpoint,
                                                                 const GrpcMethod& method);
  ~GrpcConnection();
  GrpcConnection(const GrpcConnection&) = delete;
  GrpcConnection& operator=(const GrpcConnection&) = delete;

  int fd() const { return socket_.fd(); }

  // Queues `request`, a message with its prefix, which outlives the connection, on the call's
  // stream if it is open; Flush sends it.
  absl::Status Start(GrpcCall* call, absl::string_view request);

  // Writes as much as flow control and the socket allow. UNAVAILABLE if the connection is lost.
  absl::Status Flush();
  // True if the socket did not accept everything in the last Flush.
  bool blocked() const { return !output_.empty(); }

  // Reads once and appends the calls that this completes. UNAVAILABLE if the connection is lost,
  // INTERNAL if the server breaks the protocol.
  absl::Status Read(std::vector<GrpcCall*>* done);

 private:
  struct Callbacks;  // what nghttp2 calls

  GrpcConnection(const Endpoint& endpoint, const GrpcMethod& method);
  absl::Status Open(const Endpoint& endpoint);
  bool streams() const { return method_.streams(); }
  // Whether nothing more of the answer to the call's request is to come.
  bool Answered(const GrpcCall& call) const;
  void Complete(GrpcCall* call);
  // Queues a frame made by nghttp2; adds the headers to the head of a request.
  absl::Status QueueFrame(absl::string_view frame);

  const GrpcMethod method_;
  const GrpcHeaders headers_;
  bool headers_sent_ = false;
  ClientSocket socket_;
  nghttp2_session* session_ = nullptr;
  OutputQueue output_;
  std::unique_ptr<char[]> input_;
  std::vector<GrpcCall*>* done_ = nullptr;  // during Read
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_GRPC_CONNECTION_H_
