// SPDX-License-Identifier: Apache-2.0
// Stands in for nereid-cloud in tests: answers without any storage. The path in a question says
// what it is to do.
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "plain/cloud_messages.h"

namespace {

nereid::CloudReply Answer(const nereid::CloudRequest& request) {
  using Kind = nereid::CloudRequest::Kind;
  const std::string& path = request.object.path;
  if (path == "exit") std::exit(1);
  if (path == "none") return {"no such object", true, {}};
  if (path == "broken") return {"the store is down", false, {}};
  if (request.kind == Kind::kList) return {"", false, {{"m/1/model", 3, 0, ""}}};
  return {"", false, {{path, 3, 0, "tag of " + path}}};
}

}  // namespace

int main() {
  for (int socket = nereid::ReceiveDescriptor(nereid::kCloudControl); socket >= 0;
       socket = nereid::ReceiveDescriptor(nereid::kCloudControl)) {
    std::string bytes;
    if (!nereid::ReceiveCloudFrame(socket, &bytes)) return 1;
    const auto request = nereid::CloudRequest::Unpack(bytes);
    if (!request.has_value()) return 1;
    if (request->object.path == "silence") continue;  // the socket stays open
    // A frame without bytes says that it goes on.
    if (!nereid::SendCloudFrame(socket, "")) return 1;
    if (!nereid::SendCloudFrame(socket, Answer(*request).Pack())) return 1;
    close(socket);
  }
  return 0;
}
