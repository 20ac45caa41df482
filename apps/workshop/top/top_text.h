// SPDX-License-Identifier: Apache-2.0
// What `nereid top` prints. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_TOP_TOP_TEXT_H_
#define NEREID_APPS_WORKSHOP_TOP_TOP_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "top/top_view.h"

namespace nereid {

struct TopLayout {
  size_t width = 0;   // characters of a line; 0: as many as it takes
  size_t height = 0;  // lines; 0: as many as it takes
  TopSort sort = TopSort::kModel;
  bool colour = false;  // with escape sequences for a terminal
};

// The lines, without ends of lines: one of the server at `url`, then a table with a row for each
// version of a model. Columns that do not fit are left out, the least important first; rows that do
// not fit are counted.
std::vector<std::string> TopLines(const std::string& url, TopView view, const TopLayout& layout);

// `text` within a line of `width` characters (0: of any), without control characters.
std::string FitLine(const std::string& text, size_t width);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TOP_TOP_TEXT_H_
