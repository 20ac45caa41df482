// SPDX-License-Identifier: Apache-2.0
#include "bench/html_page.h"

#include <absl/strings/str_cat.h>

namespace nereid::bench {
namespace {

// Colours that can be told apart without red and green.
constexpr char kBeforeTitle[] = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">)";

constexpr char kAfterTitle[] = R"(
<style>
:root { color-scheme: light dark; --text: #1b1f24; --back: #ffffff; --grid: #d0d7de;
  --c0: #0b62a4; --c1: #c25a00; --c2: #1a7f5a; --c3: #8250df; --c4: #9a6700; --c5: #57606a; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --back: #0d1117; --grid: #30363d;
  --c0: #6cb6ff; --c1: #f0954a; --c2: #57c99a; --c3: #c297ff; --c4: #e3b341; --c5: #9ea7b3; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--text); background: var(--back);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
pre { overflow-x: auto; font-size: 13px; }
svg { width: 100%; height: auto; margin: .5rem 0 1.5rem; }
svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
.grid { stroke: var(--grid); }
path, svg line { fill: none; stroke-width: 1.8; }
.line0 { stroke: var(--c0); } .line1 { stroke: var(--c1); } .line2 { stroke: var(--c2); }
.line3 { stroke: var(--c3); } .line4 { stroke: var(--c4); } .line5 { stroke: var(--c5); }
.mark0 { fill: var(--c0); } .mark1 { fill: var(--c1); } .mark2 { fill: var(--c2); }
.mark3 { fill: var(--c3); } .mark4 { fill: var(--c4); } .mark5 { fill: var(--c5); }
</style></head><body>
)";

}  // namespace

std::string HtmlHead(absl::string_view title) {
  return absl::StrCat(kBeforeTitle, "<title>", HtmlEscaped(title), "</title>", kAfterTitle);
}

std::string HtmlSection(const Plot& plot) {
  const std::string svg = SvgPlot(plot);
  if (svg.empty()) return "";
  return absl::StrCat("<h2>", HtmlEscaped(plot.title), "</h2>\n", svg);
}

}  // namespace nereid::bench
