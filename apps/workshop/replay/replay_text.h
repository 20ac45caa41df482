// SPDX-License-Identifier: Apache-2.0
// What `nereid replay` says. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_REPLAY_REPLAY_TEXT_H_
#define NEREID_APPS_WORKSHOP_REPLAY_REPLAY_TEXT_H_

#include <string>

#include "replay/virtual_replay.h"

namespace nereid {

std::string ReplayText(const RecordedModel& model, const CompiledModel& config,
                       const VirtualReplay& replay);
// One object, with all simulated batches; docs/operate/recording.md.
std::string ReplayJson(const RecordedModel& model, const CompiledModel& config,
                       const VirtualReplay& replay);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_REPLAY_REPLAY_TEXT_H_
