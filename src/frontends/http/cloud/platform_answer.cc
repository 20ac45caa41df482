#include "frontends/http/cloud/platform_answer.h"

namespace nereid {

void PlatformAnswer::Complete(HttpResponse response) {
  form_(&response);
  client_.Complete(std::move(response));
}

void PlatformAnswer::CompleteWith(absl::AnyInvocable<HttpResponse()> make) {
  client_.CompleteWith([make = std::move(make), form = form_]() mutable {
    HttpResponse response = make();
    form(&response);
    return response;
  });
}

void KeepStatusOnly(HttpResponse* response) {
  response->content_type = absl::string_view();
  response->text.clear();
}

}  // namespace nereid
