// SPDX-License-Identifier: Apache-2.0
// Plots as SVG for a page. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_BENCH_SVG_PLOT_H_
#define NEREID_APPS_WORKSHOP_BENCH_SVG_PLOT_H_

#include <absl/strings/string_view.h>

#include <string>
#include <vector>

namespace nereid::bench {

struct PlotPoint {
  double x = 0;
  double y = 0;
  std::string label;  // beside the point; empty: none
};

struct PlotLine {
  std::string name;  // in the legend
  std::vector<PlotPoint> points;
  bool dots = false;  // points by themselves, not joined
};

struct Plot {
  std::string title;
  std::string x_title;
  std::string y_title;
  std::vector<PlotLine> lines;
  // Texts at the x axis in place of numbers; points' x are then 0, 1, 2, ...
  std::vector<std::string> x_labels;
};

// An <svg> element whose colours are classes of the page: line0, line1, ... Axes begin at 0. Empty
// if no line has a point.
std::string SvgPlot(const Plot& plot);

// Numbers from 0 to at least `most`, equally far apart and easy to read; four to ten of them.
std::vector<double> AxisTicks(double most);

// `text` as the content of an HTML element or of an attribute in double quotes.
std::string HtmlEscaped(absl::string_view text);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_SVG_PLOT_H_
