// SPDX-License-Identifier: Apache-2.0
// The settings of the console's port, from the command line. Plain values.
#ifndef NEREID_APPS_NEREID_CONSOLE_SETTINGS_H_
#define NEREID_APPS_NEREID_CONSOLE_SETTINGS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "frontends/transport/bound_address.h"

namespace nereid {

struct ConsoleSettings {
  bool allow = false;
  std::string address = "127.0.0.1";
  uint16_t port = 0;                               // 0: any free one
  std::shared_ptr<transport::BoundAddress> bound;  // null: not bound yet
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_CONSOLE_SETTINGS_H_
