// SPDX-License-Identifier: Apache-2.0
// Options of the commands that make requests: how these fall due, and what is in them. Pure
// functions; what `to` points to outlives the table.
#ifndef NEREID_APPS_WORKSHOP_BENCH_LOAD_FLAGS_H_
#define NEREID_APPS_WORKSHOP_BENCH_LOAD_FLAGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/loadgen/arrivals.h"
#include "options/flag.h"

namespace nereid {

// --arrivals. A value for `to` to keep is the default that --help shows.
Flag ArrivalsFlag(bench::Arrivals* to, std::string help);
Flag ArrivalsFlag(std::optional<bench::Arrivals>* to, std::string default_text, std::string help);
// --input=NAME:FILE; may be repeated.
Flag InputFileFlag(std::map<std::string, std::string>* to);
// --shape=NAME:1,3,224,224; may be repeated.
Flag ShapeFlag(std::map<std::string, std::vector<int64_t>>* to, std::string help);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BENCH_LOAD_FLAGS_H_
