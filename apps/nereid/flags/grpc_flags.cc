// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include "flags/access_flags.h"
#include "flags/flag_table.h"
#include "flags/tls_flags.h"
#include "options/flag_kinds.h"

namespace nereid {
namespace {

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

std::vector<Flag> LimitFlags(GrpcServerOptions* g) {
  GrpcHttp2Options* const h = &g->http2;
  return {
      IntegerFlag("grpc-max-connections", &g->max_connections, {0, kMaxInt},
                  "Connections at a time; more are closed. 0: no limit."),
      IntegerFlag("http2-max-concurrent-streams", &h->max_concurrent_streams, {1, kMaxInt},
                  "Requests that an HTTP/2 connection of either port may have open, which is "
                  "announced to clients; --max-connection-requests may be less."),
      IntegerFlag("http2-max-control-frames-per-sec", &h->control_frames_per_second, {0, kMaxInt},
                  "Frames that cost a client nothing (PING, SETTINGS, PRIORITY, RST_STREAM, "
                  "CONTINUATION, empty DATA and such) per second and HTTP/2 connection of either "
                  "port, ten seconds' "
                  "worth of them at once; each answered call allows one more. Beyond, the "
                  "connection is closed. 0: any number."),
      SecondsFlag("http2-handshake-timeout-secs", &h->handshake_timeout, {1, kMaxInt},
                  "Seconds that a new connection of the gRPC port has for TLS and the beginning of "
                  "HTTP/2. On the HTTP port: --http-header-timeout-secs."),
      SecondsFlag("http2-stall-timeout-secs", &h->stall_timeout, {1, kMaxInt},
                  "Seconds that a message may stall while it arrives (UNAVAILABLE) and an answer "
                  "while its client opens no window or takes no bytes (the call or the connection "
                  "is reset)."),
      IntegerFlag("http2-min-rate-bytes-per-sec", &h->min_bytes_per_second, {0, kMaxInt64},
                  "Least rate at which a message has to arrive and the answer of a unary call to "
                  "be read, after a first --http2-stall-timeout-secs. 0: none.")};
}

}  // namespace

FlagGroup GrpcFlags(Settings* s) {
  GrpcServerOptions* const g = &s->grpc;
  FlagGroup group{
      "gRPC",
      {BooleanFlag("allow-grpc", &s->allow_grpc, "Serve gRPC."),
       StringFlag("grpc-address", &g->address, "Address to listen on."),
       Usual(PortFlag("grpc-port", &g->port, &s->port_errors)),
       BooleanFlag("reuse-grpc-port", &g->reuse_port,
                   "Let other processes listen on the same port."),
       WithDefaultText(
           absl::StrCat(kMostGrpcThreads, ", or 1 on one processor"),
           IntegerFlag(
               "grpc-infer-thread-count", &g->infer_threads,
               {2, 128,
                "invalid argument for --grpc_infer_thread_count. Must be in the range 2 to 128."},
               "Event loops that serve the gRPC port, each with a thread.")),
       IntegerFlag("grpc-infer-allocation-pool-size", &g->call_pool_size, {1, 1 << 20},
                   "Finished calls whose memory each connection keeps for the next ones."),
       IntegerFlag("grpc-max-response-pool-size", &g->max_response_pool_size,
                   {1, kMaxInt, "Error: --grpc-max-response-pool-size must be greater than 0."},
                   "Responses of one request that may wait for a client that reads its stream "
                   "slowly. Beyond, the model is asked to wait before it sends more."),
       CompressionLevel(&g->response_compression),
       RestrictedFlag("grpc-restricted-protocol", "protocol",
                      "the metadata triton-grpc-protocol-<key>", kGrpcApiGroups,
                      &s->grpc_restricted),
       ForwardingFlag("grpc-header-forward-pattern", "metadata of gRPC calls",
                      &s->grpc_forwarding)}};
  for (Flag& flag : TlsFlags("grpc", "gRPC", &g->tls)) group.flags.push_back(std::move(flag));
  for (Flag& flag : KeepaliveFlags(&g->keepalive)) group.flags.push_back(std::move(flag));
  for (Flag& flag : LimitFlags(g)) group.flags.push_back(std::move(flag));
  return group;
}

}  // namespace nereid
