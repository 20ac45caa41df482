#include "frontends/http/transport/response_writer.h"

#include <absl/strings/str_cat.h>
#include <absl/types/span.h>

#include <boost/asio/error.hpp>
#include <utility>

namespace nereid::http {
namespace {

constexpr size_t kHeadCapacity = 512;

// Header values come from our own code, but some of them repeat text from a client or a model.
bool IsSafeHeaderText(absl::string_view text) {
  return text.find_first_of(absl::string_view("\r\n\0", 3)) == absl::string_view::npos;
}

}  // namespace

const char* ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
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
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

void ResponseWriter::Start(const HttpResponse& response, const RequestReader::Traits& traits) {
  size_t body_size = response.text.size();
  for (const HttpChunk& chunk : response.chunks) body_size += chunk.size;
  BuildHead(response, traits, body_size);

  pieces_.clear();
  next_piece_ = 0;
  pieces_.push_back(boost::asio::buffer(head_));
  taken_ = HttpBodyStream::Taken();
  chunked_ = traits.http11;
  no_body_ = traits.head_method;
  if (no_body_) return;  // same header as for GET, no body
  if (!response.text.empty()) pieces_.push_back(boost::asio::buffer(response.text));
  for (const HttpChunk& chunk : response.chunks) {
    if (chunk.size > 0) pieces_.emplace_back(chunk.data, chunk.size);
  }
}

void ResponseWriter::Append(HttpBodyStream::Taken taken) {
  if (next_piece_ == pieces_.size()) {
    pieces_.clear();
    next_piece_ = 0;
  }
  taken_ = std::move(taken);
  if (no_body_) return;
  if (!chunked_) {
    for (const HttpBodyStream::Piece& piece : taken_.pieces) {
      pieces_.push_back(boost::asio::buffer(piece.text));
    }
    return;
  }
  chunk_heads_.clear();
  // The pieces of the gather list point into it.
  chunk_heads_.reserve(taken_.pieces.size() + 1);
  const char* line_end = "";  // of the previous chunk
  for (const HttpBodyStream::Piece& piece : taken_.pieces) {
    chunk_heads_.push_back(absl::StrCat(line_end, absl::Hex(piece.text.size()), "\r\n"));
    line_end = "\r\n";
    pieces_.push_back(boost::asio::buffer(chunk_heads_.back()));
    pieces_.push_back(boost::asio::buffer(piece.text));
  }
  chunk_heads_.push_back(absl::StrCat(line_end, taken_.ended ? "0\r\n\r\n" : ""));
  if (!chunk_heads_.back().empty()) pieces_.push_back(boost::asio::buffer(chunk_heads_.back()));
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
    if (IsSafeHeaderText(name) && IsSafeHeaderText(value)) {
      absl::StrAppend(&head_, name, ": ", value, "\r\n");
    }
  }
  head_ += "\r\n";
}

ResponseWriter::Progress ResponseWriter::Flush(Socket* socket) {
  while (next_piece_ < pieces_.size()) {
    boost::system::error_code error;
    size_t written = socket->write_some(absl::MakeSpan(pieces_).subspan(next_piece_), error);
    if (error == boost::asio::error::would_block) return Progress::kBlocked;
    if (error) return Progress::kFailed;
    written_ += written;
    while (next_piece_ < pieces_.size() && written >= pieces_[next_piece_].size()) {
      written -= pieces_[next_piece_++].size();
    }
    if (written > 0) pieces_[next_piece_] += written;
  }
  return Progress::kDone;
}

}  // namespace nereid::http
