// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/logged_answer.h"

#include <absl/strings/str_cat.h>

#include <memory>
#include <optional>
#include <utility>

namespace nereid {
namespace {

// What nginx writes for a client that has left.
constexpr int kClientLeft = 499;

uint64_t BodyBytes(const HttpResponse& response) {
  uint64_t bytes = response.text.size();
  for (const HttpChunk& chunk : response.chunks) bytes += chunk.size;
  return bytes;
}

// The line of one request, which is written when it goes, if not before.
class Line {
 public:
  Line(AccessLog* log, AccessEntry entry) : log_(log), entry_(std::move(entry)) {}
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() {
    if (entry_.has_value()) Write(kClientLeft, 0);
  }

  void NoteId(const std::string& id) {
    if (entry_.has_value()) entry_->request_id = id.substr(0, AccessLog::kLongestText);
  }
  void Write(int status, uint64_t bytes_out) {
    entry_->status = absl::StrCat(status);
    entry_->bytes_out = bytes_out;
    log_->Write(*std::exchange(entry_, std::nullopt));
  }

 private:
  AccessLog* const log_;
  std::optional<AccessEntry> entry_;  // until it is written
};

class LoggedAnswer final : public HttpAnswerObserver {
 public:
  LoggedAnswer(std::unique_ptr<Line> line, bool is_head)
      : line_(std::move(line)), is_head_(is_head) {}

  void NoteRequest(absl::FunctionRef<LogAbout()> about) override {
    line_->NoteId(about().request_id);
  }
  void OnAnswer(HttpResponse* response) override {
    if (response->body_stream == nullptr) {
      return line_->Write(response->status, is_head_ ? 0 : BodyBytes(*response));
    }
    response->body_stream->SetAtEnd(
        [line = std::move(line_), status = response->status](uint64_t bytes, bool complete) {
          line->Write(complete ? status : kClientLeft, bytes);
        });
  }

 private:
  std::unique_ptr<Line> line_;
  const bool is_head_;
};

}  // namespace

std::unique_ptr<HttpAnswerObserver> LogAnswer(AccessLog* log, const Clock& clock,
                                              const HttpRequest& request, HttpOrigin origin,
                                              std::string model) {
  AccessEntry entry;
  entry.protocol = origin.protocol;
  entry.peer = std::move(origin.peer);
  entry.method = HttpMethodName(request.method());
  entry.path = std::string(request.path().substr(0, AccessLog::kLongestText));
  entry.model = std::move(model);
  entry.bytes_in = request.body_text().size();
  entry.start = clock.Now();
  return std::make_unique<LoggedAnswer>(std::make_unique<Line>(log, std::move(entry)),
                                        request.method() == HttpMethod::kHead);
}

}  // namespace nereid
