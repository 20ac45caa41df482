// SPDX-License-Identifier: Apache-2.0
#include "top/top_screen.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/api_client.h"
#include "top/live_answer.h"
#include "top/terminal.h"
#include "top/top_text.h"
#include "top/top_view.h"

namespace nereid {
namespace {

constexpr char kKeys[] =
    "q quits; sort by: m model  r requests  f failures  w waiting  b busy  l queue p99  i infer "
    "p99";
// How often an answer that is under way is looked for.
constexpr std::chrono::milliseconds kLook(20);
// Questions that were given up but still wait, as for a server that hangs.
constexpr size_t kMostGivenUp = 8;

bool IsReady(const ApiAnswer& answer) {
  return answer.wait_for(Duration(0)) == std::future_status::ready;
}

// Asks the server again and again, one question at a time.
class Asker {
 public:
  Asker(const TopRequest& request, const Clock& clock)
      : request_(request), clock_(clock), next_(clock.Now()) {}

  // Asks if it is time to. The answer to the last question, once it is there; DEADLINE_EXCEEDED if
  // that takes too long.
  std::optional<absl::StatusOr<std::string>> Poll() {
    const TimePoint now = clock_.Now();
    if (!asked_.has_value() && now >= next_) Ask(now);
    if (!asked_.has_value()) return std::nullopt;
    if (IsReady(*asked_)) return std::exchange(asked_, std::nullopt)->get();
    if (now - since_ < request_.probe.timeout) return std::nullopt;
    given_up_.push_back(*std::exchange(asked_, std::nullopt));
    return NoAnswerWithin(request_.probe.timeout);
  }
  // How long there is nothing to do.
  Duration Pause() const {
    const Duration wait = next_ - clock_.Now();
    return asked_.has_value() ? Duration(kLook) : std::max<Duration>(wait, kLook);
  }

 private:
  void Ask(TimePoint now) {
    next_ = now + request_.interval;
    while (!given_up_.empty() && IsReady(given_up_.front())) given_up_.pop_front();
    if (given_up_.size() >= kMostGivenUp) return;
    asked_ = AskOnThread(
        [probe = request_.probe, path = request_.path()] { return ApiGet(probe, path); });
    since_ = now;
  }

  const TopRequest& request_;
  const Clock& clock_;
  TimePoint next_;
  TimePoint since_;
  std::optional<ApiAnswer> asked_;  // empty: no question is open
  std::deque<ApiAnswer> given_up_;
};

std::optional<TopSort> SortOf(char key) {
  switch (key) {
    case 'm':
      return TopSort::kModel;
    case 'r':
      return TopSort::kRequests;
    case 'f':
      return TopSort::kFailures;
    case 'w':
      return TopSort::kQueued;
    case 'b':
      return TopSort::kBusy;
    case 'l':
      return TopSort::kQueueTime;
    case 'i':
      return TopSort::kComputeTime;
    default:
      return std::nullopt;
  }
}

// What is on the screen.
struct Shown {
  std::optional<LiveAnswer> answer;  // the last one
  TopView view;
  std::string trouble;  // empty: there is none
  TopSort sort = TopSort::kModel;
};

void TakeIn(const absl::StatusOr<std::string>& json, Shown* shown) {
  absl::StatusOr<LiveAnswer> answer = json.ok() ? ReadLive(*json) : json.status();
  if (!answer.ok()) {
    shown->trouble = absl::StrCat(answer.status().message(), "; asking again");
    return;
  }
  shown->trouble.clear();
  shown->view = MakeTopView(shown->answer.has_value() ? &*shown->answer : nullptr, *answer);
  shown->answer = *std::move(answer);
}

void Draw(const std::string& url, const Shown& shown, bool colour, Terminal* terminal) {
  const Terminal::Size size = terminal->size();
  constexpr size_t kFoot = 2;  // trouble and keys
  std::vector<std::string> lines;
  if (shown.answer.has_value()) {
    const size_t height = size.height > kFoot ? size.height - kFoot : 1;
    lines = TopLines(url, shown.view, {size.width, height, shown.sort, colour});
  } else {
    lines = {FitLine(absl::StrCat(url, "  waiting for an answer"), size.width)};
  }
  if (!shown.trouble.empty()) {
    const std::string line = FitLine(shown.trouble, size.width);
    lines.push_back(colour ? absl::StrCat("\033[31m", line, "\033[0m") : line);
  }
  lines.push_back(FitLine(kKeys, size.width));
  if (lines.size() > size.height) lines.resize(size.height);
  terminal->Show(lines);
}

}  // namespace

absl::Status ShowTopScreen(const TopRequest& request, bool colour, const Clock& clock) {
  const std::string url = request.probe.targets[0].Url();
  Asker asker(request, clock);
  Shown shown;
  Terminal terminal;
  Draw(url, shown, colour, &terminal);
  while (true) {
    const Terminal::Event event = terminal.Wait(asker.Pause());
    if (event.kind == Terminal::Event::kEnd || event.key == 'q') return absl::OkStatus();
    const std::optional<TopSort> sort = SortOf(event.key);
    if (sort.has_value()) shown.sort = *sort;
    const std::optional<absl::StatusOr<std::string>> answer = asker.Poll();
    if (answer.has_value()) {
      const bool refused = absl::IsPermissionDenied(answer->status()) ||
                           absl::IsNotFound(answer->status()) ||
                           absl::IsInvalidArgument(answer->status());
      if (refused && !shown.answer.has_value()) return answer->status();
      TakeIn(*answer, &shown);
    }
    const bool changed = answer.has_value() || sort.has_value();
    if (changed || event.kind == Terminal::Event::kResized) Draw(url, shown, colour, &terminal);
  }
}

}  // namespace nereid
