// SPDX-License-Identifier: Apache-2.0
// What the sources of this folder share of nghttp2's types.
#ifndef NEREID_FRONTENDS_TRANSPORT_HTTP2_LIBRARY_H_
#define NEREID_FRONTENDS_TRANSPORT_HTTP2_LIBRARY_H_

#include <absl/container/inlined_vector.h>
#include <absl/types/span.h>
#include <nghttp2/nghttp2.h>

#include "frontends/transport/http2/stream.h"

namespace nereid::http2 {

// Headers in the form of the library; a view.
class LibraryHeaders {
 public:
  explicit LibraryHeaders(absl::Span<const Header> headers) {
    for (const Header& header : headers) {
      const auto bytes = [](absl::string_view text) {
        return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
      };
      const int flags = header.lasting
                            ? NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE
                            : NGHTTP2_NV_FLAG_NONE;
      headers_.push_back({bytes(header.name), bytes(header.value), header.name.size(),
                          header.value.size(), static_cast<uint8_t>(flags)});
    }
  }
  const nghttp2_nv* data() const { return headers_.data(); }
  size_t size() const { return headers_.size(); }

 private:
  absl::InlinedVector<nghttp2_nv, 8> headers_;
};

// The library's callback for the body of the stream `id`.
ssize_t ReadBody(nghttp2_session* session, int32_t id, uint8_t* buffer, size_t length,
                 uint32_t* flags, nghttp2_data_source* source, void* user_data);

}  // namespace nereid::http2

#endif  // NEREID_FRONTENDS_TRANSPORT_HTTP2_LIBRARY_H_
