// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/transport/head_parser.h"

#include <absl/strings/match.h>

#include <boost/asio/buffer.hpp>

namespace nereid::http {
namespace beast_http = boost::beast::http;

HeadParser::HeadParser(size_t max_header_bytes) {
  header_limit(static_cast<std::uint32_t>(max_header_bytes));
  body_limit(boost::none);  // RequestReader checks the limit, with a better error text
}

size_t HeadParser::PutHead(const char* base, size_t offset, size_t size, ErrorCode& error) {
  base_ = base;
  base_size_ = offset + size;
  return put(boost::asio::const_buffer(base + offset, size), error);
}

size_t HeadParser::PutChunked(const char* data, size_t size, ChunkReceiver* receiver,
                              ErrorCode& error) {
  receiver_ = receiver;
  return put(boost::asio::const_buffer(data, size), error);
}

std::optional<HttpRequest::Range> HeadParser::RangeOf(StringView text) const {
  if (text.empty()) return HttpRequest::Range{};
  if (text.data() < base_ || text.data() + text.size() > base_ + base_size_) return std::nullopt;
  return HttpRequest::Range{static_cast<uint32_t>(text.data() - base_),
                            static_cast<uint32_t>(text.size())};
}

void HeadParser::on_request_impl(beast_http::verb method, StringView method_text, StringView target,
                                 int version, ErrorCode& error) {
  switch (method) {
    case beast_http::verb::get:
      method_ = HttpMethod::kGet;
      break;
    case beast_http::verb::head:
      method_ = HttpMethod::kHead;
      break;
    case beast_http::verb::post:
      method_ = HttpMethod::kPost;
      break;
    case beast_http::verb::delete_:
      method_ = HttpMethod::kDelete;
      break;
    case beast_http::verb::options:
      method_ = HttpMethod::kOptions;
      break;
    default:
      method_ = HttpMethod::kOther;
  }
  http11_ = version == 11;
  target_ = *RangeOf(target);
}

void HeadParser::on_field_impl(Field name, StringView name_text, StringView value,
                               ErrorCode& error) {
  if (head_done_) return;  // trailers of a chunked body are ignored
  const auto name_range = RangeOf(name_text);
  const auto value_range = RangeOf(value);
  if (!name_range || !value_range) {
    error = beast_http::error::bad_obs_fold;
    return;
  }
  if (name == Field::transfer_encoding &&
      !absl::EqualsIgnoreCase(absl::string_view(value.data(), value.size()), "chunked")) {
    unsupported_transfer_encoding_ = true;
  }
  headers_.push_back({*name_range, *value_range});
}

void HeadParser::on_chunk_header_impl(std::uint64_t size, StringView, ErrorCode& error) {
  if (size > 0 && !receiver_->OnChunk(size)) error = beast_http::error::body_limit;
}

std::size_t HeadParser::on_chunk_body_impl(std::uint64_t, StringView body, ErrorCode& error) {
  if (!receiver_->OnChunkData(body.data(), body.size())) error = beast_http::error::body_limit;
  return body.size();
}

}  // namespace nereid::http
