// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/torch_error.h"

namespace nereid_backend {
namespace {

constexpr std::string_view kInterpreter = "The following operation failed in the TorchScript";

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \n\t\r";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// The text without the stack of C++ frames and the advice to developers that PyTorch appends.
std::string_view WithoutFrames(std::string_view text) {
  for (const std::string_view mark :
       {"\nException raised from ", "\nC++ CapturedTraceback:", " This is an internal miniz error",
        " (Could this error message be improved?"}) {
    text = text.substr(0, text.find(mark));
  }
  return text;
}

// The line of the network's code above the innermost mark of tildes.
std::string_view FailedLine(std::string_view text) {
  const size_t mark = text.rfind("~~~");
  if (mark == std::string_view::npos) return "";
  const size_t mark_line = text.rfind('\n', mark);
  if (mark_line == std::string_view::npos || mark_line == 0) return "";
  const size_t line = text.rfind('\n', mark_line - 1);
  return Trim(text.substr(line == std::string_view::npos ? 0 : line, mark_line - line));
}

std::string OnOneLine(std::string_view text) {
  std::string line;
  for (const char c : Trim(text)) {
    const bool blank = c == '\n' || c == '\t' || c == '\r';
    if (blank && !line.empty() && line.back() == ' ') continue;
    line.push_back(blank ? ' ' : c);
  }
  constexpr size_t kLongest = 1000;
  if (line.size() > kLongest) line = line.substr(0, kLongest) + "...";
  return line;
}

}  // namespace

std::string ShortMessage(std::string_view what) {
  const std::string_view text = WithoutFrames(what);
  if (text.find(kInterpreter) == std::string_view::npos) return OnOneLine(text);
  // The text consists of "Traceback of TorchScript ...", code with marks, and "RuntimeError: why".
  constexpr std::string_view kWhy = "RuntimeError: ";
  const size_t why = text.rfind(kWhy);
  const size_t last = why != std::string_view::npos ? why : text.rfind('\n', Trim(text).size() - 1);
  if (last == std::string_view::npos) return OnOneLine(text);
  const std::string_view reason = text.substr(last + (why == last ? kWhy.size() : 0));
  const std::string_view line = FailedLine(text.substr(0, last));
  return line.empty() ? OnOneLine(reason)
                      : StrCat(OnOneLine(reason), " (in '", OnOneLine(line), "')");
}

}  // namespace nereid_backend
