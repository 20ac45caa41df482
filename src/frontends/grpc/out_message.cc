// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/out_message.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace nereid {

OutMessage::OutMessage(absl::string_view bytes) {
  own_.reserve(MessagePrefix::kBytes + bytes.size());
  own_.resize(MessagePrefix::kBytes);
  own_.append(bytes.data(), bytes.size());
  size_ = own_.size();
  WritePrefix(/*compressed=*/false);
}

OutMessage::OutMessage(absl::Span<const WirePiece> pieces,
                       std::unique_ptr<InferResponse>* response) {
  size_t own = MessagePrefix::kBytes;
  for (const WirePiece& piece : pieces) own += piece.of_response ? 0 : piece.bytes.size();
  own_.reserve(own);
  own_.resize(MessagePrefix::kBytes);
  size_ = own;
  for (const WirePiece& piece : pieces) {
    if (piece.of_response) {
      shared_.push_back({own_.size(), piece.bytes});
      size_ += piece.bytes.size();
    } else {
      own_.append(piece.bytes.data(), piece.bytes.size());
    }
  }
  if (!shared_.empty()) response_ = std::move(*response);
  WritePrefix(/*compressed=*/false);
}

void OutMessage::WritePrefix(bool compressed) {
  const MessagePrefix prefix(compressed, static_cast<uint32_t>(size_ - MessagePrefix::kBytes));
  own_.replace(0, MessagePrefix::kBytes, prefix.bytes, MessagePrefix::kBytes);
}

std::string OutMessage::Text() const {
  std::string text;
  text.reserve(size());
  const absl::string_view own = own_;
  size_t begin = std::min<size_t>(MessagePrefix::kBytes, own.size());
  const auto append = [&text](absl::string_view bytes) { text.append(bytes.data(), bytes.size()); };
  for (const SharedPiece& shared : shared_) {
    append(own.substr(begin, shared.own_end - begin));
    append(shared.bytes);
    begin = shared.own_end;
  }
  append(own.substr(begin));
  return text;
}

absl::Status OutMessage::Compress(MessageCoding coding, GrpcCompression level) {
  if (coding == MessageCoding::kIdentity) return absl::OkStatus();
  absl::InlinedVector<absl::string_view, 6> pieces;
  const absl::string_view own = own_;
  size_t begin = MessagePrefix::kBytes;
  for (const SharedPiece& shared : shared_) {
    pieces.push_back(own.substr(begin, shared.own_end - begin));
    pieces.push_back(shared.bytes);
    begin = shared.own_end;
  }
  pieces.push_back(own.substr(begin));
  ASSIGN_OR_RETURN(const std::string compressed, CompressMessage(coding, level, pieces));
  if (compressed.size() + MessagePrefix::kBytes >= size_) return absl::OkStatus();
  own_.resize(MessagePrefix::kBytes);
  own_.append(compressed);
  shared_.clear();
  response_.reset();
  size_ = own_.size();
  WritePrefix(/*compressed=*/true);
  return absl::OkStatus();
}

void OutMessage::MoveTo(http2::Stream* stream) {
  if (!shared_.empty()) return AppendTo(stream);
  stream->AppendOwned(std::move(own_));
}

void OutMessage::AppendTo(http2::Stream* stream) const {
  const absl::string_view own = own_;
  size_t begin = 0;
  for (const SharedPiece& shared : shared_) {
    stream->Append(own.substr(begin, shared.own_end - begin));
    stream->AppendShared(shared.bytes, response_);
    begin = shared.own_end;
  }
  stream->Append(own.substr(begin));
}

}  // namespace nereid
