// SPDX-License-Identifier: Apache-2.0
#include "bench/load_plan.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <map>
#include <random>
#include <utility>

#include "apps/loadgen/grpc_message.h"
#include "apps/loadgen/grpc_transport.h"
#include "apps/loadgen/sockets.h"
#include "base/status_macros.h"
#include "bench/model_inputs.h"
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
      ": use fewer sequences or entries of --input-data, or smaller inputs"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoadPlan>> LoadPlan::Make(const BenchOptions& options) {
  std::unique_ptr<LoadPlan> plan(new LoadPlan(options));
  if (!options.trace_file.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(options.trace_file));
    ASSIGN_OR_RETURN(plan->trace_, ParseTrace(text));
  }
  RETURN_IF_ERROR(plan->Prepare());
  RETURN_IF_ERROR(plan->MakeRequests());
  return plan;
}

absl::StatusOr<std::unique_ptr<LoadPlan>> LoadPlan::MakeFor(
    const BenchOptions& options, const std::vector<PlannedRequest>& requests) {
  std::unique_ptr<LoadPlan> plan(new LoadPlan(options));
  RETURN_IF_ERROR(plan->Prepare());
  RETURN_IF_ERROR(plan->MakePlanned(requests));
  return plan;
}

absl::Status LoadPlan::Prepare() {
  RETURN_IF_ERROR(FindServer());
  ASSIGN_OR_RETURN(model_, client_.Describe());
  if (!model_.decoupled || options_.streaming) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the model ", options_.model,
                   " is decoupled: a request may have any number of responses, which needs "
                   "--streaming"));
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
    ASSIGN_OR_RETURN(const size_t more, AddRequest(requests[i], places, {}));
    bytes += more;
    if (bytes > kMostScriptBytes) return TooLarge(bytes);
  }
  if (options_.sequences > 0) bytes *= kTextsOfSequence * static_cast<size_t>(options_.sequences);
  return bytes > kMostScriptBytes ? TooLarge(bytes) : absl::OkStatus();
}

absl::StatusOr<size_t> LoadPlan::AddRequest(const RequestInputs& inputs,
                                            const RequestPlaces& places,
                                            RequestParameters parameters) {
  if (options_.grpc()) {
    parameters.until_final = options_.streaming && options_.responses == 0;
    grpc_.push_back(
        MakeGrpcMessage(options_.model, options_.version, model_, inputs, places, parameters));
    return grpc_.back().size();
  }
  if (options_.streaming) {
    ASSIGN_OR_RETURN(std::string body, MakeGenerateBody(model_, inputs));
    http_.push_back({client_.ModelPath() + "/generate_stream", std::move(body)});
    return http_.back().body.size();
  }
  ASSIGN_OR_RETURN(HttpBody body,
                   MakeHttpBody(model_, inputs, places, options_.json_tensors, parameters));
  http_.push_back({client_.ModelPath() + "/infer", std::move(body.bytes), body.header_length});
  return http_.back().body.size();
}

absl::Status LoadPlan::MakePlanned(const std::vector<PlannedRequest>& requests) {
  // Requests that are alike are made once. Of a sequence, hardly any two are.
  std::map<std::string, uint32_t> made;
  std::map<int64_t, RequestInputs> inputs;
  size_t bytes = 0;
  for (const PlannedRequest& request : requests) {
    const RequestParameters& p = request.parameters;
    if (request.inputs != nullptr) {
      order_.push_back(static_cast<uint32_t>(http_.size() + grpc_.size()));
      trace_.push_back(request.due);
      ASSIGN_OR_RETURN(const RequestInputs whole, WithMissingBytes(*request.inputs));
      ASSIGN_OR_RETURN(const size_t more, AddRequest(whole, {}, p));
      bytes += more;
      if (bytes > kMostScriptBytes) return TooLarge(bytes);
      continue;
    }
    const std::string key = absl::StrCat(
        absl::StrJoin({static_cast<uint64_t>(request.batch_size), p.priority, p.timeout_us,
                       p.sequence, uint64_t{p.sequence_start}, uint64_t{p.sequence_end}},
                      " "),
        " ", p.sequence_text);
    const auto [place, added] =
        made.try_emplace(key, static_cast<uint32_t>(http_.size() + grpc_.size()));
    order_.push_back(place->second);
    trace_.push_back(request.due);
    if (!added) continue;
    RequestInputs& of_size = inputs[request.batch_size];
    if (of_size.empty()) {
      InputOptions options = options_.inputs;
      options.batch_size = request.batch_size;
      ASSIGN_OR_RETURN(std::vector<RequestInputs> one, MakeInputs(model_, options));
      of_size = std::move(one[0]);
    }
    ASSIGN_OR_RETURN(const size_t more, AddRequest(of_size, {}, p));
    bytes += more;
    if (bytes > kMostScriptBytes) return TooLarge(bytes);
  }
  return absl::OkStatus();
}

absl::StatusOr<RequestInputs> LoadPlan::WithMissingBytes(RequestInputs inputs) const {
  std::mt19937_64 random;
  size_t bytes = 0;
  for (RequestInput& input : inputs) {
    if (!input.bytes.empty()) continue;
    if (bytes > kMostScriptBytes) return TooLarge(bytes);
    TensorDescription tensor;
    tensor.name = input.name;
    tensor.type = input.type;
    ASSIGN_OR_RETURN(const int64_t count,
                     ElementsOf(tensor, input.shape, options_.inputs.string_length));
    input.bytes = FilledTensor(input.type, count, options_.inputs, &random);
    bytes += input.bytes.size();
  }
  return inputs;
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
  return order_.empty() ? RequestScript(texts) : RequestScript(texts, order_);
}

absl::StatusOr<std::unique_ptr<Transport>> LoadPlan::Connect(int slots) const {
  ASSIGN_OR_RETURN(RequestScript script, MakeScript(slots));
  if (!options_.grpc()) {
    return HttpTransport::Connect(
        endpoint_, std::move(script), slots,
        options_.streaming ? HttpAnswers::kEventStreams : HttpAnswers::kWhole);
  }
  GrpcMethod method = GrpcTransport::Method(options_.responses);
  if (options_.streaming && options_.responses == 0) method = GrpcTransport::StreamUntilFinal();
  return GrpcTransport::Connect(endpoint_, std::move(script), slots,
                                std::min(options_.channels, slots), method);
}

}  // namespace nereid::bench
