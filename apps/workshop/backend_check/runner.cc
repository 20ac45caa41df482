// SPDX-License-Identifier: Apache-2.0
// nereid-backend-check: one trial of a backend, in a process of its own, because the backend may
// crash, hang and leave things behind. Started by `nereid backend-check`; reports on the descriptor
// that --report names (recorder.h).
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "backend_check/call_watch.h"
#include "backend_check/entry_points.h"
#include "backend_check/recorder.h"
#include "backend_check/trial_files.h"
#include "backend_check/trials.h"
#include "base/crash_context.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "flags/command_line.h"
#include "settings.h"

namespace nereid {
namespace {

struct Arguments {
  std::string trial;  // "life", "again" or "version"
  int report = -1;
  std::string input;
  TrialPlan plan;
  std::vector<std::string> server;  // options of the server
};

absl::StatusOr<Arguments> Parse(int argc, char** argv) {
  Arguments args;
  for (int i = 1; i < argc; ++i) {
    absl::string_view value = argv[i];
    int64_t milliseconds = 0;
    if (absl::ConsumePrefix(&value, "--trial=")) {
      args.trial = std::string(value);
    } else if (absl::ConsumePrefix(&value, "--report=") && absl::SimpleAtoi(value, &args.report)) {
      continue;
    } else if (absl::ConsumePrefix(&value, "--library=")) {
      args.plan.library = std::string(value);
      args.plan.backend = TrialFiles::BackendName(args.plan.library);
    } else if (absl::ConsumePrefix(&value, "--folder=")) {
      args.plan.folder = std::string(value);
    } else if (absl::ConsumePrefix(&value, "--load-model=")) {
      args.plan.model = std::string(value);
      args.server.emplace_back(argv[i]);
    } else if (absl::ConsumePrefix(&value, "--input=")) {
      args.input = std::string(value);
    } else if (absl::ConsumePrefix(&value, "--timeout-ms=") &&
               absl::SimpleAtoi(value, &milliseconds)) {
      args.plan.timeout = std::chrono::milliseconds(milliseconds);
    } else if (value == "--made-up") {
      args.plan.made_up = true;
    } else {
      args.server.emplace_back(argv[i]);
    }
  }
  if (args.report < 0) {
    return absl::InvalidArgumentError(
        "this program is a part of `nereid backend-check`, which starts it");
  }
  return args;
}

absl::Status SetUp(Arguments* args) {
  Settings settings;
  RETURN_IF_ERROR(ParseCommandLine(args->server, &settings));
  settings.server.log_tables = false;
  settings.server.cpu_metrics = false;
  settings.server.exit_on_error = false;  // the model's state says more
  settings.server.watch_backend = &WatchEntryPoints;
  // What the backend keeps for ever is found anyway.
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(args->plan.timeout);
  settings.server.exit_timeout_secs = static_cast<uint32_t>(seconds.count());
  args->plan.server = settings.server;
  settings.log.escape_messages = false;
  RETURN_IF_ERROR(Log::Configure(settings.log));
  if (args->input.empty()) return absl::OkStatus();
  std::ifstream file(args->input, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  args->plan.json = text.str();
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  absl::StatusOr<Arguments> args = Parse(argc, argv);
  if (!args.ok()) {
    std::cerr << "nereid-backend-check: " << args.status().message() << "\n";
    return 2;
  }
  fcntl(args->report, F_SETFD, FD_CLOEXEC);  // no process of the backend's keeps it open
  Recorder::Get().Open(args->report);
  InstallCrashReporter();
  if (const absl::Status ready = SetUp(&*args); !ready.ok()) {
    Recorder::Get().Cannot(std::string(ready.message()));
  } else {
    WatchCalls(args->plan.timeout);
    if (args->trial == "life") TryLife(args->plan);
    if (args->trial == "again") TryAgain(args->plan);
    if (args->trial == "version") TryOtherVersion(args->plan);
  }
  Recorder::Get().Done();
  Log::Flush();
  _exit(0);  // backends have static objects, whose end is not the subject here
}

}  // namespace
}  // namespace nereid

int main(int argc, char** argv) { return nereid::Main(argc, argv); }
