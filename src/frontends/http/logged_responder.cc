#include "frontends/http/logged_responder.h"

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

// Owned by the responder in front and by what makes the answer. The members are used by one of them
// at a time.
class LoggedSink final : public HttpResponseSink, public std::enable_shared_from_this<LoggedSink> {
 public:
  LoggedSink(AccessLog* log, AccessEntry entry, bool is_head, HttpResponder responder)
      : log_(log), entry_(std::move(entry)), is_head_(is_head), responder_(std::move(responder)) {}
  ~LoggedSink() override {
    if (entry_.has_value()) Write(kClientLeft, 0);
  }

  void Complete(HttpResponse response) override {
    Look(response);
    responder_->Complete(std::move(response));
  }
  void CompleteWith(absl::AnyInvocable<HttpResponse()> make) override {
    responder_->CompleteWith([self = shared_from_this(), make = std::move(make)]() mutable {
      HttpResponse response = make();
      self->Look(response);
      return response;
    });
  }
  void SetOnCancel(absl::AnyInvocable<void()> on_cancel) override {
    responder_->SetOnCancel(std::move(on_cancel));
  }
  void AddHeader(absl::string_view name, std::string value) override {
    responder_->AddHeader(name, std::move(value));
  }
  InlineTurn* inline_turn() override { return responder_->inline_turn(); }
  uint64_t other_requests() const override { return responder_->other_requests(); }
  HttpOrigin origin() const override { return responder_->origin(); }
  void NoteRequest(absl::FunctionRef<LogAbout()> about) override {
    if (entry_.has_value()) {
      entry_->request_id = about().request_id.substr(0, AccessLog::kLongestText);
    }
    responder_->NoteRequest(about);
  }

 private:
  void Look(const HttpResponse& response) {
    if (response.body_stream == nullptr) {
      return Write(response.status, is_head_ ? 0 : BodyBytes(response));
    }
    response.body_stream->SetAtEnd(
        [self = shared_from_this(), status = response.status](uint64_t bytes, bool complete) {
          self->Write(complete ? status : kClientLeft, bytes);
        });
  }
  void Write(int status, uint64_t bytes_out) {
    entry_->status = absl::StrCat(status);
    entry_->bytes_out = bytes_out;
    log_->Write(*std::exchange(entry_, std::nullopt));
  }

  AccessLog* const log_;
  std::optional<AccessEntry> entry_;  // until it is written
  const bool is_head_;
  std::optional<HttpResponder> responder_;
};

}  // namespace

HttpResponder LogAnswer(AccessLog* log, const Clock& clock, const HttpRequest& request,
                        std::string model, HttpResponder responder) {
  AccessEntry entry;
  HttpOrigin origin = responder.origin();
  entry.protocol = origin.protocol;
  entry.peer = std::move(origin.peer);
  entry.method = HttpMethodName(request.method());
  entry.path = std::string(request.path().substr(0, AccessLog::kLongestText));
  entry.model = std::move(model);
  entry.bytes_in = request.body_text().size();
  entry.start = clock.Now();
  return HttpResponder(std::make_shared<LoggedSink>(
      log, std::move(entry), request.method() == HttpMethod::kHead, std::move(responder)));
}

}  // namespace nereid
