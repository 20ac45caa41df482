// The end of an I/O loop. A loop that does not end hangs the test.
#include "frontends/http/transport/io_loop.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>

namespace nereid::http {
namespace {

TEST(IoLoopTest, EndsAlthoughASweepIsDueAtTheSameMoment) {
  HttpServerOptions options;
  options.header_timeout = std::chrono::milliseconds(4);  // the interval of sweeps comes from it
  for (int i = 0; i < 5; ++i) {
    const auto loop = std::make_shared<IoLoop>(options, nullptr);
    loop->Start("test");
    // Busy until the sweep is due and, unless this thread is slow, the end was asked for.
    std::promise<void> started;
    loop->Post([&] {
      started.set_value();
      const TimePoint until = loop->Now() + std::chrono::milliseconds(30);
      while (loop->Now() < until) {
      }
    });
    started.get_future().wait();
    loop->Join();
  }
}

}  // namespace
}  // namespace nereid::http
