// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/listener.h"

#include <absl/strings/str_cat.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <future>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid::transport {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// How long the listener waits after an accept has failed for lack of descriptors, or for another
// reason that is not one of a single connection.
constexpr std::chrono::milliseconds kAcceptRetry(50);
// How long it waits for loops that look for idle connections.
constexpr std::chrono::milliseconds kSearchPatience(500);
// And until it has others looked for if there were none.
constexpr Duration kNextSearch = std::chrono::milliseconds(100);

// Whether `error` is one of a single connection, which is closed already. Then the next connection
// is accepted at once.
bool IsOfOneConnection(const boost::system::error_code& error) {
  return error == asio::error::connection_aborted || error == asio::error::connection_reset ||
         error == boost::system::errc::protocol_error;
}

// Whether the program at the other end of a Unix socket is neither of this user nor of root.
bool IsStranger(Socket& socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return true;
  return peer.uid != geteuid() && peer.uid != 0;
}

}  // namespace

Listener::Listener(ListenOptions options, std::vector<std::shared_ptr<IoLoop>> loops,
                   Budget* connections)
    : options_(std::move(options)),
      loops_(std::move(loops)),
      connections_(connections),
      acceptor_(loops_.front()->context()),
      retry_timer_(loops_.front()->context()) {}

absl::Status Listener::Open() {
  std::shared_ptr<BoundAddress> bound = options_.bound;
  if (bound == nullptr) {
    ASSIGN_OR_RETURN(bound, BoundAddress::Bind(options_.where));
  }
  ASSIGN_OR_RETURN(const int fd, bound->Listen());
  boost::system::error_code error;
  // What kind of address it has does not matter to what is done with a socket.
  acceptor_.assign(bound->family() == AF_INET6 ? tcp::v6() : tcp::v4(), fd, error);
  if (error) {
    close(fd);
    return absl::InternalError(absl::StrCat("cannot listen: ", error.message()));
  }
  owner_only_ = bound->family() == AF_UNIX;
  if (!owner_only_) port_ = acceptor_.local_endpoint(error).port();
  return absl::OkStatus();
}

void Listener::Start() {
  loops_.front()->Post([this] { Accept(); });
}

void Listener::Accept() {
  if (!acceptor_.is_open()) return;
  IoLoop* loop = loops_[next_loop_++ % loops_.size()].get();
  acceptor_.async_accept(loop->context().get_executor(),
                         [this, loop](const boost::system::error_code& error, Socket socket) {
                           OnAccept(error, std::move(socket), loop);
                         });
}

void Listener::OnAccept(const boost::system::error_code& error, Socket socket, IoLoop* loop) {
  if (!acceptor_.is_open()) return;
  if (error && !IsOfOneConnection(error)) return OnFault(error);
  faulty_ = false;
  const bool limited = options_.room != nullptr && !options_.may_use_reserve;
  if (!error && !(owner_only_ && IsStranger(socket))) {
    auto slot = connections_->Take(1);
    if (!slot.ok()) {
      Refuse(std::move(socket), slot.status());
    } else if (limited && options_.room->IsOver()) {
      const absl::Status reason = options_.room->Refusal();
      slot->Return();
      Refuse(std::move(socket), reason);
    } else {
      loop->Adopt(std::move(socket), *std::move(slot));
    }
  }
  if (limited && options_.room->IsFull() && loop->Now() >= next_search_) return MakeRoom();
  Accept();
}

void Listener::OnFault(const boost::system::error_code& error) {
  const TimePoint now = loops_.front()->Now();
  faulty_ = true;
  ++faults_;
  if (now >= next_fault_line_) {
    LOG_WARNING << "cannot accept a connection for " << options_.where.protocol << ": "
                << error.message() << (faults_ > 1 ? absl::StrCat(" (", faults_, " times)") : "");
    next_fault_line_ = now + kLogInterval;
    faults_ = 0;
  }
  const bool no_descriptor = error == boost::system::errc::too_many_files_open ||
                             error == boost::system::errc::too_many_files_open_in_system;
  if (no_descriptor && options_.room != nullptr && now >= next_search_) return MakeRoom();
  AcceptLater();
}

void Listener::AcceptLater() {
  retry_timer_.expires_after(kAcceptRetry);
  retry_timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) Accept();
  });
}

void Listener::MakeRoom() {
  const uint64_t search = ++search_;
  retry_timer_.expires_after(kSearchPatience);
  retry_timer_.async_wait([this, search](const boost::system::error_code& cancelled) {
    if (!cancelled) OnRoomMade(search, 0);
  });
  // Whoever answers last may do so when this object has gone. Its loop tells: a loop that has ended
  // runs no task.
  options_.room->LetIdleGo(
      [this, search, loop = std::weak_ptr<IoLoop>(loops_.front())](size_t gone) {
        const std::shared_ptr<IoLoop> first = loop.lock();
        if (first != nullptr) first->Post([this, search, gone] { OnRoomMade(search, gone); });
      });
}

void Listener::OnRoomMade(uint64_t search, size_t gone) {
  if (!acceptor_.is_open() || search != search_) return;
  ++search_;
  retry_timer_.cancel();
  if (gone == 0) {
    next_search_ = loops_.front()->Now() + kNextSearch;
    if (faulty_) return AcceptLater();
  }
  Accept();
}

// Sends the reason, as far as possible without waiting for the client, and closes.
void Listener::Refuse(Socket socket, const absl::Status& reason) {
  if (!options_.refusal) return;
  const std::string answer = options_.refusal(reason);
  boost::system::error_code ignored;
  socket.non_blocking(true, ignored);
  // Unread bytes would make the close reset the connection, which would destroy the answer.
  char unread[4096];
  socket.read_some(asio::buffer(unread), ignored);
  socket.write_some(asio::buffer(answer), ignored);
  socket.shutdown(Socket::shutdown_send, ignored);
}

void Listener::Stop() {
  std::promise<void> closed;
  loops_.front()->Post([this, &closed] {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    retry_timer_.cancel();
    closed.set_value();
  });
  closed.get_future().wait();
}

}  // namespace nereid::transport
