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
#include "apps/loadgen/request_script.h"
#include "apps/loadgen/transport.h"

namespace nereid::bench {

struct HttpRequestText {
  std::string path;
  std::string body;
  // Value of Inference-Header-Content-Length; negative: no such header, the body is JSON.
  int64_t header_length = -1;
  // Requests of a sequence on each connection; 0: no sequences.
  int sequence_length = 0;
};

class HttpTransport final : public Transport {
 public:
  // Connects to the IPv4 address "a.b.c.d:port"; `tls` is null for plain connections and need not
  // live on. UNAVAILABLE if that fails, INVALID_ARGUMENT if the body must be part of a sequence but
  // cannot be.
  static absl::StatusOr<std::unique_ptr<Transport>> Connect(const std::string& address,
                                                            const HttpRequestText& request,
                                                            int connections,
                                                            const ClientTls* tls = nullptr);
  ~HttpTransport() override;

  int slots() const override { return static_cast<int>(connections_.size()); }
  absl::Status Send(int slot) override;
  absl::Status Poll(BenchTime until, std::vector<Completion>* done) override;
  void KeepAnswers(bool keep) override { keep_ = keep; }
  absl::string_view answer(int slot) const override;

 private:
  struct Connection {
    ClientSocket socket;
    absl::string_view request;  // the request in progress
    size_t sent = 0;            // bytes of the request written
    bool writing = false;       // waits until the socket accepts more
    bool have_head = false;     // of the answer that is arriving
    bool ok = false;
    uint64_t body_left = 0;    // bytes of its body still to come
    size_t header_length = 0;  // length of the JSON before the binary part
    std::string head;          // the part that has arrived
    std::string body;          // if answers are kept
  };

  explicit HttpTransport(RequestScript script);
  absl::Status Open(const std::string& address, int connections, const ClientTls* tls);
  absl::Status Write(int slot);
  // Reads once; sets `complete` when the answer is whole.
  absl::Status Read(Connection* connection, bool* complete);
  absl::Status TakeHead(Connection* connection, absl::string_view* arrived);

  RequestScript script_;
  int epoll_ = -1;
  bool keep_ = false;
  std::vector<Connection> connections_;
  std::unique_ptr<char[]> scratch_;
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_HTTP_TRANSPORT_H_
