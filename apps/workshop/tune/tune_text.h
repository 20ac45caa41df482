// SPDX-License-Identifier: Apache-2.0
// What `nereid tune` says. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_TUNE_TUNE_TEXT_H_
#define NEREID_APPS_WORKSHOP_TUNE_TUNE_TEXT_H_

#include <string>
#include <vector>

#include "tune/tune_options.h"
#include "tune/tuning.h"

namespace nereid {

// The load and the goal, the measured times, the evidence, the frontier and the choice. Without the
// change of the configuration.
std::string TuneText(const TuneOptions& options, const TuneResult& result);

// Points by throughput (to the right) and p99 (up): all candidates as predicted, `o` those that
// were measured, `c` today's configuration, `X` the chosen one, which cover one another in this
// order.
std::string FrontierPlot(const TuneResult& result);

// A page with the same text and a plot.
std::string TuneHtml(const TuneOptions& options, const TuneResult& result, const std::string& diff);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_TUNE_TEXT_H_
