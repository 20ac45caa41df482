// SPDX-License-Identifier: Apache-2.0
#include "top/top_command.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <csignal>
#include <optional>
#include <ostream>
#include <thread>
#include <utility>

#include "api/api_client.h"
#include "base/caught.h"
#include "base/clock.h"
#include "options/parse.h"
#include "top/live_answer.h"
#include "top/terminal.h"
#include "top/top_request.h"
#include "top/top_screen.h"
#include "top/top_text.h"
#include "top/top_view.h"

namespace nereid {
namespace {

constexpr int kGood = 0;
constexpr int kNotGood = 1;
constexpr int kWrongOptions = 2;

absl::StatusOr<std::string> Ask(const TopRequest& request) try {
  ApiAnswer answer =
      AskOnThread([probe = request.probe, path = request.path()] { return ApiGet(probe, path); });
  return Await(request.probe.timeout, &answer);
} catch (...) {
  return CaughtStatus();
}

// One answer after the other, as text that can be kept.
class Printer {
 public:
  Printer(const TopRequest& request, std::ostream& out) : request_(request), out_(out) {}

  // Of the first answer only --json prints anything: the others are compared with it. Errors of the
  // server.
  absl::Status Next() {
    const absl::StatusOr<std::string> json = Ask(request_);
    if (!json.ok()) return json.status();
    absl::StatusOr<LiveAnswer> answer = ReadLive(*json);
    if (!answer.ok()) return answer.status();
    if (request_.json) {
      Print(*json);
    } else if (before_.has_value()) {
      Print(absl::StrJoin(TopLines(request_.probe.targets[0].Url(), MakeTopView(&*before_, *answer),
                                   {ColumnsOfEnvironment()}),
                          "\n"));
    }
    before_ = *std::move(answer);
    return absl::OkStatus();
  }
  bool printed() const { return printed_; }

 private:
  void Print(const std::string& text) {
    // A line between tables.
    out_ << (printed_ && !request_.json ? "\n" : "") << text << "\n" << std::flush;
    printed_ = true;
  }

  const TopRequest& request_;
  std::ostream& out_;
  std::optional<LiveAnswer> before_;
  bool printed_ = false;
};

// Until nobody reads `out` any more, or forever. Errors: those of the first answer, or of any with
// --once. Later ones go to `err`, and the server is asked again.
absl::Status PrintTables(const TopRequest& request, std::ostream& out, std::ostream& err) {
  Printer printer(request, out);
  bool answered = false;
  while (out.good()) {
    if (const absl::Status next = printer.Next(); next.ok()) {
      answered = true;
    } else if (!answered || request.once) {
      return next;
    } else {
      err << "nereid top: " << next.message() << "; asking again\n" << std::flush;
    }
    if (request.once && printer.printed()) return absl::OkStatus();
    std::this_thread::sleep_for(request.interval);
  }
  return absl::OkStatus();
}

absl::Status Show(const TopRequest& request, TopOutput output, std::ostream& out,
                  std::ostream& err) try {
  if (output.terminal && !request.once && !request.json) {
    return ShowTopScreen(request, output.colour, *Clock::Real());
  }
  return PrintTables(request, out, err);
} catch (...) {
  return CaughtStatus();
}

}  // namespace

int TopCommand(const std::vector<std::string>& args, TopOutput output, std::ostream& out,
               std::ostream& err) {
  const absl::StatusOr<TopRequest> request = ParseTopRequest(args);
  if (!request.ok()) return WrongCommandLine("top", request.status(), err);
  std::signal(SIGPIPE, SIG_IGN);  // TLS writes to sockets without MSG_NOSIGNAL
  const absl::Status shown = Show(*request, output, out, err);
  if (shown.ok()) return kGood;
  err << "nereid top: " << request->probe.targets[0].Url() << ": " << shown.message() << ".\n";
  return absl::IsInvalidArgument(shown) ? kWrongOptions : kNotGood;
}

}  // namespace nereid
