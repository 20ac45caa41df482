// SPDX-License-Identifier: Apache-2.0
#include "owner_socket.h"

#include <absl/strings/str_cat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "frontends/transport/bound_address.h"
#include "owner_socket_path.h"

namespace nereid {
namespace {

constexpr uint64_t kMostOwnerConnections = 16;
constexpr uint64_t kMostOwnerBodyBytes = 64 << 10;

HttpFrontendOptions OnlyNereid(HttpFrontendOptions options) {
  options.access = {};
  for (size_t group = 0; group < kApiGroups; ++group) {
    if (static_cast<ApiGroup>(group) == ApiGroup::kNereid) continue;
    options.access.Close(static_cast<ApiGroup>(group),
                         "this socket shows only /v2/nereid; use the HTTP port");
  }
  options.cors = CorsPolicy::Unchecked();  // browsers do not reach it
  options.shared_memory = SharedMemoryRegistry::Closed();
  options.header_forwarding = {};
  return options;
}

HttpServerOptions SocketOptions(HttpServerOptions options) {
  options.reuse_port = false;
  options.thread_count = 1;
  options.max_connections = kMostOwnerConnections;
  options.may_use_reserve = true;
  options.max_body_bytes = kMostOwnerBodyBytes;
  options.tls = {};
  options.http2 = false;
  return options;
}

}  // namespace

OwnerSocket::OwnerSocket(Server* server, const HttpExecutors& executors,
                         HttpFrontendOptions options)
    : rest_(server, executors, OnlyNereid(std::move(options))) {}

OwnerSocket::~OwnerSocket() { RemoveFile(); }

absl::Status OwnerSocket::Start(uint16_t http_port, HttpServerOptions http) {
  http = SocketOptions(std::move(http));
  absl::Status failure;
  for (const std::string& folder : OwnerSocketFolders()) {
    mkdir(folder.c_str(), S_IRWXU);  // what is there now is looked at
    absl::Status made = CheckOwnerFolder(folder, geteuid());
    if (made.ok()) {
      made = StartAt(absl::StrCat(folder, "/", OwnerSocketName(http_port)), http);
    }
    if (made.ok() || absl::IsUnavailable(made)) return made;
    failure = std::move(made);
  }
  return failure;
}

absl::Status OwnerSocket::StartAt(const std::string& path, HttpServerOptions options) {
  ASSIGN_OR_RETURN(options.bound, transport::BoundAddress::BindFile(path));
  path_ = path;
  struct stat made;
  if (lstat(path.c_str(), &made) == 0) file_ = made.st_ino;
  absl::StatusOr<std::unique_ptr<HttpServer>> port = HttpServer::Start(std::move(options), &rest_);
  if (!port.ok()) {
    RemoveFile();
    return port.status();
  }
  port_ = *std::move(port);
  LOG_VERBOSE(1) << "nereid top and nereid explain of this user are answered at '" << path << "'";
  return absl::OkStatus();
}

void OwnerSocket::RemoveFile() {
  // Another server may have put its own there, if this one's was taken away.
  struct stat found;
  const std::string path = std::exchange(path_, "");
  if (!path.empty() && lstat(path.c_str(), &found) == 0 && found.st_ino == file_) {
    unlink(path.c_str());
  }
}

void OwnerSocket::Stop(TimePoint deadline) {
  RemoveFile();
  if (port_ != nullptr) port_->Stop(deadline);
}

}  // namespace nereid
