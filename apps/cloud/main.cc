// SPDX-License-Identifier: Apache-2.0
// nereid-cloud: reads cloud storage for the server that started it, so that the SDKs of the stores,
// their threads and the credentials stay out of the server. It answers each pair of sockets that
// comes over the control socket on a thread of its own, and ends with the server.
#include <arrow/filesystem/s3fs.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "cloud/s3_store.h"
#include "plain/cloud_messages.h"

namespace nereid_cloud {
namespace {

constexpr int kNotAlone = 2;

void Converse(S3Store* store, int socket) {
  nereid::CloudReply reply;
  std::string bytes;
  if (!nereid::ReceiveCloudFrame(socket, &bytes)) {
    close(socket);
    return;
  }
  try {
    const auto request = nereid::CloudRequest::Unpack(bytes);
    if (request.has_value()) {
      reply = store->Answer(*request, [socket] { (void)nereid::SendCloudFrame(socket, ""); });
    } else {
      reply.error = "the request is none that this program understands";
    }
  } catch (const std::exception& e) {
    reply = {std::string("an exception was thrown: ") + e.what(), false, {}};
  }
  (void)nereid::SendCloudFrame(socket, reply.Pack());
  close(socket);
}

int Run() {
  // The keys that this process was given are nobody else's, and not for a core file.
  prctl(PR_SET_DUMPABLE, 0);
  std::signal(SIGPIPE, SIG_IGN);
  arrow::fs::S3GlobalOptions options = arrow::fs::S3GlobalOptions::Defaults();
  options.log_level = arrow::fs::S3LogLevel::Off;
  if (const arrow::Status started = arrow::fs::InitializeS3(options); !started.ok()) {
    std::cerr << "nereid-cloud: " << started.message() << std::endl;
    return EXIT_FAILURE;
  }
  auto* const store = new S3Store([](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  });
  for (int socket = nereid::ReceiveDescriptor(nereid::kCloudControl); socket >= 0;
       socket = nereid::ReceiveDescriptor(nereid::kCloudControl)) {
    try {
      std::thread(Converse, store, socket).detach();
    } catch (const std::exception&) {
      close(socket);  // the server asks again, or says that nobody answers
    }
  }
  // Threads may still wait for a store, and nobody waits for them: so nothing is destroyed.
  _exit(EXIT_SUCCESS);
}

}  // namespace
}  // namespace nereid_cloud

int main() {
  int kind = 0;
  socklen_t size = sizeof(kind);
  if (getsockopt(nereid::kCloudControl, SOL_SOCKET, SO_TYPE, &kind, &size) != 0) {
    std::cerr << "nereid-cloud reads cloud storage for nereid, which starts it; it does nothing by "
                 "itself\n";
    return nereid_cloud::kNotAlone;
  }
  return nereid_cloud::Run();
}
