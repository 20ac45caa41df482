#include "bench/load_plan.h"

#include <absl/strings/str_cat.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <random>
#include <utility>

#include "apps/loadgen/grpc_message.h"
#include "apps/loadgen/grpc_transport.h"
#include "apps/loadgen/sockets.h"
#include "base/status_macros.h"
#include "bench/model_inputs.h"
#include "bench/request_body.h"
#include "bench/tensor_file.h"

namespace nereid::bench {
namespace {

constexpr size_t kMostScriptBytes = size_t{2} << 30;
constexpr size_t kTextsOfSequence = 3;

// "127.0.0.1:8000" or "[::1]:8000".
std::string NumericAddress(const addrinfo& found) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  getnameinfo(found.ai_addr, found.ai_addrlen, host.data(), host.size(), port.data(), port.size(),
              NI_NUMERICHOST | NI_NUMERICSERV);
  return found.ai_family == AF_INET6 ? absl::StrCat("[", host.data(), "]:", port.data())
                                     : absl::StrCat(host.data(), ":", port.data());
}

absl::Status TooLarge(size_t bytes) {
  return absl::InvalidArgumentError(absl::StrCat(
      "all requests together would take ", bytes, " bytes; the most is ", kMostScriptBytes,
      ": use fewer --sequences or entries of --input-data, or smaller inputs"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoadPlan>> LoadPlan::Make(const BenchOptions& options) {
  std::unique_ptr<LoadPlan> plan(new LoadPlan(options));
  if (!options.trace_file.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(options.trace_file));
    ASSIGN_OR_RETURN(plan->trace_, ParseTrace(text));
  }
  RETURN_IF_ERROR(plan->FindServer());
  ASSIGN_OR_RETURN(plan->model_, plan->client_.Describe());
  if (plan->model_.decoupled && !options.streaming) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model ", options.model,
                     " is decoupled: a request may have any number of responses, which needs "
                     "--streaming and a --url with grpc"));
  }
  RETURN_IF_ERROR(plan->MakeRequests());
  return plan;
}

absl::Status LoadPlan::FindServer() {
  const ProbeTarget& target = options_.target;
  if (target.tls) {
    ASSIGN_OR_RETURN(tls_, ClientTls::Make(options_.grpc() ? "h2" : "http/1.1"));
    endpoint_.tls = &*tls_;
  }
  endpoint_.authority = target.Authority();
  endpoint_.headers = options_.headers;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed =
      getaddrinfo(target.host.c_str(), absl::StrCat(target.port).c_str(), &hints, &found);
  if (failed != 0) {
    return absl::UnavailableError(
        absl::StrCat("the name '", target.host, "' is not known: ", gai_strerror(failed)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, &freeaddrinfo);
  absl::Status status;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    endpoint_.address = NumericAddress(*one);
    const absl::StatusOr<int> connected = ConnectTcp(endpoint_.address);
    status = connected.status();
    if (!status.ok()) continue;
    close(*connected);
    return status;
  }
  return status;
}

absl::Status LoadPlan::MakeRequests() {
  ASSIGN_OR_RETURN(const std::vector<RequestInputs> requests, MakeInputs(model_, options_.inputs));
  if (options_.shared_memory) {
    ASSIGN_OR_RETURN(regions_,
                     SharedRegions::Make(client_, model_, requests, options_.output_bytes));
  }
  size_t bytes = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    const RequestPlaces places = regions_ == nullptr ? RequestPlaces() : regions_->places(i);
    if (options_.grpc()) {
      const bool until_final = options_.streaming && options_.responses == 0;
      grpc_.push_back(MakeGrpcMessage(options_.model, options_.version, model_, requests[i], places,
                                      until_final));
      bytes += grpc_.back().size();
    } else {
      ASSIGN_OR_RETURN(HttpBody body,
                       MakeHttpBody(model_, requests[i], places, options_.json_tensors));
      http_.push_back({client_.ModelPath() + "/infer", std::move(body.bytes), body.header_length});
      bytes += http_.back().body.size();
    }
    if (bytes > kMostScriptBytes) return TooLarge(bytes);
  }
  if (options_.sequences > 0) bytes *= kTextsOfSequence * static_cast<size_t>(options_.sequences);
  return bytes > kMostScriptBytes ? TooLarge(bytes) : absl::OkStatus();
}

absl::StatusOr<RequestScript> LoadPlan::MakeScript(int slots) const {
  if (options_.sequences > 0) {
    // Not those of another run against the same server.
    const uint64_t first_id = RequestScript::kFirstId + std::random_device()() % 1'000'000'000;
    if (options_.grpc()) {
      return GrpcTransport::Sequences(grpc_[0], slots, options_.sequence_length, first_id);
    }
    return HttpTransport::Sequences(endpoint_, http_[0], slots, options_.sequence_length, first_id);
  }
  std::vector<std::string> texts;
  for (const std::string& message : grpc_) texts.push_back(WithGrpcPrefix(message));
  for (const HttpRequestText& request : http_) {
    texts.push_back(HttpTransport::Render(endpoint_, request));
  }
  return RequestScript(texts);
}

absl::StatusOr<std::unique_ptr<Transport>> LoadPlan::Connect(int slots) const {
  ASSIGN_OR_RETURN(RequestScript script, MakeScript(slots));
  if (!options_.grpc()) return HttpTransport::Connect(endpoint_, std::move(script), slots);
  GrpcMethod method = GrpcTransport::Method(options_.responses);
  if (options_.streaming && options_.responses == 0) method = GrpcTransport::StreamUntilFinal();
  return GrpcTransport::Connect(endpoint_, std::move(script), slots,
                                std::min(options_.channels, slots), method);
}

}  // namespace nereid::bench
