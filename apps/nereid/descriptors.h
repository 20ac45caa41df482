// SPDX-License-Identifier: Apache-2.0
// File descriptors: as many as the system allows, and how many connections they are enough for.
#ifndef NEREID_APPS_NEREID_DESCRIPTORS_H_
#define NEREID_APPS_NEREID_DESCRIPTORS_H_

#include "frontends/transport/connection_room.h"
#include "settings.h"

namespace nereid {

// Raises the soft limit of open files to the hard one. For the program: a process that embeds the
// server has its own mind about that. Processes that backends start get the soft limit back by the
// variable NEREID_SOFT_FILE_LIMIT of the environment. REQUIRES: no other thread runs yet.
void RaiseDescriptorLimit();

// Sets how many connections there is room for, now that all ports are open. Logs the options that
// ask for more.
void SizeConnectionRoom(const Settings& settings, transport::ConnectionRoom* room);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_DESCRIPTORS_H_
