// SPDX-License-Identifier: Apache-2.0
// HeadParser: Beast's HTTP grammar with our own handlers. Collects the head as positions in the
// caller's bytes, and passes on the pieces of a chunked body. Owned by a RequestReader.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_HEAD_PARSER_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_HEAD_PARSER_H_

#include <absl/container/inlined_vector.h>

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "frontends/http/http_message.h"

namespace nereid::http {

class HeadParser final : public boost::beast::http::basic_parser<true> {
 public:
  using ErrorCode = boost::beast::error_code;
  using StringView = boost::beast::string_view;

  // A non-final chunk begins / a piece of it arrived. False ends the parsing with an error.
  class ChunkReceiver {
   public:
    virtual ~ChunkReceiver() = default;
    virtual bool OnChunk(uint64_t size) = 0;
    virtual bool OnChunkData(const char* data, size_t size) = 0;
  };

  explicit HeadParser(size_t max_header_bytes);

  // Parses head bytes that start `offset` bytes into a head whose first byte is at `base`.
  // Returns the bytes used; `error` need_more asks for a call with more bytes at that place.
  size_t PutHead(const char* base, size_t offset, size_t size, ErrorCode& error);
  // Parses bytes of a chunked body.
  size_t PutChunked(const char* data, size_t size, ChunkReceiver* receiver, ErrorCode& error);

  HttpMethod method() const { return method_; }
  bool http11() const { return http11_; }
  HttpRequest::Range target() const { return target_; }
  absl::Span<const HttpRequest::HeaderRange> headers() const { return headers_; }
  // Whether a Transfer-Encoding other than "chunked" was requested.
  bool unsupported_transfer_encoding() const { return unsupported_transfer_encoding_; }

 private:
  using Field = boost::beast::http::field;
  void on_request_impl(boost::beast::http::verb method, StringView method_text, StringView target,
                       int version, ErrorCode& error) override;
  void on_response_impl(int, StringView, int, ErrorCode&) override {}
  void on_field_impl(Field name, StringView name_text, StringView value, ErrorCode& error) override;
  void on_header_impl(ErrorCode&) override { head_done_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  // Bodies of known length do not pass through the parser.
  std::size_t on_body_impl(StringView body, ErrorCode&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t size, StringView extensions, ErrorCode& error) override;
  std::size_t on_chunk_body_impl(std::uint64_t remain, StringView body, ErrorCode& error) override;
  void on_finish_impl(ErrorCode&) override {}

  // Position of `text` in the head; none if it is not in the head (an unfolded obs-fold value).
  std::optional<HttpRequest::Range> RangeOf(StringView text) const;

  const char* base_ = nullptr;
  size_t base_size_ = 0;
  ChunkReceiver* receiver_ = nullptr;
  HttpMethod method_ = HttpMethod::kOther;
  bool http11_ = true;
  bool head_done_ = false;
  bool unsupported_transfer_encoding_ = false;
  HttpRequest::Range target_;
  absl::InlinedVector<HttpRequest::HeaderRange, 16> headers_;
};

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_HEAD_PARSER_H_
