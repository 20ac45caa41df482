// SPDX-License-Identifier: Apache-2.0
// ResponseWriter: sends one response at a time: header and body pieces as one gather list, so
// that a response that fits the socket's buffer takes one system call and no copy.
// Owned by its connection's I/O thread.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_RESPONSE_WRITER_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_RESPONSE_WRITER_H_

#include <absl/container/inlined_vector.h>
#include <absl/strings/string_view.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "frontends/http/http_body_stream.h"
#include "frontends/http/http_message.h"
#include "frontends/http/transport/request_reader.h"
#include "frontends/transport/channel.h"

namespace nereid::http {

class ResponseWriter {
 public:
  enum class Progress {
    kDone,
    kBlocked,  // the socket accepts no more now: wait until it is writable
    kFailed,   // the peer is gone
  };

  // Begins `response` behind what is not written yet. It must not change until Flush returns kDone
  // or kFailed. If it has a body_stream, only the header is sent.
  void Start(const HttpResponse& response, const RequestReader::Traits& traits);
  // Adds what was taken from the body_stream, one chunk per piece, and the end of the body if it
  // has ended. REQUIRES: Flush returned kDone, or was not called since Start; nothing was added
  // since.
  void Append(HttpBodyStream::Taken taken);
  // Adds "100 Continue", which goes before the response. REQUIRES: done().
  void AppendContinue();
  // Writes as much as the channel accepts without blocking.
  Progress Flush(transport::Channel* channel);
  // Whether there is nothing to write.
  bool done() const { return next_piece_ == pieces_.size(); }
  // Bytes written for all responses together.
  uint64_t written() const { return written_; }

 private:
  // Makes room for new pieces if all are written.
  void BeginPieces();
  void AddPiece(absl::string_view bytes);
  void BuildHead(const HttpResponse& response, const RequestReader::Traits& traits,
                 size_t body_size);

  std::string head_;  // its memory is reused for all responses of the connection
  bool chunked_ = false;
  bool no_body_ = false;
  HttpBodyStream::Taken taken_;           // being sent
  std::vector<std::string> chunk_heads_;  // the text before, between and after its pieces
  absl::InlinedVector<iovec, 6> pieces_;
  size_t next_piece_ = 0;
  uint64_t written_ = 0;
};

// "OK" for 200 and so on; "Unknown" for a code that is never sent.
const char* ReasonPhrase(int status);

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_RESPONSE_WRITER_H_
