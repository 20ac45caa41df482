// SPDX-License-Identifier: Apache-2.0
#include "top/top_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <utility>

#include "api/json_members.h"

namespace nereid {
namespace {

constexpr char kUnknown[] = "-";
constexpr size_t kGap = 2;  // between columns
constexpr size_t kMostNameWidth = 40;
// Instances that work for more than this share of the time are what requests wait for.
constexpr double kBusy = 0.9;

constexpr char kBold[] = "\033[1m";
constexpr char kRed[] = "\033[31m";
constexpr char kYellow[] = "\033[33m";
constexpr char kPlain[] = "\033[0m";

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Characters of UTF-8.
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

std::string CutTo(size_t width, const std::string& text) {
  if (WidthOf(text) <= width) return text;
  const size_t kept = width > 2 ? width - 2 : 0;
  size_t end = 0;
  for (size_t characters = 0; end < text.size(); ++end) {
    if (BeginsCharacter(text[end]) && characters++ == kept) break;
  }
  return absl::StrCat(text.substr(0, end), std::string(width - kept, '.'));
}

std::string Number(std::optional<double> number) {
  if (!number.has_value()) return kUnknown;
  return absl::StrFormat("%.*f", *number < 10 ? 1 : 0, *number);
}

std::string Percent(std::optional<double> share) {
  return share.has_value() ? absl::StrFormat("%.0f%%", *share * 100) : kUnknown;
}

std::string Time(std::optional<uint64_t> ns) {
  if (!ns.has_value()) return kUnknown;
  const double ms = static_cast<double>(*ns) / 1e6;
  if (ms >= 10'000) return absl::StrFormat("%.1fs", ms / 1000);
  return absl::StrFormat("%.*fms", ms < 10 ? 2 : 0, ms);
}

std::string Memory(uint64_t bytes) {
  if (bytes == 0) return kUnknown;
  const double mib = static_cast<double>(bytes) / (1 << 20);
  return mib < 10'000 ? absl::StrFormat("%.*fM", mib < 10 ? 1 : 0, mib)
                      : absl::StrFormat("%.1fG", mib / 1024);
}

std::string Uptime(uint64_t ns) {
  const uint64_t minutes = ns / 60'000'000'000;
  if (minutes == 0) return absl::StrCat(ns / 1'000'000'000, " s");
  if (minutes < 60) return absl::StrCat(minutes, " min");
  if (minutes < 48 * 60) return absl::StrFormat("%d h %02d min", minutes / 60, minutes % 60);
  return absl::StrFormat("%d d %d h", minutes / 1440, minutes / 60 % 24);
}

// A cell of a row that does not serve holds nothing but its name, its state and why.
struct Column {
  const char* title;
  bool left;       // aligned
  int importance;  // those with the lowest go first where there is no room
  std::string (*cell)(const TopRow& row);
  const char* (*colour)(const TopRow& row);  // null: none
};

const char* StateColour(const TopRow& row) { return row.state == "READY" ? nullptr : kYellow; }
const char* FailureColour(const TopRow& row) {
  return row.failures_per_s.value_or(0) > 0 ? kRed : nullptr;
}
const char* BusyColour(const TopRow& row) {
  return row.busy.value_or(0) >= kBusy ? kYellow : nullptr;
}
const char* NoColour(const TopRow&) { return nullptr; }

// Only of models that are loaded on demand.
constexpr char kMemory[] = "MEMORY";

constexpr Column kColumns[] = {
    {"MODEL", true, 99, [](const TopRow& r) { return Clean(r.model); }, &NoColour},
    {"VERSION", false, 60,
     [](const TopRow& r) { return r.version.empty() ? kUnknown : Clean(r.version); }, &NoColour},
    {"STATE", true, 70,
     [](const TopRow& r) { return r.state.empty() ? "NOT LOADED" : Clean(r.state); }, &StateColour},
    {"REQ/S", false, 98, [](const TopRow& r) { return Number(r.requests_per_s); }, &NoColour},
    {"FAIL/S", false, 90, [](const TopRow& r) { return Number(r.failures_per_s); }, &FailureColour},
    {"QUEUED", false, 85,
     [](const TopRow& r) { return r.serves ? absl::StrCat(r.queued) : kUnknown; }, &NoColour},
    {"BATCH", false, 50, [](const TopRow& r) { return Number(r.batch_size); }, &NoColour},
    {"BUSY", false, 80, [](const TopRow& r) { return Percent(r.busy); }, &BusyColour},
    {kMemory, false, 55, [](const TopRow& r) { return Memory(r.memory_bytes); }, &NoColour},
    {"QUEUE p50", false, 30, [](const TopRow& r) { return Time(r.queue_p50); }, &NoColour},
    {"QUEUE p99", false, 40, [](const TopRow& r) { return Time(r.queue_p99); }, &NoColour},
    {"INFER p50", false, 35, [](const TopRow& r) { return Time(r.compute_p50); }, &NoColour},
    {"INFER p99", false, 45, [](const TopRow& r) { return Time(r.compute_p99); }, &NoColour},
    {"BECAUSE", true, 20, [](const TopRow& r) { return Clean(r.because); }, &NoColour},
};
constexpr size_t kColumnCount = std::size(kColumns);

// Widths of the columns; 0: left out.
std::vector<size_t> ChooseWidths(const std::vector<TopRow>& rows, size_t width) {
  std::vector<size_t> widths;
  for (const Column& column : kColumns) {
    size_t widest = WidthOf(column.title);
    for (const TopRow& row : rows) widest = std::max(widest, WidthOf(column.cell(row)));
    widths.push_back(widest);
    const bool unknown = std::none_of(rows.begin(), rows.end(),
                                      [](const TopRow& row) { return row.memory_bytes > 0; });
    if (column.title == kMemory && unknown) widths.back() = 0;
  }
  widths[0] = std::min(widths[0], kMostNameWidth);
  if (width == 0) return widths;
  const auto total = [&] {
    size_t sum = 0;
    for (const size_t each : widths) sum += each == 0 ? 0 : each + kGap;
    return sum - kGap;
  };
  // The last column may be cut, as long as something of it is seen.
  constexpr size_t kLeast = 12;
  const size_t last = kColumnCount - 1;
  if (total() > width && total() - width + kLeast <= widths[last]) {
    widths[last] -= total() - width;
  }
  while (total() > width) {
    size_t least = 0;
    for (size_t i = 1; i < kColumnCount; ++i) {
      const bool less = least == 0 || kColumns[i].importance < kColumns[least].importance;
      if (widths[i] > 0 && less) least = i;
    }
    if (least == 0) break;
    widths[least] = 0;
  }
  widths[0] = std::min(widths[0], width);
  return widths;
}

// `row`: null for the titles.
std::string Line(const TopRow* row, const std::vector<size_t>& widths, bool colour) {
  std::string line;
  for (size_t i = 0; i < kColumnCount; ++i) {
    if (widths[i] == 0) continue;
    const Column& column = kColumns[i];
    const std::string text = CutTo(widths[i], row == nullptr ? column.title : column.cell(*row));
    const std::string space(widths[i] - WidthOf(text), ' ');
    const char* const code = colour && row != nullptr ? column.colour(*row) : nullptr;
    const std::string shown = code == nullptr ? text : absl::StrCat(code, text, kPlain);
    const std::string cell = column.left ? absl::StrCat(shown, space) : absl::StrCat(space, shown);
    absl::StrAppend(&line, i == 0 ? "" : std::string(kGap, ' '), cell);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return colour && row == nullptr ? absl::StrCat(kBold, line, kPlain) : line;
}

std::string ServerLine(const std::string& url, const TopView& view) {
  return absl::StrCat(url, "  ", view.server, "  up ", Uptime(view.uptime_ns), "  ",
                      Number(view.requests_per_s), " req/s  ", Number(view.failures_per_s),
                      " fail/s  ", view.in_flight, " open  ", view.queued, " queued",
                      view.restarted ? "  (it was started anew)" : "");
}

// How busy each GPU is, and how full its memory.
std::string GpuLine(const std::vector<LiveGpuAnswer>& gpus) {
  constexpr double kGib = 1024.0 * 1024 * 1024;
  std::string line;
  for (const LiveGpuAnswer& gpu : gpus) {
    absl::StrAppend(&line, line.empty() ? "" : "  ", "GPU ", gpu.id);
    if (gpu.failed) {
      line += " FAILED";
    } else if (gpu.utilization < 0) {
      absl::StrAppendFormat(&line, " %.1f GiB", static_cast<double>(gpu.memory_bytes) / kGib);
    } else {
      absl::StrAppendFormat(&line, " %.0f%% %.1f/%.1f GiB", gpu.utilization * 100,
                            static_cast<double>(gpu.memory_used_bytes) / kGib,
                            static_cast<double>(gpu.memory_bytes) / kGib);
    }
  }
  return line;
}

}  // namespace

std::string FitLine(const std::string& text, size_t width) {
  const std::string clean = Clean(text);
  return width == 0 ? clean : CutTo(width, clean);
}

std::vector<std::string> TopLines(const std::string& url, TopView view, const TopLayout& layout) {
  SortRows(layout.sort, &view.rows);
  std::vector<std::string> lines = {FitLine(ServerLine(url, view), layout.width)};
  if (!view.gpus.empty()) lines.push_back(FitLine(GpuLine(view.gpus), layout.width));
  lines.emplace_back();
  const size_t around = lines.size() + 2;  // lines besides the rows: also titles, what is left out
  uint64_t left_out = view.not_shown;
  const size_t most = layout.height > around ? layout.height - around : 1;
  if (layout.height > 0 && view.rows.size() > most) {
    left_out += view.rows.size() - most;
    view.rows.resize(most);
  }
  const std::vector<size_t> widths = ChooseWidths(view.rows, layout.width);
  lines.push_back(Line(nullptr, widths, layout.colour));
  for (const TopRow& row : view.rows) lines.push_back(Line(&row, widths, layout.colour));
  if (left_out > 0) lines.push_back(FitLine(absl::StrCat("and ", left_out, " more"), layout.width));
  if (view.rows.empty()) lines.push_back(FitLine("The server has no model.", layout.width));
  return lines;
}

}  // namespace nereid
