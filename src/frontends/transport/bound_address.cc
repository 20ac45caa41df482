// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/bound_address.h"

#include <absl/strings/str_cat.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "frontends/transport/port_holder.h"

namespace nereid::transport {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

absl::StatusOr<tcp::endpoint> Resolve(const AddressToBind& where) {
  boost::system::error_code error;
  const auto ip = asio::ip::make_address(where.address, error);
  if (!error) return tcp::endpoint(ip, where.port);
  asio::io_context context;
  tcp::resolver resolver(context);
  const auto found = resolver.resolve(where.address, std::to_string(where.port), error);
  if (error || found.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("cannot resolve the ", where.protocol,
                                                   " address '", where.address,
                                                   "': ", error.message()));
  }
  return found.begin()->endpoint();
}

bool Set(int fd, int option, int value) {
  return setsockopt(fd, SOL_SOCKET, option, &value, sizeof(value)) == 0;
}

// Connections of an earlier server may be in their last minute. They are no obstacle for a socket
// with SO_REUSEADDR; but two that both have it may share an address until one of them listens. So
// this one has it for the moment of the call alone.
bool BindAlone(int fd, const tcp::endpoint& endpoint) {
  if (bind(fd, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0) return true;
  if (errno != EADDRINUSE || !Set(fd, SO_REUSEADDR, 1)) return false;
  return bind(fd, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0 &&
         Set(fd, SO_REUSEADDR, 0);
}

// Whether somebody listens there.
bool Answers(const sockaddr* to, socklen_t size) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return true;
  const bool answers = connect(fd, to, size) == 0 || errno == EAGAIN;  // EAGAIN: too many wait
  close(fd);
  return answers;
}

// What a call has made of the address, which has failed with the code `error`.
absl::Status Failure(const AddressToBind& where, int error) {
  if (error != EADDRINUSE) {
    return absl::InternalError(absl::StrCat("cannot listen on '", where.address, ":", where.port,
                                            "': ", std::strerror(error)));
  }
  std::string text = absl::StrCat("Socket '", where.address, ":", where.port, "' already in use ");
  const auto endpoint = Resolve(where);
  if (endpoint.ok()) absl::StrAppend(&text, HolderText(*endpoint, FindPortHolder(*endpoint)));
  if (!where.port_option.empty()) {
    absl::StrAppend(&text, "; ", where.port_option, " chooses another port");
  }
  return absl::UnavailableError(text);
}

}  // namespace

BoundAddress::BoundAddress(AddressToBind where, int fd, int family)
    : where_(std::move(where)), fd_(fd), family_(family) {}

BoundAddress::~BoundAddress() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<std::shared_ptr<BoundAddress>> BoundAddress::Bind(const AddressToBind& where) {
  ASSIGN_OR_RETURN(const tcp::endpoint endpoint, Resolve(where));
  // Programs that models start must not keep the port.
  const int family = endpoint.protocol().family();
  const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Failure(where, errno);
  std::shared_ptr<BoundAddress> bound(new BoundAddress(where, fd, family));
  if (where.reuse_port && !Set(fd, SO_REUSEPORT, 1)) return Failure(where, errno);
  if (!BindAlone(fd, endpoint)) return Failure(where, errno);
  return bound;
}

absl::StatusOr<std::shared_ptr<BoundAddress>> BoundAddress::BindFile(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto failed = [&path](const char* why) {
    return absl::InternalError(absl::StrCat("cannot make the socket '", path, "': ", why));
  };
  if (path.size() >= sizeof(address.sun_path)) return failed("its name is too long");
  path.copy(address.sun_path, path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return failed(std::strerror(errno));
  std::shared_ptr<BoundAddress> bound(new BoundAddress({"HTTP", path, 0, false, ""}, fd, AF_UNIX));
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  int error = bind(fd, to, sizeof(address)) == 0 ? 0 : errno;
  if (error == EADDRINUSE) {
    if (Answers(to, sizeof(address))) {
      return absl::UnavailableError(absl::StrCat("another server has the socket '", path, "'"));
    }
    error = unlink(path.c_str()) == 0 && bind(fd, to, sizeof(address)) == 0 ? 0 : errno;
  }
  if (error == 0 && chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0) error = errno;
  if (error != 0) return failed(std::strerror(error));
  return bound;
}

absl::StatusOr<int> BoundAddress::Listen() {
  // The next server may take the address although connections of this one are in their last minute.
  if (!Set(fd_, SO_REUSEADDR, 1) || listen(fd_, SOMAXCONN) != 0) return Failure(where_, errno);
  return std::exchange(fd_, -1);
}

}  // namespace nereid::transport
