// SPDX-License-Identifier: Apache-2.0
#include "base/log_tail.h"

#include <algorithm>
#include <utility>

namespace nereid {
namespace {

constexpr char kCut[] = "...";

void CutTo(size_t most, std::string* text) {
  if (text->size() <= most) return;
  text->resize(most);
  text->append(kCut);
  text->shrink_to_fit();
}

size_t BytesOf(const LogLine& line) {
  return sizeof line + line.place.capacity() + line.message.capacity() +
         line.request_id.capacity() + line.model.capacity();
}

}  // namespace

LogTail* LogTail::Global() {
  static LogTail* const tail = new LogTail;
  return tail;
}

void LogTail::Add(LogLine line) {
  CutTo(kMostMessage, &line.message);
  CutTo(kMostName, &line.request_id);
  CutTo(kMostName, &line.model);
  const size_t bytes = BytesOf(line);
  MutexLock lock(&mu_);
  line.number = last_ + 1;
  lines_.push_back(std::move(line));
  ++last_;
  bytes_ += bytes;
  while (lines_.size() > kMostLines || bytes_ > kMostBytes) {
    bytes_ -= BytesOf(lines_.front());
    lines_.pop_front();
  }
}

LogTail::Lines LogTail::Read(std::optional<uint64_t> since, size_t limit) const {
  Lines read;
  MutexLock lock(&mu_);
  const uint64_t first = last_ - lines_.size();  // the number before that of the oldest line
  size_t from = 0;
  if (since.has_value()) {
    from = static_cast<size_t>(std::clamp(*since, first, last_) - first);
    read.dropped = first - std::min(first, *since);
  } else {
    from = lines_.size() - std::min(lines_.size(), limit);
  }
  const size_t count = std::min(limit, lines_.size() - from);
  read.lines.assign(lines_.begin() + static_cast<ptrdiff_t>(from),
                    lines_.begin() + static_cast<ptrdiff_t>(from + count));
  return read;
}

}  // namespace nereid
