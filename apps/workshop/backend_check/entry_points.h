// SPDX-License-Identifier: Apache-2.0
// The functions of the backend under check, seen from the server: each call of the server comes
// here first and is watched, entered in the ledgers and passed on. One backend per process, as
// these are plain C functions. Thread-safe once installed.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_ENTRY_POINTS_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_ENTRY_POINTS_H_

#include "backend_host/backend_library.h"

namespace nereid {

// Puts watched functions in place of those that the backend exports (ServerOptions::watch_backend).
void WatchEntryPoints(BackendEntryPoints* entry_points);
// Whether that has happened.
bool BackendWasLoaded();

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_ENTRY_POINTS_H_
