// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/text/text_stream.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace nereid_backend {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
// The window begins anew after so many tokens, with the last ones.
constexpr size_t kLongestWindow = 24;
constexpr size_t kShortestWindow = 6;

// A character at the beginning of `text`.
struct Utf8Form {
  size_t length = 0;   // of the character, or of the bytes that are none
  bool valid = false;  // whether it is one
  bool cut = false;    // whether it is the beginning of one
};

Utf8Form FirstForm(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {1, true, false};
  if (lead < 0xC2 || lead > 0xF4) return {1, false, false};
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (size_t i = 1; i < length; ++i) {
    if (i == text.size()) return {i, false, true};
    // The second byte excludes surrogates, what is too long a form, and what is beyond Unicode.
    const uint8_t least = i > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t most = i > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(i) < least || byte(i) > most) return {i, false, false};
  }
  return {length, true, false};
}

}  // namespace

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const Utf8Form form = FirstForm(text);
    valid += form.valid ? text.substr(0, form.length) : kReplacement;
    text.remove_prefix(form.length);
  }
  return valid;
}

size_t WholeCharacters(std::string_view text) {
  std::string_view left = text;
  for (int i = 0; i < 3 && left.ends_with(kReplacement); ++i) {
    left.remove_suffix(kReplacement.size());
  }
  if (left.size() < text.size()) return left.size();
  // The last character begins in the last four bytes.
  for (size_t back = 1; back <= std::min<size_t>(text.size(), 4); ++back) {
    const auto byte = static_cast<uint8_t>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    return FirstForm(text.substr(text.size() - back)).cut ? text.size() - back : text.size();
  }
  return text.size();
}

TextStream::TextStream(Decode decode, std::span<const Token> prompt, std::vector<std::string> stops,
                       bool include_stop)
    : decode_(std::move(decode)), stops_(std::move(stops)), include_stop_(include_stop) {
  const auto end = prompt.last(std::min(prompt.size(), kPromptTokens));
  const std::string text = decode_(end);
  if (WholeCharacters(text) != text.size()) return;  // the prompt ends within a character
  window_.assign(end.begin(), end.end());
  given_ = text.size();
}

void TextStream::Add(Token token, bool may_stop) {
  if (stopped_) return;
  window_.push_back(token);
  const std::string text = decode_(window_);
  const size_t whole = WholeCharacters(text);
  if (whole > given_) AddText(std::string_view(text).substr(given_, whole - given_), may_stop);
  given_ = std::max(given_, whole);
  if (window_.size() < kLongestWindow || whole != text.size()) return;
  window_.erase(window_.begin(), window_.end() - kShortestWindow);
  given_ = decode_(window_).size();
}

void TextStream::AddText(std::string_view text, bool may_stop) {
  held_ += ValidUtf8(text);
  if (!may_stop) {
    ready_ += std::exchange(held_, "");
    return;
  }
  size_t first = std::string::npos;
  size_t length = 0;
  for (const std::string& stop : stops_) {
    const size_t found = held_.find(stop);
    if (found < first) first = found, length = stop.size();
  }
  stopped_ = first != std::string::npos;
  const size_t passed = stopped_ ? first + (include_stop_ ? length : 0) : held_.size() - HeldBack();
  ready_.append(held_, 0, passed);
  held_.erase(0, stopped_ ? std::string::npos : passed);
}

size_t TextStream::HeldBack() const {
  size_t longest = 0;
  for (const std::string& stop : stops_) {
    for (size_t length = std::min(stop.size() - 1, held_.size()); length > longest; --length) {
      if (held_.ends_with(std::string_view(stop).substr(0, length))) longest = length;
    }
  }
  return longest;
}

void TextStream::Finish() {
  if (stopped_) return;
  if (!window_.empty()) {
    const std::string text = decode_(window_);
    if (text.size() > given_) AddText(std::string_view(text).substr(given_), true);
  }
  ready_ += std::exchange(held_, "");
}

std::string TextStream::Take() { return std::exchange(ready_, ""); }

}  // namespace nereid_backend
