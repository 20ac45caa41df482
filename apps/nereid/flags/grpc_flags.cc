#include <absl/strings/str_cat.h>

#include "flags/flag_kinds.h"
#include "flags/flag_table.h"

namespace nereid {
namespace {

// Client certificates need TLS, so this enables TLS whatever value is given.
Flag MutualTls(GrpcTlsOptions* tls) {
  Flag flag = BooleanFlag("grpc-use-ssl-mutual", &tls->mutual,
                          "TLS with client certificates; giving it turns TLS on.");
  flag.set = [tls, set = std::move(flag.set)](absl::string_view value) {
    absl::Status status = set(value);
    if (status.ok()) tls->enabled = true;
    return status;
  };
  return flag;
}

Flag CompressionLevel(GrpcCompression* target) {
  return WithError(
      "invalid argument for --grpc_infer_response_compression_level (use none, low, medium or "
      "high)",
      ChoiceFlag("grpc-infer-response-compression-level", target,
                 {{"none", GrpcCompression::kNone},
                  {"low", GrpcCompression::kLow},
                  {"medium", GrpcCompression::kMedium},
                  {"high", GrpcCompression::kHigh}},
                 LetterCase::kDoesNotMatter,
                 "Compression of inference responses: none, low, medium or high."));
}

std::vector<Flag> KeepaliveFlags(GrpcKeepaliveOptions* k) {
  return {
      IntegerFlag("grpc-keepalive-time", &k->time_ms, {1, kMaxInt},
                  "Milliseconds between keepalive pings."),
      IntegerFlag("grpc-keepalive-timeout", &k->timeout_ms, {1, kMaxInt},
                  "Milliseconds to wait for the answer to a ping."),
      BooleanFlag("grpc-keepalive-permit-without-calls", &k->permit_without_calls,
                  "Ping also when there are no calls."),
      IntegerFlag("grpc-http2-max-pings-without-data", &k->http2_max_pings_without_data,
                  {0, kMaxInt}, "Pings that may be sent without data between them; 0: any number."),
      IntegerFlag("grpc-http2-min-recv-ping-interval-without-data",
                  &k->http2_min_recv_ping_interval_without_data_ms, {0, kMaxInt},
                  "Milliseconds that clients must leave between pings."),
      IntegerFlag("grpc-http2-max-ping-strikes", &k->http2_max_ping_strikes, {0, kMaxInt},
                  "Bad pings tolerated before the connection is closed; 0: any number."),
      IntegerFlag("grpc-max-connection-age", &k->max_connection_age_ms, {0, kMaxInt},
                  "Milliseconds that a connection may last; 0: for ever."),
      IntegerFlag("grpc-max-connection-age-grace", &k->max_connection_age_grace_ms, {0, kMaxInt},
                  "Milliseconds that calls have after that; 0: for ever.")};
}

}  // namespace

FlagGroup GrpcFlags(Settings* s) {
  GrpcServerOptions* const g = &s->grpc;
  FlagGroup group{
      "gRPC",
      {BooleanFlag("allow-grpc", &s->allow_grpc, "Serve gRPC."),
       StringFlag("grpc-address", &g->address, "Address to listen on."),
       IntegerFlag("grpc-port", &g->port, {0, 65535},
                   "Port to listen on; 0 picks a free one and prints it."),
       BooleanFlag("reuse-grpc-port", &g->reuse_port,
                   "Let other processes listen on the same port."),
       WithDefaultText(
           absl::StrCat(kMostGrpcThreads, ", or 1 on one processor"),
           IntegerFlag(
               "grpc-infer-thread-count", &g->infer_threads,
               {2, 128,
                "invalid argument for --grpc_infer_thread_count. Must be in the range 2 to 128."},
               "Completion queues, each with a thread.")),
       IntegerFlag("grpc-infer-allocation-pool-size", &g->call_pool_size, {1, 1 << 20},
                   "Call objects that each completion queue keeps for reuse."),
       IntegerFlag("grpc-max-response-pool-size", &g->max_response_pool_size,
                   {1, kMaxInt, "Error: --grpc-max-response-pool-size must be greater than 0."},
                   "Responses of one request that may wait for a client that reads its stream "
                   "slowly. Beyond, the model's thread that sends them is held back."),
       BooleanFlag("grpc-use-ssl", &g->tls.enabled, "Serve gRPC over TLS."), MutualTls(&g->tls),
       StringFlag("grpc-server-cert", &g->tls.certificate, "File of the PEM server certificate."),
       StringFlag("grpc-server-key", &g->tls.key, "File of the PEM server key."),
       StringFlag("grpc-root-cert", &g->tls.root, "File of the PEM root certificate."),
       CompressionLevel(&g->response_compression)}};
  for (Flag& flag : KeepaliveFlags(&g->keepalive)) group.flags.push_back(std::move(flag));
  return group;
}

}  // namespace nereid
