// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/grpc_headers.h"

#include <array>
#include <utility>

namespace nereid::bench {
namespace {

// RFC 7541: the indices of two headers in the static table, and the first index of the dynamic
// table, which belongs to its newest entry.
constexpr unsigned char kMethodPost = 3;
constexpr unsigned char kSchemeHttp = 6;
constexpr unsigned char kSchemeHttps = 7;
constexpr unsigned char kNewest = 62;

void AppendIndexed(unsigned char number, std::string* block) {
  block->push_back(static_cast<char>(0x80 | number));
}

// Without Huffman coding.
void AppendText(absl::string_view text, std::string* block) {
  constexpr size_t kPrefix = 127;  // the most that seven bits of a length can say
  if (text.size() < kPrefix) {
    block->push_back(static_cast<char>(text.size()));
  } else {
    block->push_back(static_cast<char>(kPrefix));
    size_t rest = text.size() - kPrefix;
    for (; rest >= 0x80; rest >>= 7) block->push_back(static_cast<char>(rest | 0x80));
    block->push_back(static_cast<char>(rest));
  }
  block->append(text.data(), text.size());
}

}  // namespace

GrpcHeaders GrpcHeaders::Make(const Endpoint& endpoint, absl::string_view path) {
  const std::array<std::pair<absl::string_view, absl::string_view>, 6> fields = {{
      {":path", path},
      {":authority", endpoint.Authority()},
      {"content-type", "application/grpc"},
      {"te", "trailers"},
      {"grpc-accept-encoding", "identity, deflate, gzip"},
      {"user-agent", "nereid-bench"},
  }};
  GrpcHeaders headers;
  for (std::string* block : {&headers.first, &headers.later}) {
    AppendIndexed(kMethodPost, block);
    AppendIndexed(endpoint.tls == nullptr ? kSchemeHttp : kSchemeHttps, block);
  }
  auto number = static_cast<unsigned char>(kNewest + fields.size());
  for (const auto& [name, value] : fields) {
    headers.first.push_back(0x40);  // adds an entry to the table
    AppendText(name, &headers.first);
    AppendText(value, &headers.first);
    AppendIndexed(--number, &headers.later);
  }
  for (const auto& [name, value] : endpoint.headers) {
    for (std::string* block : {&headers.first, &headers.later}) {
      block->push_back(0x10);  // never to be indexed
      AppendText(name, block);
      AppendText(value, block);
    }
  }
  return headers;
}

}  // namespace nereid::bench
