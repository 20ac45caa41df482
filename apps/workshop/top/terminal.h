// SPDX-License-Identifier: Apache-2.0
// Terminal: the whole screen of the terminal at the standard output, and the keys that are pressed
// there. One at a time; thread-compatible.
#ifndef NEREID_APPS_WORKSHOP_TOP_TERMINAL_H_
#define NEREID_APPS_WORKSHOP_TOP_TERMINAL_H_

#include <termios.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"

namespace nereid {

class Terminal {
 public:
  // Takes the screen: what was there comes back with the end of this object, and whatever ends the
  // program by SIGINT, SIGTERM or SIGHUP is an event instead. Throws std::system_error if the
  // process has no file descriptors left.
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  struct Size {
    size_t width = 0, height = 0;
  };
  Size size() const;
  // Replaces what is on the screen. `lines` fit on it.
  void Show(const std::vector<std::string>& lines);

  struct Event {
    enum Kind { kNothing, kKey, kResized, kEnd };
    Kind kind = kNothing;
    char key = 0;
  };
  // Waits for an event for at most `time`.
  Event Wait(Duration time);

 private:
  void Enter();
  void Leave();
  Event OnSignal(int number);
  Event OnKey();

  bool has_keys_ = false;  // standard input is a terminal, too
  termios before_{};       // its settings before Enter
};

// The width for a table that goes elsewhere than to a terminal: COLUMNS, or 0: any width.
size_t ColumnsOfEnvironment();

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TOP_TERMINAL_H_
