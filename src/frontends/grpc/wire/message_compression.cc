// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/wire/message_compression.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

namespace nereid {
namespace {

constexpr size_t kMostBytesOfCoding = 64;

// More than the usual effort makes answers hardly shorter, and takes up to seven times as long.
CompressionEffort EffortOf(GrpcCompression level) {
  return level == GrpcCompression::kLow ? CompressionEffort::kLow : CompressionEffort::kUsual;
}

}  // namespace

ContentCoding ContentCodingOf(MessageCoding coding) {
  switch (coding) {
    case MessageCoding::kIdentity:
      return ContentCoding::kIdentity;
    case MessageCoding::kGzip:
      return ContentCoding::kGzip;
    case MessageCoding::kDeflate:
      return ContentCoding::kDeflate;
  }
  return ContentCoding::kIdentity;
}

absl::string_view MessageCodingName(MessageCoding coding) {
  return ContentCodingName(ContentCodingOf(coding));
}

absl::StatusOr<MessageCoding> ParseMessageCoding(absl::string_view grpc_encoding) {
  if (grpc_encoding.empty()) return MessageCoding::kIdentity;
  for (const MessageCoding coding :
       {MessageCoding::kIdentity, MessageCoding::kGzip, MessageCoding::kDeflate}) {
    if (grpc_encoding == MessageCodingName(coding)) return coding;
  }
  return absl::UnimplementedError(absl::StrCat(
      "'grpc-encoding' is '", absl::CHexEscape(grpc_encoding.substr(0, kMostBytesOfCoding)),
      "', which is not supported; use identity, deflate or gzip"));
}

bool Accepts(absl::string_view grpc_accept_encoding, MessageCoding coding) {
  if (coding == MessageCoding::kIdentity) return true;
  const absl::string_view name = MessageCodingName(coding);
  for (const absl::string_view entry : absl::StrSplit(grpc_accept_encoding, ',')) {
    if (absl::StripAsciiWhitespace(entry) == name) return true;
  }
  return false;
}

MessageCoding ChooseMessageCoding(GrpcCompression level, absl::string_view grpc_accept_encoding) {
  if (level == GrpcCompression::kNone) return MessageCoding::kIdentity;
  const bool gzip = Accepts(grpc_accept_encoding, MessageCoding::kGzip);
  const bool deflate = Accepts(grpc_accept_encoding, MessageCoding::kDeflate);
  if (gzip && (level == GrpcCompression::kLow || !deflate)) return MessageCoding::kGzip;
  return deflate ? MessageCoding::kDeflate : MessageCoding::kIdentity;
}

absl::StatusOr<std::string> CompressMessage(MessageCoding coding, GrpcCompression level,
                                            absl::Span<const absl::string_view> pieces,
                                            absl::FunctionRef<bool()> wanted) {
  return Compress(ContentCodingOf(coding), pieces, wanted, EffortOf(level));
}

absl::StatusOr<std::string> CompressMessage(MessageCoding coding, GrpcCompression level,
                                            absl::Span<const absl::string_view> pieces) {
  return CompressMessage(coding, level, pieces, [] { return true; });
}

}  // namespace nereid
