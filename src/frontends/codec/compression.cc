// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/compression.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/status_macros.h"

namespace nereid {
namespace {

constexpr uint64_t kFirstPlainBytes = 4096;
constexpr uint64_t kGzipFrame = 18;  // added to the bound for the zlib format
// Some ten milliseconds of work between two checks whether the compression is still wanted.
constexpr size_t kPlainBytesBetweenQuestions = 256 << 10;

// zlib's windowBits: the largest window, and 16 more for the gzip format.
int WindowBits(ContentCoding coding) {
  return coding == ContentCoding::kGzip ? MAX_WBITS + 16 : MAX_WBITS;
}

int ZlibLevel(CompressionEffort effort) {
  return effort == CompressionEffort::kLow ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION;
}

// `size`, as far as zlib's unsigned int can hold it.
uInt Portion(size_t size) {
  return static_cast<uInt>(std::min<size_t>(size, std::numeric_limits<uInt>::max()));
}

Bytef* ZlibBytes(absl::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

std::optional<ContentCoding> KnownCoding(absl::string_view name) {
  for (const ContentCoding coding :
       {ContentCoding::kIdentity, ContentCoding::kGzip, ContentCoding::kDeflate}) {
    if (absl::EqualsIgnoreCase(name, ContentCodingName(coding))) return coding;
  }
  return std::nullopt;
}

// The q of "coding;q=0.5"; 1 if it is missing, none if it is invalid.
std::optional<double> WeightOf(absl::string_view parameters) {
  for (absl::string_view parameter : absl::StrSplit(parameters, ';')) {
    parameter = absl::StripAsciiWhitespace(parameter);
    if (!absl::StartsWithIgnoreCase(parameter, "q=")) continue;
    double weight = 0;
    if (!absl::SimpleAtod(parameter.substr(2), &weight) || !(weight >= 0 && weight <= 1)) {
      return std::nullopt;
    }
    return weight;
  }
  return 1.0;
}

absl::Status SizeLimitError(uint64_t max_size) {
  return absl::InvalidArgumentError(
      absl::StrCat("Decompressed data size exceeds the maximum allowed value of ", max_size,
                   " bytes. Use --http-max-input-size to increase the limit."));
}

absl::Status DamagedError(const z_stream& stream) {
  return absl::InvalidArgumentError(
      absl::StrCat("failed to decompress the request body: ",
                   stream.msg == nullptr ? "the data ends early" : stream.msg));
}

}  // namespace

const char* ContentCodingName(ContentCoding coding) {
  switch (coding) {
    case ContentCoding::kIdentity:
      return "identity";
    case ContentCoding::kGzip:
      return "gzip";
    case ContentCoding::kDeflate:
      return "deflate";
  }
  return "identity";
}

absl::StatusOr<ContentCoding> ParseContentEncoding(absl::string_view value) {
  value = absl::StripAsciiWhitespace(value);
  if (value.empty()) return ContentCoding::kIdentity;
  if (const auto coding = KnownCoding(value)) return *coding;
  return absl::UnimplementedError("Unsupported compression type");
}

ContentCoding ChooseContentCoding(absl::string_view accept_encoding) {
  ContentCoding best = ContentCoding::kIdentity;
  double best_weight = 0;
  for (const absl::string_view entry : absl::StrSplit(accept_encoding, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(entry, absl::MaxSplits(';', 1));
    const auto coding = KnownCoding(absl::StripAsciiWhitespace(parts.first));
    const auto weight = WeightOf(parts.second);
    if (coding.has_value() && weight.has_value() && *weight > best_weight) {
      best = *coding;
      best_weight = *weight;
    }
  }
  return best;
}

struct Decompressor::Zlib {
  z_stream stream{};
  bool begun = false;
};

Decompressor::Decompressor(ContentCoding coding, absl::string_view compressed, uint64_t max_size)
    : coding_(coding), max_size_(max_size), rest_(compressed), zlib_(std::make_unique<Zlib>()) {}

Decompressor::~Decompressor() {
  if (zlib_->begun) inflateEnd(&zlib_->stream);
}

absl::StatusOr<bool> Decompressor::Run(uint64_t pause_at, RoomForPlain make_room) {
  z_stream& stream = zlib_->stream;
  if (!zlib_->begun) {
    if (inflateInit2(&stream, WindowBits(coding_)) != Z_OK) return DamagedError(stream);
    zlib_->begun = true;
  }
  while (filled_ < pause_at) {
    if (filled_ == plain_.size()) {
      // Grows with the actual output, because the output of a small text may have any size. One
      // byte beyond the limit is enough to detect that the limit is exceeded.
      const uint64_t wish = std::max<uint64_t>({kFirstPlainBytes, rest_.size(), 2 * filled_});
      ASSIGN_OR_RETURN(plain_, make_room(filled_, std::min<uint64_t>(wish, max_size_ + 1)));
    }
    stream.next_in = ZlibBytes(rest_);
    stream.avail_in = Portion(rest_.size());
    stream.next_out = reinterpret_cast<Bytef*>(plain_.data() + filled_);
    stream.avail_out = Portion(std::min<uint64_t>(plain_.size(), pause_at) - filled_);
    const uInt in_before = stream.avail_in;
    const uInt out_before = stream.avail_out;
    const int result = inflate(&stream, Z_NO_FLUSH);
    rest_.remove_prefix(in_before - stream.avail_in);
    filled_ += out_before - stream.avail_out;
    if (filled_ > max_size_) return SizeLimitError(max_size_);
    if (result == Z_STREAM_END) {
      if (rest_.empty()) return true;
      // A gzip file may consist of several concatenated members.
      if (coding_ != ContentCoding::kGzip || inflateReset(&stream) != Z_OK) {
        return absl::InvalidArgumentError(
            "failed to decompress the request body: data after the end");
      }
    } else if (result != Z_OK || (rest_.empty() && stream.avail_out > 0)) {
      return DamagedError(stream);
    }
  }
  return false;
}

absl::StatusOr<uint64_t> Decompress(ContentCoding coding, absl::string_view compressed,
                                    uint64_t max_size, RoomForPlain make_room) {
  Decompressor decompressor(coding, compressed, max_size);
  bool done = false;
  while (!done) {
    ASSIGN_OR_RETURN(done, decompressor.Run(std::numeric_limits<uint64_t>::max(), make_room));
  }
  return decompressor.filled();
}

uint64_t CompressedBound(uint64_t size) {
  // The same as deflateBound for the settings of Compress: default window and memory.
  return compressBound(size) + kGzipFrame;
}

absl::StatusOr<std::string> Compress(ContentCoding coding,
                                     absl::Span<const absl::string_view> pieces) {
  return Compress(coding, pieces, [] { return true; });
}

absl::StatusOr<std::string> Compress(ContentCoding coding,
                                     absl::Span<const absl::string_view> pieces,
                                     absl::FunctionRef<bool()> wanted, CompressionEffort effort) {
  std::string out;
  if (coding == ContentCoding::kIdentity) {
    for (const absl::string_view piece : pieces) out.append(piece.data(), piece.size());
    return out;
  }
  z_stream stream{};
  constexpr int kDefaultMemory = 8;
  if (deflateInit2(&stream, ZlibLevel(effort), Z_DEFLATED, WindowBits(coding), kDefaultMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return absl::InternalError("failed to start the compression of the response");
  }
  absl::Cleanup end = [&stream] { deflateEnd(&stream); };
  size_t total = 0;
  for (const absl::string_view piece : pieces) total += piece.size();
  // In one piece: growing it would copy what is compressed already.
  out.resize(deflateBound(&stream, total));  // enough for all of it

  size_t filled = 0;
  const auto run = [&](absl::string_view portion, int flush) {
    int result = Z_OK;
    do {
      stream.next_in = ZlibBytes(portion);
      stream.avail_in = Portion(portion.size());
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
      stream.avail_out = Portion(out.size() - filled);
      const uInt in_before = stream.avail_in;
      const uInt out_before = stream.avail_out;
      result = deflate(&stream, flush);
      portion.remove_prefix(in_before - stream.avail_in);
      filled += out_before - stream.avail_out;
    } while (result == Z_OK && (!portion.empty() || flush == Z_FINISH));
    return result;
  };
  for (absl::string_view piece : pieces) {
    while (!piece.empty()) {
      // A large answer takes seconds, which are wasted when its client has gone.
      if (!wanted()) return absl::CancelledError("the compressed response is not wanted any more");
      const absl::string_view portion = piece.substr(0, kPlainBytesBetweenQuestions);
      piece.remove_prefix(portion.size());
      if (run(portion, Z_NO_FLUSH) != Z_OK) {
        return absl::InternalError("failed to compress the response");
      }
    }
  }
  if (run("", Z_FINISH) != Z_STREAM_END) {
    return absl::InternalError("failed to compress the response");
  }
  out.resize(filled);
  return out;
}

}  // namespace nereid
