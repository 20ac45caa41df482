// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "flags/flag_table.h"
#include "options/flag_kinds.h"

namespace nereid {
namespace {

absl::Status SetExitTimeout(absl::string_view value, uint32_t* target) {
  int64_t seconds = 0;
  const absl::Status status = ParseInteger(value, -kMaxInt, kMaxInt, &seconds);
  if (status.ok()) *target = static_cast<uint32_t>(std::max<int64_t>(0, seconds));
  return status;
}

}  // namespace

FlagGroup ServerFlags(Settings* s) {
  ServerOptions* const o = &s->server;
  return {
      "Server",
      {SwitchFlag(
           "help", [s] { s->help = true; },
           "Print the commands and the options that most people need, and exit."),
       SwitchFlag(
           "help-all", [s] { s->help_all = true; }, "Print all options and exit."),
       SwitchFlag(
           "help-markdown", [s] { s->help_markdown = true; },
           "Print the options of the server and of all commands as a Markdown page and exit."),
       SwitchFlag(
           "version", [s] { s->version = true; }, "Print the version of this server and exit."),
       StringFlag("id", &o->server_id, "Name of the server in its metadata."),
       Usual(
           {"exit-timeout-secs", "<integer>", absl::StrCat(o->exit_timeout_secs),
            "Seconds that SIGTERM or SIGINT leaves to requests in flight before the server exits "
            "all "
            "the same. A negative number counts as 0.",
            [o](absl::string_view value) { return SetExitTimeout(value, &o->exit_timeout_secs); }}),
       SecondsFlag("lame-duck-secs", &s->lame_duck, {0, 86'400},
                   "Seconds after SIGTERM or SIGINT in which the server says that it is not ready "
                   "but goes on serving, so that no request is lost while balancers and Kubernetes "
                   "take it out of their lists. --exit-timeout-secs begins after them."),
       WithDefaultText(
           absl::StrCat(o->max_in_flight_bytes, ", or less where memory is limited"),
           IntegerFlag("max-in-flight-bytes", &s->max_in_flight_bytes, {0, kMaxInt64},
                       "Bytes of requests and responses held at a time, over HTTP and gRPC "
                       "together. What would exceed it is refused at once (503, UNAVAILABLE), and "
                       "of the last quarter only small requests get any, so one request gets at "
                       "most three quarters. 0: no limit. Where a control group or "
                       "NEREID_MEMORY_LIMIT limits the memory, the default is half of what that "
                       "leaves beside 192 MiB.")),
       IntegerFlag("max-in-flight-requests", &o->max_in_flight_requests, {0, kMaxInt64},
                   "Inference requests that clients have open at a time, over HTTP and gRPC "
                   "together; more are refused (503, UNAVAILABLE), first those of streams that "
                   "have most. 0: no limit."),
       IntegerFlag("max-model-requests", &o->max_model_requests, {0, kMaxInt64},
                   "The same of one version of a model; its live sequences count, too. 0: no "
                   "limit."),
       IntegerFlag("max-connection-requests", &s->grpc.max_connection_requests, {0, kMaxInt},
                   "Calls that a gRPC connection may have open, and requests of a gRPC stream: "
                   "further ones wait unread. An HTTP connection has one at a time. 0: no limit."),
       BooleanFlag("allow-client-shm", &s->allow_client_shared_memory,
                   "Clients may register regions of POSIX shared memory, whose tensors then need "
                   "not be sent. The server reads and writes every segment that its user may, so "
                   "this is for clients that are trusted with all of them."),
       BooleanFlag(
           "huge-pages", &s->huge_pages,
           "Some seconds after models were loaded, ask the kernel to move what fills whole "
           "huge pages of 2 MiB into such pages: some large models compute up to 3 % faster, and "
           "the process does not grow. Has no effect before Linux 6.1, or where "
           "/sys/kernel/mm/transparent_hugepage/enabled says 'never'. The processes of "
           "TensorFlow models ask for huge pages from the start. If false, neither the server nor "
           "the processes of its models get any."),
       IntegerFlag("max-admin-body-bytes", &s->max_admin_body_bytes, {4096, kMaxInt},
                   "Bytes of the body or message of a request for administration, over HTTP or "
                   "gRPC; more is refused (413, RESOURCE_EXHAUSTED). Requests that load models, "
                   "which carry files, are not limited by it."),
       IntegerFlag("max-waiting-stream-bytes", &s->max_waiting_stream_bytes, {1, kMaxInt64},
                   "Bytes of one stream (gRPC or server-sent events) that may wait for a client "
                   "that reads slowly. Beyond, the model is asked to wait before it sends more.")}};
}

}  // namespace nereid
