#include "bench/bench_command.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <memory>
#include <ostream>

#include "base/status_macros.h"
#include "bench/bench_options.h"
#include "bench/html_report.h"
#include "bench/json_report.h"
#include "bench/load_plan.h"
#include "bench/row_run.h"
#include "bench/text_report.h"

namespace nereid {
namespace {

using bench::BenchOptions;
using bench::RowResult;

constexpr int kGood = 0;
constexpr int kFailed = 1;
constexpr int kWrong = 2;

// Set by a signal.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// The first signal ends the run in good order, the second one at once.
void CatchSignals() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // TLS writes to sockets without MSG_NOSIGNAL
}

// As many connections as the system allows.
void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Sends when it is due, and not when the kernel finds it convenient to wake several sleepers.
void WakeUpInTime() { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

// A line that is written over, where somebody looks at it.
class LiveLine {
 public:
  explicit LiveLine(std::ostream& err) : err_(err), shown_(isatty(STDERR_FILENO) == 1) {}
  ~LiveLine() { Show(""); }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  void Show(const std::string& text) {
    if (shown_) err_ << "\r\x1b[K" << text << std::flush;
  }

 private:
  std::ostream& err_;
  const bool shown_;
};

std::vector<RowResult> Measure(const bench::LoadPlan& plan, std::ostream& err) {
  LiveLine line(err);
  std::vector<RowResult> rows;
  for (const bench::RowLoad& load : bench::RowsOf(plan.options())) {
    if (interrupted) break;
    line.Show("connecting");
    rows.push_back(bench::MeasureRow(
        plan, load, [] { return interrupted.load(); },
        [&](const RowResult& row) { line.Show(bench::LiveText(row)); }));
    // The next row would fare no better without a server.
    if (!rows.back().failure.empty()) break;
  }
  return rows;
}

absl::Status WriteFile(const std::string& name, const std::string& text) {
  if (name.empty()) return absl::OkStatus();
  std::ofstream file(name, std::ios::binary);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write the file ", name));
}

absl::Status Report(const BenchOptions& options, const std::vector<RowResult>& rows,
                    std::ostream& out) {
  const std::string json = bench::JsonReport(options, rows);
  out << (options.json ? json : bench::TextReport(options, rows)) << std::flush;
  RETURN_IF_ERROR(WriteFile(options.json_file, json));
  return WriteFile(options.html_file,
                   options.html_file.empty() ? "" : bench::HtmlReport(options, rows));
}

int Fail(const absl::Status& status, int exit_status, std::ostream& err) {
  err << "nereid bench: " << status.message() << "\n";
  return exit_status;
}

}  // namespace

int BenchCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<BenchOptions> options = bench::ParseBenchOptions(args);
  if (!options.ok()) {
    Fail(options.status(), kWrong, err);
    err << "`nereid bench --help` lists the options.\n";
    return kWrong;
  }
  if (options->help) {
    out << kBenchUsage;
    return kGood;
  }
  CatchSignals();
  RaiseFileLimit();
  WakeUpInTime();
  const absl::StatusOr<std::unique_ptr<bench::LoadPlan>> plan = bench::LoadPlan::Make(*options);
  if (!plan.ok()) {
    const bool wrong = absl::IsInvalidArgument(plan.status());
    const absl::Status status =
        wrong ? plan.status()
              : absl::Status(plan.status().code(),
                             absl::StrCat(options->target.Url(), ": ", plan.status().message()));
    return Fail(status, wrong ? kWrong : kFailed, err);
  }
  const std::vector<RowResult> rows = Measure(**plan, err);
  const absl::Status reported = Report(*options, rows, out);
  if (!reported.ok()) return Fail(reported, kFailed, err);
  const bool failed =
      std::all_of(rows.begin(), rows.end(), [](const RowResult& row) { return row.failed(); });
  return failed ? kFailed : kGood;
}

}  // namespace nereid
