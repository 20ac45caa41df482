// SPDX-License-Identifier: Apache-2.0
// OwnerSocket: the Unix socket on which the user who runs the server may see what it remembers and
// does, although the HTTP port does not show it. Who asks is known from the kernel, and nothing but
// /v2/nereid is open. Thread-compatible; owned by Services.
#ifndef NEREID_APPS_NEREID_OWNER_SOCKET_H_
#define NEREID_APPS_NEREID_OWNER_SOCKET_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "frontends/http/http_frontend.h"
#include "frontends/http/http_server.h"
#include "server/server.h"

namespace nereid {

class OwnerSocket {
 public:
  // `server` and the executors must outlive the socket; the executors must end before it is
  // destroyed. `options` are those of the HTTP port's frontend.
  OwnerSocket(Server* server, const HttpExecutors& executors, HttpFrontendOptions options);
  // Removes the file if Stop has not.
  ~OwnerSocket();

  // Makes the socket for the server with this port of HTTP. `http` are the options of that port,
  // whose limits hold here, too. An error says why there is no folder for it.
  absl::Status Start(uint16_t http_port, HttpServerOptions http);
  // Removes the file, and then as Stop of HttpServer.
  void Stop(TimePoint deadline);

 private:
  absl::Status StartAt(const std::string& path, HttpServerOptions options);
  void RemoveFile();

  HttpFrontend rest_;
  std::string path_;  // empty: there is no file
  ino_t file_ = 0;    // the number of the file that was made
  std::unique_ptr<HttpServer> port_;
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_OWNER_SOCKET_H_
