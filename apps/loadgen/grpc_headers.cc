#include "apps/loadgen/grpc_headers.h"

#include <array>
#include <utility>

namespace nereid::bench {
namespace {

// RFC 7541: the indices of two headers in the static table, and the first index of the dynamic
// table, which belongs to its newest entry.
constexpr unsigned char kMethodPost = 3;
constexpr unsigned char kSchemeHttp = 6;
constexpr unsigned char kNewest = 62;

void AppendIndexed(unsigned char number, std::string* block) {
  block->push_back(static_cast<char>(0x80 | number));
}

// Without Huffman coding. REQUIRES: shorter than 127 bytes, so that the length is one byte.
void AppendText(absl::string_view text, std::string* block) {
  block->push_back(static_cast<char>(text.size()));
  block->append(text.data(), text.size());
}

}  // namespace

GrpcHeaders GrpcHeaders::Make(absl::string_view authority, absl::string_view path) {
  const std::array<std::pair<absl::string_view, absl::string_view>, 6> fields = {{
      {":path", path},
      {":authority", authority},
      {"content-type", "application/grpc"},
      {"te", "trailers"},
      {"grpc-accept-encoding", "identity, deflate, gzip"},
      {"user-agent", "nereid-loadgen"},
  }};
  GrpcHeaders headers;
  for (std::string* block : {&headers.first, &headers.later}) {
    AppendIndexed(kMethodPost, block);
    AppendIndexed(kSchemeHttp, block);
  }
  auto number = static_cast<unsigned char>(kNewest + fields.size());
  for (const auto& [name, value] : fields) {
    headers.first.push_back(0x40);  // adds an entry to the table
    AppendText(name, &headers.first);
    AppendText(value, &headers.first);
    AppendIndexed(--number, &headers.later);
  }
  return headers;
}

}  // namespace nereid::bench
