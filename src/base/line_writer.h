// SPDX-License-Identifier: Apache-2.0
// LineWriter: lines on their way to a file, a pipe or a terminal. They wait in a bounded queue, and
// a thread of the writer writes them, so that nobody who adds a line waits for a disk or for
// whoever reads. What finds no room is dropped and counted.
#ifndef NEREID_BASE_LINE_WRITER_H_
#define NEREID_BASE_LINE_WRITER_H_

#include <absl/functional/function_ref.h>
#include <absl/strings/string_view.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/threads/thread.h"

namespace nereid {

// A file descriptor to write to, which may be a pipe that nobody reads. Writing never blocks inside
// the kernel: not on a pipe, a socket or a terminal. Copies share the descriptor.
// Thread-compatible.
class Output {
 public:
  // A descriptor that stays open, such as the standard output: what it is may change meanwhile.
  static Output Borrow(int fd);
  // Opens `file` for appending; does not wait for the reader of a named pipe. Without a descriptor
  // (ok() is false, errno says why) if that fails.
  static Output Append(const std::string& file);
  // A duplicate of `fd`.
  static Output Duplicate(int fd);

  bool ok() const { return file_->fd >= 0; }
  // Whether both write to the same file.
  bool IsSameFile(const Output& other) const;
  // Writes all of `text`. While that is not possible, asks `keep_waiting` every now and then. False
  // if a part was not written, because of an error or because `keep_waiting` returned false.
  bool Write(absl::string_view text, absl::FunctionRef<bool()> keep_waiting);
  // The most bytes to write at a time so that lines of other writers do not come between.
  size_t WholeBytes();

 private:
  enum class Kind : uint8_t { kUnknown, kFile, kPipe, kPolledPipe, kSocket, kTerminal };
  struct File {
    ~File();
    int fd = -1;
    bool owned = false;
  };

  Output() : file_(std::make_shared<File>()) {}
  // Finds out what the descriptor is at present.
  void Look();
  // As write(2), but EAGAIN instead of waiting for a reader.
  ssize_t Try(absl::string_view text);

  std::shared_ptr<File> file_;
  std::shared_ptr<File> terminal_;  // kTerminal: the same, opened so that it does not block
  Kind kind_ = Kind::kUnknown;
  dev_t device_ = 0;  // of what Look has seen
  ino_t inode_ = 0;
};

// What became of lines. Thread-safe; outlives the writers that count here.
struct LineCounts {
  std::atomic<uint64_t> waiting{0};  // added and neither written nor dropped
  std::atomic<uint64_t> dropped{0};  // found no room, or could not be written
};

// The queue and the thread. Thread-safe.
template <typename Item>
class LineWriter {
 public:
  struct Options {
    const char* thread_name = "";
    // Of what waits, in the unit of `cost`.
    size_t most = 0;
    // Appends the line of an item, on the writer's thread.
    std::function<void(const Item&, std::string*)> format;
    // Unless null, makes a line that says how many lines are missing where it is written.
    std::function<std::string(uint64_t)> missing;
    // How long the end of the writer waits for a reader.
    Duration last_words = std::chrono::seconds(2);
  };

  // `counts` outlives the writer. Throws std::system_error if there is no thread.
  LineWriter(Options options, Output output, LineCounts* counts)
      : options_(std::move(options)),
        counts_(counts),
        output_(std::move(output)),
        thread_(StartThread({.name = options_.thread_name}, [this] { Run(); })) {}
  // Writes what waits, as long as that takes no longer than options.last_words.
  ~LineWriter() {
    {
      MutexLock lock(&mu_);
      give_up_ = Clock::Real()->Now() + options_.last_words;
      changed_.NotifyAll();
    }
    thread_.join();
  }
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Never blocks. The item is dropped if what waits would cost more than the most allowed, of which
  // items that are not `urgent` leave an eighth to others; the only item may cost any amount.
  void Add(Item item, size_t cost, bool urgent = true) noexcept ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    const size_t room = urgent ? options_.most : options_.most - options_.most / 8;
    if (waiting_cost_ > 0 && waiting_cost_ + cost > room) {
      CountDropped(1);
      return;
    }
    try {
      queue_.push_back({std::move(item), cost});
    } catch (const std::bad_alloc&) {
      CountDropped(1);
      return;
    }
    waiting_cost_ += cost;
    ++added_;
    counts_->waiting.fetch_add(1, std::memory_order_relaxed);
    if (queue_.size() == 1) changed_.NotifyAll();
  }

