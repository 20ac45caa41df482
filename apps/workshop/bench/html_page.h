// SPDX-License-Identifier: Apache-2.0
// What pages with results have in common. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_BENCH_HTML_PAGE_H_
#define NEREID_APPS_WORKSHOP_BENCH_HTML_PAGE_H_

#include <absl/strings/string_view.h>

#include <string>

#include "bench/svg_plot.h"

namespace nereid::bench {

// The page up to the beginning of its body. It needs nothing but itself.
std::string HtmlHead(absl::string_view title);
// A section with a plot; nothing without one.
std::string HtmlSection(const Plot& plot);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_HTML_PAGE_H_
