// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/transport/response_writer.h"

#include <absl/strings/str_cat.h>
#include <absl/types/span.h>

#include <utility>

#include "frontends/http/transport/response_head.h"

namespace nereid::http {
namespace {

constexpr size_t kHeadCapacity = 512;

}  // namespace

const char* ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 426:
      return "Upgrade Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 499:
      return "Client Closed Request";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return "Unknown";
  }
}

void ResponseWriter::Start(const HttpResponse& response, const RequestReader::Traits& traits) {
  BuildHead(response, traits, BodySize(response));
  BeginPieces();
  AddPiece(head_);
  taken_ = HttpBodyStream::Taken();
  chunked_ = traits.http11;
  no_body_ = traits.head_method;
  if (no_body_) return;  // HEAD: the same header as for GET, without a body
  AddPiece(response.text);
  for (const HttpChunk& chunk : response.chunks) {
    AddPiece(absl::string_view(static_cast<const char*>(chunk.data), chunk.size));
  }
}

void ResponseWriter::AppendContinue() {
  BeginPieces();
  AddPiece("HTTP/1.1 100 Continue\r\n\r\n");
}

void ResponseWriter::BeginPieces() {
  if (!done()) return;
  pieces_.clear();
  next_piece_ = 0;
}

void ResponseWriter::AddPiece(absl::string_view bytes) {
  if (!bytes.empty()) pieces_.push_back({const_cast<char*>(bytes.data()), bytes.size()});
}

void ResponseWriter::Append(HttpBodyStream::Taken taken) {
  BeginPieces();
  taken_ = std::move(taken);
  if (no_body_) return;
  if (!chunked_) {
    for (const HttpBodyStream::Piece& piece : taken_.pieces) {
      AddPiece(piece.text);
    }
    return;
  }
  chunk_heads_.clear();
  // Reserved, because the gather list points into the elements.
  chunk_heads_.reserve(taken_.pieces.size() + 1);
  const char* line_end = "";  // the end of the previous chunk
  for (const HttpBodyStream::Piece& piece : taken_.pieces) {
    chunk_heads_.push_back(absl::StrCat(line_end, absl::Hex(piece.text.size()), "\r\n"));
    line_end = "\r\n";
    AddPiece(chunk_heads_.back());
    AddPiece(piece.text);
  }
  chunk_heads_.push_back(absl::StrCat(line_end, taken_.ended ? "0\r\n\r\n" : ""));
  AddPiece(chunk_heads_.back());
}

void ResponseWriter::BuildHead(const HttpResponse& response, const RequestReader::Traits& traits,
                               size_t body_size) {
  head_.clear();
  head_.reserve(kHeadCapacity);
  absl::StrAppend(&head_, "HTTP/1.1 ", response.status, " ", ReasonPhrase(response.status), "\r\n");
  if (response.body_stream == nullptr) {
    absl::StrAppend(&head_, "Content-Length: ", body_size, "\r\n");
  } else if (traits.http11) {
    head_ += "Transfer-Encoding: chunked\r\n";
  }
  if (!response.content_type.empty()) {
    absl::StrAppend(&head_, "Content-Type: ", response.content_type, "\r\n");
  }
  if (!traits.keep_alive) {
    head_ += "Connection: close\r\n";
  } else if (!traits.http11) {
    head_ += "Connection: keep-alive\r\n";
  }
  for (const auto& [name, value] : response.headers) {
    if (IsSafeHeader(name, value)) {
      absl::StrAppend(&head_, name, ": ", value, "\r\n");
    }
  }
  head_ += "\r\n";
}

ResponseWriter::Progress ResponseWriter::Flush(transport::Channel* channel) {
  using Result = transport::Channel::Result;
  while (!done()) {
    const Result result = channel->Write(absl::MakeConstSpan(pieces_).subspan(next_piece_));
    if (result.kind == Result::kWouldBlock) return Progress::kBlocked;
    if (result.kind != Result::kOk) return Progress::kFailed;
    size_t written = result.bytes;
    written_ += written;
    while (!done() && written >= pieces_[next_piece_].iov_len) {
      written -= pieces_[next_piece_++].iov_len;
    }
    if (written == 0) continue;
    iovec& piece = pieces_[next_piece_];
    piece = {static_cast<char*>(piece.iov_base) + written, piece.iov_len - written};
  }
  return Progress::kDone;
}

}  // namespace nereid::http
