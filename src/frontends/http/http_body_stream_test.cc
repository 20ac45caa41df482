#include "frontends/http/http_body_stream.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

#include "base/wake_batch.h"

namespace nereid {
namespace {

// The thread of a connection.
class ReaderThread final : public WakeBatch::Sleeper {
 public:
  void Wake() noexcept override { woken.set_value(); }
  std::promise<void> woken;
};

class SleepingReader final : public HttpBodyStream::Reader {
 public:
  void OnBodyPieces() override { WakeBatch::PutOff(thread); }
  const std::shared_ptr<ReaderThread> thread = std::make_shared<ReaderThread>();
};

// Otherwise it would wait for what only the thread that it has not woken can do.
TEST(HttpBodyStreamTest, AProducerThatWaitsForRoomWakesTheReaderItHasPutOff) {
  HttpBodyStream stream(/*max_waiting_bytes=*/10);
  const auto reader = std::make_shared<SleepingReader>();
  stream.Attach(reader);
  EXPECT_TRUE(stream.Take().pieces.empty());
  std::future<void> producer = std::async(std::launch::async, [&] {
    const WakeBatch batch;
    stream.Append({std::string(20, 'a'), nullptr});
    stream.AwaitRoom();
  });
  reader->thread->woken.get_future().wait();
  EXPECT_EQ(stream.Take().pieces.size(), 1u);
  EXPECT_TRUE(stream.Take().pieces.empty());  // they have been sent
  producer.get();
  stream.Abort();
}

}  // namespace
}  // namespace nereid
