// SPDX-License-Identifier: Apache-2.0
// nereid-workshop: the commands that measure, watch, judge and describe. When `nereid` is called
// with one of them, it puts this program in its place, with its own path as the first word.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "base/log.h"
#include "workshop_commands.h"

int main(int argc, char** argv) {
  if (argc == 0) return 2;
  // Lines of the log come from another thread: what a command says stays whole between them.
  setvbuf(stderr, nullptr, _IOLBF, BUFSIZ);
  std::cerr << std::nounitbuf;
  const int status = nereid::RunWorkshop(argv[0], {argv + 1, argv + argc}, std::cout, std::cerr);
  std::cout.flush();
  std::cerr.flush();
  nereid::Log::Flush();
  // Threads that still run may use static objects.
  _exit(status);
}
