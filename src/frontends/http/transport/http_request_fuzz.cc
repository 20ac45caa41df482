// SPDX-License-Identifier: Apache-2.0
// Feeds arbitrary bytes as the input of a connection. The way in which they are split into pieces
// must not change the requests read from them; otherwise the reader could be made to take part of
// one request for another (request smuggling).
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "frontends/http/transport/request_reader.h"

namespace {

using nereid::HttpServerOptions;
using nereid::http::RequestReader;
using nereid::transport::InputBuffer;

constexpr size_t kMaxHeaderBytes = 2048;
constexpr uint64_t kMaxBodyBytes = 1 << 20;

void Require(bool condition) {
  if (!condition) std::abort();
}

// Everything that a handler can see of a request, as one text.
std::string Describe(nereid::HttpRequest* request) {
  std::string text(request->path());
  for (const nereid::HttpHeader& header : request->headers()) {
    for (const absl::string_view part : {header.name, header.value}) {
      // Another program could read a header with a line break or a NUL differently.
      Require(part.find_first_of(absl::string_view("\r\n\0", 3)) == absl::string_view::npos);
      absl::StrAppend(&text, "\n", part);
    }
  }
  return absl::StrCat(text, "\n\n", request->body_text());
}

// The requests that a connection reads from `bytes` if these come in pieces of `piece` bytes. The
// rest behind the last complete request is left out: whether an incomplete head is refused or
// awaited may depend on the pieces.
std::vector<std::string> Read(absl::string_view bytes, size_t piece) {
  HttpServerOptions options;
  options.max_header_bytes = kMaxHeaderBytes;
  options.max_body_bytes = kMaxBodyBytes;
  options.body_split_header = "Inference-Header-Content-Length";
  RequestReader reader(&options);
  nereid::transport::InputBuffer input;
  std::vector<std::string> requests;
  while (!bytes.empty()) {
    const absl::Span<char> direct = reader.DirectBody();
    const absl::Span<char> space = direct.empty() ? input.Prepare(kMaxHeaderBytes) : direct;
    Require(!space.empty());
    const size_t n = std::min({piece, space.size(), bytes.size()});
    std::memcpy(space.data(), bytes.data(), n);
    bytes.remove_prefix(n);
    if (direct.empty()) {
      input.Commit(n);
    } else {
      reader.DirectBodyReceived(n);
    }
    RequestReader::Progress progress;
    while ((progress = reader.Consume(&input)) == RequestReader::Progress::kComplete) {
      requests.push_back(Describe(reader.TakeRequest().get()));
    }
    if (progress == RequestReader::Progress::kFailed) {
      Require(reader.failure().status >= 400 && reader.failure().status < 600);
      Require(!reader.failure().message.empty());
      return requests;
    }
  }
  return requests;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Require(Read(bytes, bytes.size()) == Read(bytes, 1 + data[0] % 64));
  return 0;
}
