// SPDX-License-Identifier: Apache-2.0
// What `nereid replay --url` says. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_REPLAY_LIVE_REPLAY_TEXT_H_
#define NEREID_APPS_WORKSHOP_REPLAY_LIVE_REPLAY_TEXT_H_

#include <string>

#include "bench/bench_options.h"
#include "replay/live_replay.h"

namespace nereid {

std::string LiveReplayText(const RecordedModel& model, const bench::BenchOptions& options,
                           const LiveReplay& replay);
// One object; docs/operate/recording.md.
std::string LiveReplayJson(const RecordedModel& model, const bench::BenchOptions& options,
                           const LiveReplay& replay);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_REPLAY_LIVE_REPLAY_TEXT_H_