  // What is added from now on goes to `output`.
  void Use(Output output) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    if (!next_.has_value()) for_old_output_ = queue_.size();
    next_ = std::move(output);
    changed_.NotifyAll();
  }

  // Waits until what was added before has been written, or until `until`.
  void Flush(TimePoint until) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    const uint64_t before = added_;
    while (done_ < before && Clock::Real()->Now() < until) {
      Clock::Real()->Wait(&written_, &mu_, until);
    }
  }

 private:
  struct Waiting {
    Item item;
    size_t cost;
  };
  // Lines are written together, up to about so many bytes.
  static constexpr size_t kWriteBytes = 64 << 10;

  void CountDropped(uint64_t lines) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    counts_->dropped.fetch_add(lines, std::memory_order_relaxed);
    untold_ += lines;
  }

  void Run() ABSL_LOCKS_EXCLUDED(mu_) {
    BlockBrokenPipe();
    std::vector<Waiting> items;
    bool failing = false;  // nothing could be written the last time
    while (true) {
      std::optional<Output> next;
      size_t for_old_output = 0;
      uint64_t untold = 0;
      {
        MutexLock lock(&mu_);
        while (queue_.empty() && !next_.has_value() && (untold_ == 0 || failing)) {
          if (give_up_ != TimePoint::max()) return;
          changed_.Wait(&mu_);
        }
        items.swap(queue_);
        next.swap(next_);
        for_old_output = next.has_value() ? for_old_output_ : items.size();
        untold = std::exchange(untold_, 0);
      }
      WriteItems(items.data(), items.data() + for_old_output);
      if (next.has_value()) output_ = *std::move(next);
      WriteItems(items.data() + for_old_output, items.data() + items.size());
      items.clear();
      failing = untold > 0 && !TellOfMissing(untold);
    }
  }

  void WriteItems(Waiting* begin, Waiting* end) ABSL_LOCKS_EXCLUDED(mu_) {
    if (begin == end) return;
    const size_t most = std::min(kWriteBytes, output_.WholeBytes());
    std::string text;
    Waiting* first = begin;  // of those in `text`
    uint64_t lost = 0;       // of those that `text` should hold
    for (Waiting* one = begin; one != end; ++one) {
      const size_t before = text.size();
      const bool formatted = Format(one->item, &text);
      one->item = Item();
      if (before > 0 && text.size() > most) {
        Written(first, one, WriteText(absl::string_view(text).substr(0, before)), lost);
        text.erase(0, before);
        first = one;
        lost = 0;
      }
      if (!formatted) ++lost;
    }
    Written(first, end, WriteText(text), lost);
  }

  // False, and `*text` is as it was, if there is no memory for the line.
  bool Format(const Item& item, std::string* text) const {
    const size_t before = text->size();
    try {
      options_.format(item, text);
      text->push_back('\n');
      return true;
    } catch (const std::bad_alloc&) {
      text->resize(before);
      return false;
    }
  }

  bool WriteText(absl::string_view text) ABSL_LOCKS_EXCLUDED(mu_) {
    return output_.Write(text, [this] {
      MutexLock lock(&mu_);
      return give_up_ == TimePoint::max() || Clock::Real()->Now() < give_up_;
    });
  }

  // These have left the queue. `lost`: so many of them are missing in what was written.
  void Written(const Waiting* begin, const Waiting* end, bool written, uint64_t lost)
      ABSL_LOCKS_EXCLUDED(mu_) {
    const auto count = static_cast<uint64_t>(end - begin);
    size_t cost = 0;
    for (const Waiting* one = begin; one != end; ++one) cost += one->cost;
    MutexLock lock(&mu_);
    waiting_cost_ -= cost;
    done_ += count;
    counts_->waiting.fetch_sub(count, std::memory_order_relaxed);
    CountDropped(written ? lost : count);
    written_.NotifyAll();
  }

  // False if that cannot be written; a later line will say it.
  bool TellOfMissing(uint64_t lines) ABSL_LOCKS_EXCLUDED(mu_) {
    if (options_.missing == nullptr) return true;
    try {
      if (WriteText(options_.missing(lines) + "\n")) return true;
    } catch (const std::bad_alloc&) {
    }
    MutexLock lock(&mu_);
    untold_ += lines;
    return false;
  }

  const Options options_;
  LineCounts* const counts_;
  Output output_;  // the thread's
  Mutex mu_;
  CondVar changed_;
  CondVar written_;
  std::vector<Waiting> queue_ ABSL_GUARDED_BY(mu_);
  size_t waiting_cost_ ABSL_GUARDED_BY(mu_) = 0;  // of the queue, and of what is being written
  uint64_t added_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t done_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t untold_ ABSL_GUARDED_BY(mu_) = 0;  // dropped, and no line says so yet
  std::optional<Output> next_ ABSL_GUARDED_BY(mu_);
  size_t for_old_output_ ABSL_GUARDED_BY(mu_) = 0;  // so many of the queue come before `next_`
  TimePoint give_up_ ABSL_GUARDED_BY(mu_) = TimePoint::max();  // set: the writer ends
  std::thread thread_;                                         // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_BASE_LINE_WRITER_H_
