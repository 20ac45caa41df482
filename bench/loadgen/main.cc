// SPDX-License-Identifier: Apache-2.0
// nereid_loadgen: loads one model of a server with one request, over and over, and prints its
// measurements, one JSON object per line.
#include <absl/strings/str_cat.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "apps/loadgen/cpu_time.h"
#include "apps/loadgen/driver.h"
#include "apps/loadgen/grpc_message.h"
#include "apps/loadgen/grpc_transport.h"
#include "apps/loadgen/http_transport.h"
#include "base/json_writer.h"
#include "base/status_macros.h"
#include "bench/loadgen/answer_check.h"
#include "bench/loadgen/options.h"

namespace nereid::bench {
namespace {

absl::StatusOr<std::string> ReadFile(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", name));
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// `tls`: null for plain connections.
absl::StatusOr<std::unique_ptr<Transport>> Connect(const Options& options, const ClientTls* tls) {
  ASSIGN_OR_RETURN(std::string body, ReadFile(options.body_file));
  Endpoint endpoint;
  endpoint.address = options.address;
  endpoint.tls = tls;
  if (options.grpc) {
    RequestScript script =
        options.sequence_length == 0
            ? RequestScript(WithGrpcPrefix(body))
            : GrpcTransport::Sequences(body, options.concurrency, options.sequence_length);
    return GrpcTransport::Connect(std::move(endpoint), std::move(script), options.concurrency,
                                  options.channels, GrpcTransport::Method(options.responses));
  }
  const HttpRequestText request{options.path, std::move(body), options.header_length};
  if (options.sequence_length == 0) {
    return HttpTransport::Connect(endpoint, RequestScript(HttpTransport::Render(endpoint, request)),
                                  options.concurrency);
  }
  ASSIGN_OR_RETURN(
      RequestScript script,
      HttpTransport::Sequences(endpoint, request, options.concurrency, options.sequence_length));
  return HttpTransport::Connect(endpoint, std::move(script), options.concurrency);
}

absl::StatusOr<Measured> Load(const Options& options, Transport* transport, double seconds) {
  if (options.rate > 0) {
    return RunOpen(transport, ArrivalTimes(options.arrivals, options.rate, seconds, options.seed),
                   std::chrono::microseconds(options.within_us));
  }
  return RunClosed(transport, std::chrono::duration_cast<BenchClock::duration>(
                                  std::chrono::duration<double>(seconds)));
}

absl::StatusOr<double> ServerCpuSeconds(const Options& options) {
  return options.server_pid > 0 ? CpuSecondsOf(options.server_pid) : 0.0;
}

struct CpuUse {
  double client_seconds = 0;
  double server_seconds = 0;
};

std::string Report(const Options& options, const Measured& measured, const CpuUse& cpu) {
  const auto requests = static_cast<double>(measured.latency.count() + measured.errors);
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.Add("protocol", options.grpc ? "grpc" : "http");
  json.Add("concurrency", options.concurrency);
  json.Add("rate", options.rate);
  json.Key("began");  // in seconds of the monotonic clock
  json.Double(std::chrono::duration<double>(measured.began.time_since_epoch()).count());
  json.Add("seconds", measured.seconds);
  json.Add("seconds_to_last", measured.seconds_to_last);
  json.Add("requests", measured.latency.count());
  json.Add("errors", measured.errors);
  if (options.within_us > 0) {
    json.Add("in_time", measured.in_time);
  }
  json.Add("throughput", static_cast<double>(measured.latency.count()) / measured.seconds);
  json.BeginObject("latency_us");
  json.Add("mean", measured.latency.mean() * 1e-3);
  for (const auto& [name, fraction] :
       {std::pair("p50", 0.5), {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}}) {
    json.Add(name, static_cast<double>(measured.latency.Percentile(fraction)) * 1e-3);
  }
  json.Add("max", static_cast<double>(measured.latency.max()) * 1e-3);
  json.EndObject();
  json.Key("client_cpu");  // of one core
  json.Double(cpu.client_seconds / measured.seconds);
  json.Key("client_cpu_us");  // per request
  json.Double(requests > 0 ? cpu.client_seconds * 1e6 / requests : 0);
  if (options.server_pid > 0) {
    json.Add("server_cpu", cpu.server_seconds / measured.seconds);
    json.Key("server_cpu_us");  // per request
    json.Double(requests > 0 ? cpu.server_seconds * 1e6 / requests : 0);
  }
  json.EndObject();
  return text;
}

absl::StatusOr<std::string> MeasureOnce(const Options& options, Transport* transport) {
  ASSIGN_OR_RETURN(const double server_before, ServerCpuSeconds(options));
  const double own_before = OwnCpuSeconds();
  ASSIGN_OR_RETURN(const Measured measured, Load(options, transport, options.seconds));
  const double own_after = OwnCpuSeconds();
  ASSIGN_OR_RETURN(const double server_after, ServerCpuSeconds(options));
  return Report(options, measured, {own_after - own_before, server_after - server_before});
}

absl::Status Run(const Options& options) {
  ASSIGN_OR_RETURN(const std::string expected, ReadFile(options.expect_file));
  ASSIGN_OR_RETURN(const Reference reference, Reference::Parse(expected));
  std::optional<ClientTls> tls;
  if (options.tls) {
    ASSIGN_OR_RETURN(tls, ClientTls::Make(options.grpc ? "h2" : "http/1.1"));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Transport> transport,
                   Connect(options, tls.has_value() ? &*tls : nullptr));
  RETURN_IF_ERROR(CheckAnswers(transport.get(), reference, options.expect_form, options.checks,
                               AnswerFile(options.answer_file, expected.size())));
  RETURN_IF_ERROR(Load(options, transport.get(), options.warmup_seconds).status());
  for (int i = 0; i < options.repeat; ++i) {
    ASSIGN_OR_RETURN(const std::string report, MeasureOnce(options, transport.get()));
    std::printf("%s\n", report.c_str());
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

int Main(int argc, const char* const* argv) {
  const absl::StatusOr<Options> options = ParseOptions(argc, argv);
  if (!options.ok()) {
    std::fprintf(stderr, "%s\n%s", std::string(options.status().message()).c_str(), kUsage);
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  const absl::Status status = Run(*options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "nereid_loadgen: %s\n", status.ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace nereid::bench

int main(int argc, char** argv) { return nereid::bench::Main(argc, argv); }
