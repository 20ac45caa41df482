// SPDX-License-Identifier: Apache-2.0
#include "bench/svg_plot.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <cmath>

namespace nereid::bench {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 320;
constexpr double kLeft = 70;
constexpr double kRight = 20;
constexpr double kTop = 34;
constexpr double kBottom = 52;
constexpr size_t kLineColours = 6;

// Maps values to places in the picture.
class Axes {
 public:
  explicit Axes(const Plot& plot) : labelled_(!plot.x_labels.empty()) {
    double most_x = 0;
    double most_y = 0;
    for (const PlotLine& line : plot.lines) {
      for (const PlotPoint& point : line.points) {
        most_x = std::max(most_x, point.x);
        most_y = std::max(most_y, point.y);
      }
    }
    if (labelled_) {
      most_x = static_cast<double>(plot.x_labels.size() - 1);
      for (size_t i = 0; i < plot.x_labels.size(); ++i) {
        x_ticks_.push_back({static_cast<double>(i), plot.x_labels[i]});
      }
      x_end_ = std::max(most_x, 1.0);
    } else {
      x_end_ = AddTicks(most_x, &x_ticks_);
    }
    y_end_ = AddTicks(most_y, &y_ticks_);
  }

  double X(double value) const { return kLeft + value / x_end_ * (kWidth - kLeft - kRight); }
  double Y(double value) const {
    return kHeight - kBottom - value / y_end_ * (kHeight - kTop - kBottom);
  }

  std::string Svg() const {
    std::string svg;
    for (const Tick& tick : y_ticks_) {
      absl::StrAppendFormat(&svg,
                            "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
                            kLeft, kWidth - kRight, Y(tick.value), Y(tick.value), kLeft - 6,
                            Y(tick.value) + 4, tick.text);
    }
    for (const Tick& tick : x_ticks_) {
      absl::StrAppendFormat(&svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>",
                            X(tick.value), kHeight - kBottom + 18, HtmlEscaped(tick.text));
    }
    return svg;
  }

 private:
  struct Tick {
    double value;
    std::string text;
  };

  static double AddTicks(double most, std::vector<Tick>* ticks) {
    for (const double value : AxisTicks(most)) {
      ticks->push_back({value, absl::StrFormat("%g", value)});
    }
    return ticks->back().value;
  }

  const bool labelled_;
  double x_end_ = 1;
  double y_end_ = 1;
  std::vector<Tick> x_ticks_;
  std::vector<Tick> y_ticks_;
};

std::string LineSvg(const PlotLine& line, size_t number, const Axes& axes) {
  std::string path;
  std::string marks;
  const size_t colour = number % kLineColours;
  for (const PlotPoint& point : line.points) {
    const double x = axes.X(point.x);
    const double y = axes.Y(point.y);
    if (line.dots) {
      absl::StrAppendFormat(&marks, "<circle class=\"mark%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>",
                            colour, x, y);
    } else {
      absl::StrAppendFormat(&path, "%s%.1f %.1f", path.empty() ? "M" : "L", x, y);
    }
    if (point.label.empty()) continue;
    // Long labels have more space towards the middle.
    const bool right = x > kWidth / 2;
    absl::StrAppendFormat(&marks,
                          "<circle class=\"mark%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>"
                          "<text x=\"%.1f\" y=\"%.1f\"%s>%s</text>",
                          colour, x, y, right ? x - 6 : x + 6, y - 6,
                          right ? " text-anchor=\"end\"" : "", HtmlEscaped(point.label));
  }
  return absl::StrFormat("<path class=\"line%d\" d=\"%s\"/>%s", colour, path, marks);
}

std::string Legend(const Plot& plot) {
  std::string svg;
  double x = kLeft;
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    absl::StrAppendFormat(&svg,
                          "<line class=\"line%d\" x1=\"%.1f\" x2=\"%.1f\" y1=\"18\" y2=\"18\"/>"
                          "<text x=\"%.1f\" y=\"22\">%s</text>",
                          i % kLineColours, x, x + 18, x + 24, HtmlEscaped(plot.lines[i].name));
    x += 44 + 7.0 * static_cast<double>(plot.lines[i].name.size());
  }
  return svg;
}

}  // namespace

std::string HtmlEscaped(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::vector<double> AxisTicks(double most) {
  if (!(most > 0) || !std::isfinite(most)) most = 1;
  const double power = std::pow(10, std::floor(std::log10(most)));
  double step = power;
  // Between 4 and 10 steps.
  for (const double factor : {0.1, 0.2, 0.25, 0.5, 1.0}) {
    if (most / (power * factor) <= 9) {
      step = power * factor;
      break;
    }
  }
  std::vector<double> ticks = {0};
  while (ticks.back() < most) ticks.push_back(static_cast<double>(ticks.size()) * step);
  return ticks;
}

std::string SvgPlot(const Plot& plot) {
  const bool empty = std::all_of(plot.lines.begin(), plot.lines.end(),
                                 [](const PlotLine& line) { return line.points.empty(); });
  if (empty) return "";
  const Axes axes(plot);
  std::string svg = absl::StrFormat("<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"%s\">",
                                    kWidth, kHeight, HtmlEscaped(plot.title));
  absl::StrAppend(&svg, axes.Svg());
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    if (!plot.lines[i].points.empty()) absl::StrAppend(&svg, LineSvg(plot.lines[i], i, axes));
  }
  absl::StrAppend(&svg, Legend(plot));
  absl::StrAppendFormat(&svg,
                        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>"
                        "<text transform=\"translate(14 %.1f) rotate(-90)\" "
                        "text-anchor=\"middle\">%s</text></svg>\n",
                        (kLeft + kWidth - kRight) / 2, kHeight - 10, HtmlEscaped(plot.x_title),
                        kHeight / 2, HtmlEscaped(plot.y_title));
  return svg;
}

}  // namespace nereid::bench
