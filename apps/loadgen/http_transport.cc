// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/http_transport.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "apps/loadgen/sockets.h"
#include "base/status_macros.h"

namespace nereid::bench {
namespace {

constexpr size_t kScratchBytes = 512 << 10;
constexpr size_t kMaxHeadBytes = 64 << 10;

// The value of the header `name` (in any case) in a head.
std::optional<absl::string_view> FindHeader(absl::string_view head, absl::string_view name) {
  for (size_t at = head.find("\r\n"); at != absl::string_view::npos; at = head.find("\r\n", at)) {
    at += 2;
    absl::string_view line = head.substr(at, head.find("\r\n", at) - at);
    if (line.size() <= name.size() || line[name.size()] != ':' ||
        !absl::StartsWithIgnoreCase(line, name)) {
      continue;
    }
    return absl::StripAsciiWhitespace(line.substr(name.size() + 1));
  }
  return std::nullopt;
}

// The same as a number; `missing` if it is absent.
absl::StatusOr<uint64_t> NumberHeader(absl::string_view head, absl::string_view name,
                                      uint64_t missing) {
  const std::optional<absl::string_view> text = FindHeader(head, name);
  uint64_t value = missing;
  if (!text.has_value() || absl::SimpleAtoi(*text, &value)) return value;
  return absl::DataLossError(absl::StrCat("the answer says ", name, ": ", *text));
}

}  // namespace

HttpTransport::HttpTransport(Endpoint endpoint, RequestScript script, HttpAnswers answers)
    : endpoint_(std::move(endpoint)),
      script_(std::move(script)),
      answers_(answers),
      scratch_(new char[kScratchBytes]) {}

HttpTransport::~HttpTransport() {
  if (epoll_ >= 0) close(epoll_);
}

std::string HttpTransport::Render(const Endpoint& endpoint, const HttpRequestText& request) {
  std::string text =
      absl::StrCat(request.method, " ", request.path, " HTTP/1.1\r\nHost: ", endpoint.Authority(),
                   "\r\nContent-Length: ", request.body.size(), "\r\n");
  if (request.header_length >= 0) {
    absl::StrAppend(&text, "Content-Type: application/octet-stream\r\n",
                    "Inference-Header-Content-Length: ", request.header_length, "\r\n");
  } else {
    absl::StrAppend(&text, "Content-Type: application/json\r\n");
  }
  for (const auto& [name, value] : endpoint.headers) {
    absl::StrAppend(&text, name, ": ", value, "\r\n");
  }
  absl::StrAppend(&text, "\r\n", request.body);
  return text;
}

absl::StatusOr<RequestScript> HttpTransport::Sequences(const Endpoint& endpoint,
                                                       const HttpRequestText& request, int slots,
                                                       int length, uint64_t first_id) {
  RETURN_IF_ERROR(HttpBodyOfStep(request.body, {}).status());
  const auto render = [&](const SequenceStep& step) {
    SequenceText of_body = *HttpBodyOfStep(request.body, step);
    HttpRequestText of_step = request;
    of_step.body = std::move(of_body.bytes);
    if (request.header_length >= 0) {
      of_step.header_length += static_cast<int64_t>(of_step.body.size() - request.body.size());
    }
    SequenceText text{Render(endpoint, of_step)};
    text.id_at = text.bytes.size() - of_step.body.size() + of_body.id_at;
    return text;
  };
  return RequestScript(slots, length, RequestScript::IdForm::kDecimal, render, first_id);
}

absl::StatusOr<std::unique_ptr<Transport>> HttpTransport::Connect(Endpoint endpoint,
                                                                  RequestScript script,
                                                                  int connections,
                                                                  HttpAnswers answers) {
  std::unique_ptr<HttpTransport> transport(
      new HttpTransport(std::move(endpoint), std::move(script), answers));
  ASSIGN_OR_RETURN(transport->epoll_, MakeEpoll());
  transport->connections_.resize(static_cast<size_t>(connections));
  for (int slot = 0; slot < connections; ++slot) RETURN_IF_ERROR(transport->Open(slot));
  return transport;
}

absl::Status HttpTransport::Open(int slot) {
  Connection& connection = connections_[static_cast<size_t>(slot)];
  ASSIGN_OR_RETURN(connection.socket, ClientSocket::Connect(endpoint_.address, endpoint_.tls));
  connection.open = true;
  connection.writing = false;
  return Watch(epoll_, EPOLL_CTL_ADD, connection.socket.fd(), EPOLLIN, slot);
}

void HttpTransport::Lose(int slot, const absl::Status& why, std::vector<Completion>* done) {
  Connection& connection = connections_[static_cast<size_t>(slot)];
  connection.socket = ClientSocket();  // a closed descriptor leaves epoll by itself
  connection.open = false;
  if (!std::exchange(connection.waiting, false)) return;
  connection.lost = std::string(why.message());
  done->push_back({slot, false});
}

absl::Status HttpTransport::Send(int slot) {
  Connection& connection = connections_[static_cast<size_t>(slot)];
  if (!connection.open) RETURN_IF_ERROR(Open(slot));
  connection.request = script_.Next(slot);
  connection.sent = 0;
  connection.have_head = false;
  connection.head.clear();
  connection.body.clear();
  connection.lost.clear();
  connection.events.Reset();
  connection.first = BenchTime();
  connection.waiting = true;
  // What fails here is found again, and counted, when the socket is read.
  Write(slot).IgnoreError();
  return absl::OkStatus();
}

absl::Status HttpTransport::Write(int slot) {
  Connection& connection = connections_[static_cast<size_t>(slot)];
  const absl::string_view request = connection.request;
  while (connection.sent < request.size()) {
    const iovec rest{const_cast<char*>(request.data()) + connection.sent,
                     request.size() - connection.sent};
    ASSIGN_OR_RETURN(const size_t written, connection.socket.Write({&rest, 1}));
    if (written == 0) break;
    connection.sent += written;
  }
  const bool writing = connection.sent < request.size();
  if (writing == connection.writing) return absl::OkStatus();
  connection.writing = writing;
  return Watch(epoll_, EPOLL_CTL_MOD, connection.socket.fd(),
               writing ? EPOLLIN | EPOLLOUT : EPOLLIN, slot);
}

absl::Status HttpTransport::Poll(BenchTime until, std::vector<Completion>* done) {
  std::array<epoll_event, 64> events;
  ASSIGN_OR_RETURN(const int count, WaitForEvents(epoll_, until, absl::MakeSpan(events)));
  for (int i = 0; i < count; ++i) {
    const int slot = static_cast<int>(events[static_cast<size_t>(i)].data.u32);
    const uint32_t what = events[static_cast<size_t>(i)].events;
    Connection& connection = connections_[static_cast<size_t>(slot)];
    // A server that refuses a long request answers before it closes: so the answer is read first.
    bool complete = false;
    absl::Status status;
    if ((what & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) status = Read(&connection, &complete);
    if (status.ok() && !complete && (what & EPOLLOUT) != 0) status = Write(slot);
    if (!status.ok()) {
      Lose(slot, status, done);
    } else if (complete) {
      connection.waiting = false;
      done->push_back({slot, connection.ok, connection.first});
      // The rest of a request that the server did not want.
      if (connection.sent < connection.request.size()) Lose(slot, status, done);
    }
  }
  return absl::OkStatus();
}

absl::Status HttpTransport::Read(Connection* connection, bool* complete) {
  ASSIGN_OR_RETURN(const size_t got, connection->socket.Read({scratch_.get(), kScratchBytes}));
  if (got == 0) return absl::OkStatus();
  if (!connection->waiting) return absl::DataLossError("an answer that nobody asked for");
  absl::string_view arrived(scratch_.get(), got);
  if (!connection->have_head) RETURN_IF_ERROR(TakeHead(connection, &arrived));
  if (!connection->have_head) return absl::OkStatus();
  if (connection->streams) {
    RETURN_IF_ERROR(TakeEvents(connection, arrived));
    *complete = connection->events.ended();
    return absl::OkStatus();
  }
  if (arrived.size() > connection->body_left) {
    return absl::DataLossError("more bytes than the answer has");
  }
  TakeBody(connection, arrived);
  *complete = connection->body_left == 0;
  return absl::OkStatus();
}

absl::Status HttpTransport::TakeEvents(Connection* connection, absl::string_view arrived) {
  EventStream& events = connection->events;
  RETURN_IF_ERROR(events.Take(arrived));
  if (connection->first == BenchTime() && events.events() > 0)
    connection->first = BenchClock::now();
  if (events.error().empty()) return absl::OkStatus();
  connection->ok = false;
  connection->body = events.error();
  return absl::OkStatus();
}

void HttpTransport::TakeBody(Connection* connection, absl::string_view arrived) {
  connection->body_left -= arrived.size();
  if (connection->ok && !keep_) return;
  const size_t most = connection->ok
                          ? arrived.size()
                          : kMostErrorBytes - std::min(kMostErrorBytes, connection->body.size());
  arrived = arrived.substr(0, most);
  connection->body.append(arrived.data(), arrived.size());
}

std::string HttpTransport::error(int slot) const {
  const Connection& connection = connections_[static_cast<size_t>(slot)];
  if (!connection.lost.empty()) return connection.lost;
  const bool both = !connection.status_line.empty() && !connection.body.empty();
  return absl::StrCat(connection.status_line, both ? ": " : "", connection.body);
}

absl::Status HttpTransport::TakeHead(Connection* connection, absl::string_view* arrived) {
  static constexpr absl::string_view kEnd = "\r\n\r\n";
  // The head usually arrives in one piece and need not be copied.
  absl::string_view text = *arrived;
  const size_t before = connection->head.size();
  if (before > 0) {
    connection->head.append(arrived->data(), arrived->size());
    text = connection->head;
  }
  const size_t end = text.find(kEnd);
  if (end == absl::string_view::npos) {
    if (before == 0) connection->head.assign(arrived->data(), arrived->size());
    if (connection->head.size() > kMaxHeadBytes) return absl::DataLossError("an endless head");
    arrived->remove_prefix(arrived->size());
    return absl::OkStatus();
  }
  const absl::string_view head = text.substr(0, end);
  if (!absl::StartsWith(head, "HTTP/1.1 ")) return absl::DataLossError("no HTTP/1.1 answer");
  connection->ok = absl::StartsWith(head.substr(9), "200");
  connection->status_line.clear();
  if (!connection->ok) {
    connection->status_line =
        absl::StrCat("HTTP ", head.substr(9, std::min(head.find("\r\n"), kMostErrorBytes) - 9));
  }
  RETURN_IF_ERROR(TakeLength(connection, head));
  ASSIGN_OR_RETURN(connection->header_length,
                   NumberHeader(head, "Inference-Header-Content-Length", 0));
  connection->have_head = true;
  arrived->remove_prefix(end + kEnd.size() - before);
  return absl::OkStatus();
}

absl::Status HttpTransport::TakeLength(Connection* connection, absl::string_view head) {
  connection->streams =
      answers_ == HttpAnswers::kEventStreams &&
      absl::EqualsIgnoreCase(FindHeader(head, "Transfer-Encoding").value_or(""), "chunked");
  if (connection->streams) return absl::OkStatus();
  static constexpr uint64_t kNone = ~uint64_t{0};
  ASSIGN_OR_RETURN(connection->body_left, NumberHeader(head, "Content-Length", kNone));
  if (connection->body_left != kNone) return absl::OkStatus();
  return absl::DataLossError("an answer without Content-Length, which this client needs");
}

absl::string_view HttpTransport::answer(int slot) const {
  const Connection& connection = connections_[static_cast<size_t>(slot)];
  return absl::string_view(connection.body)
      .substr(std::min(connection.header_length, connection.body.size()));
}

}  // namespace nereid::bench
