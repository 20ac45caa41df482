// SPDX-License-Identifier: Apache-2.0
// What `nereid top` is to show, and how: its command line as a plain value.
#ifndef NEREID_APPS_WORKSHOP_TOP_TOP_REQUEST_H_
#define NEREID_APPS_WORKSHOP_TOP_TOP_REQUEST_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "options/command_table.h"
#include "probe/probe_request.h"

namespace nereid {

struct TopRequest {
  Duration interval = std::chrono::seconds(2);
  bool once = false;
  bool json = false;
  ProbeRequest probe;  // where to ask; at least one target, all of HTTP. `model`: only this one
  std::string path() const;
};

CommandTable TopTable();

// INVALID_ARGUMENT.
absl::StatusOr<TopRequest> ParseTopRequest(const std::vector<std::string>& args);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TOP_TOP_REQUEST_H_
