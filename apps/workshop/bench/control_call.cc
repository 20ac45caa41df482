// SPDX-License-Identifier: Apache-2.0
#include "bench/control_call.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <poll.h>

#include <chrono>
#include <memory>
#include <vector>

#include "apps/loadgen/grpc_connection.h"
#include "apps/loadgen/grpc_message.h"
#include "apps/loadgen/http_transport.h"
#include "base/status_macros.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parse.h"
#include "probe/probe_answer.h"

namespace nereid::bench {
namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr int kMostDepth = 100;
constexpr uint64_t kMostTextBytes = 1 << 20;

absl::Status Silent() {
  return absl::DeadlineExceededError(
      absl::StrCat("the server gives no answer within ", kPatience.count(), " s"));
}

}  // namespace

std::string PlainError(absl::string_view text) {
  const size_t json = text.find(": {");
  JsonTree tree;
  if (json != absl::string_view::npos &&
      ParseJson(text.substr(json + 2), kMostDepth, ParseBudget::UpTo(kMostTextBytes), &tree).ok()) {
    const JsonValue* const error = FindMember(tree, "error");
    if (error != nullptr && error->IsString()) {
      return OnOneLine(absl::StrCat(text.substr(0, json), ": ", error->GetString()));
    }
  }
  return OnOneLine(std::string(text));
}

absl::StatusOr<std::string> CallHttp(const Endpoint& endpoint, const char* method,
                                     const std::string& path, const std::string& body) {
  const HttpRequestText request{path, body, -1, method};
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Transport> transport,
      HttpTransport::Connect(endpoint, RequestScript(HttpTransport::Render(endpoint, request)), 1));
  transport->KeepAnswers(true);
  RETURN_IF_ERROR(transport->Send(0));
  const BenchTime deadline = BenchClock::now() + kPatience;
  std::vector<Transport::Completion> done;
  while (done.empty()) {
    if (BenchClock::now() > deadline) return Silent();
    RETURN_IF_ERROR(transport->Poll(deadline, &done));
  }
  if (done[0].ok) return std::string(transport->answer(0));
  return absl::FailedPreconditionError(PlainError(transport->error(0)));
}

absl::StatusOr<std::string> CallGrpc(const Endpoint& endpoint, absl::string_view method,
                                     const std::string& message) {
  const std::string path = absl::StrCat("/inference.GRPCInferenceService/", method);
  const GrpcMethod unary{path};
  ASSIGN_OR_RETURN(const std::unique_ptr<GrpcConnection> connection,
                   GrpcConnection::Connect(endpoint, unary));
  const std::string request = WithGrpcPrefix(message);
  GrpcCall call;
  call.keep = true;
  RETURN_IF_ERROR(connection->Start(&call, request));
  const BenchTime deadline = BenchClock::now() + kPatience;
  std::vector<GrpcCall*> done;
  while (done.empty()) {
    RETURN_IF_ERROR(connection->Flush());
    pollfd socket{connection->fd(),
                  static_cast<short>(connection->blocked() ? POLLIN | POLLOUT : POLLIN), 0};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - BenchClock::now());
    if (left.count() <= 0) return Silent();
    if (poll(&socket, 1, static_cast<int>(left.count())) > 0 && (socket.revents & ~POLLOUT) != 0) {
      const absl::Status read = connection->Read(&done);
      if (!read.ok() && done.empty()) return read;
    }
  }
  if (!call.Succeeded(unary)) return absl::FailedPreconditionError(PlainError(call.Failure()));
  return call.answer.substr(kGrpcPrefixBytes);
}

}  // namespace nereid::bench
