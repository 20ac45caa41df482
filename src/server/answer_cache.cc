// SPDX-License-Identifier: Apache-2.0
#include "server/answer_cache.h"

#include <iterator>
#include <utility>

namespace nereid {

std::shared_ptr<AnswerCache::Entry> AnswerCache::Find(absl::string_view question, TimePoint now) {
  MutexLock lock(&mu_);
  for (auto it = entries_.begin(); it != entries_.end();) {
    const bool old = now - it->second.last >= kKept && it->second.entry.use_count() == 1;
    it = old && it->first != question ? entries_.erase(it) : std::next(it);
  }
  Asked& asked = entries_[std::string(question)];
  asked.last = now;
  if (asked.entry == nullptr) asked.entry = std::make_shared<Entry>();
  return asked.entry;
}

AnswerCache::Answer AnswerCache::Get(absl::string_view question, absl::FunctionRef<Answer()> make) {
  const std::shared_ptr<Entry> entry = Find(question, clock_->Now());
  MutexLock lock(&entry->mu);
  if (!entry->made.has_value() || clock_->Now() - *entry->made >= kKept) {
    Answer answer = make();
    if (!answer.ok()) return answer;
    entry->text = *std::move(answer);
    entry->made = clock_->Now();
  }
  return entry->text;
}

size_t AnswerCache::size() const {
  MutexLock lock(&mu_);
  return entries_.size();
}

}  // namespace nereid
