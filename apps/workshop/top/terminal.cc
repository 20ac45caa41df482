// SPDX-License-Identifier: Apache-2.0
#include "top/terminal.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace nereid {
namespace {

constexpr char kEnterScreen[] = "\033[?1049h\033[?25l";  // another screen, without a cursor
constexpr char kLeaveScreen[] = "\033[?25h\033[?1049l";
constexpr char kHome[] = "\033[H";
constexpr char kEndOfLine[] = "\033[K\n";
constexpr char kEndOfScreen[] = "\033[J";
constexpr size_t kUsualWidth = 80;
constexpr size_t kUsualHeight = 24;
constexpr size_t kMostColumns = 10'000;

constexpr int kCaught[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP};

// What the handler writes to and Wait reads from; created once per process. A signal's number is a
// byte.
int g_signals[2] = {-1, -1};
static_assert(SIGWINCH < 128 && SIGTSTP < 128);

extern "C" void OnTerminalSignal(int number) {
  const int saved = errno;
  const char byte = static_cast<char>(number);
  // The pipe is full only if a thousand signals wait, of which any will do.
  (void)!write(g_signals[1], &byte, 1);
  errno = saved;
}

void Catch(int number) {
  struct sigaction action = {};
  action.sa_handler = &OnTerminalSignal;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

void WriteOut(const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(STDOUT_FILENO, text.data() + written, text.size() - written);
    if (n < 0 && errno != EINTR) return;  // the terminal has gone, which SIGHUP says
    if (n > 0) written += static_cast<size_t>(n);
  }
}

}  // namespace

Terminal::Terminal() {
  if (pipe2(g_signals, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  has_keys_ = isatty(STDIN_FILENO) != 0 && tcgetattr(STDIN_FILENO, &before_) == 0;
  for (const int number : kCaught) Catch(number);
  Enter();
}

Terminal::~Terminal() {
  Leave();
  for (const int number : kCaught) std::signal(number, SIG_DFL);
  for (int& fd : g_signals) close(std::exchange(fd, -1));
}

void Terminal::Enter() {
  if (has_keys_) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // keys at once; Ctrl-C stays a signal
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  WriteOut(kEnterScreen);
}

void Terminal::Leave() {
  WriteOut(kLeaveScreen);
  if (has_keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Terminal::Size Terminal::size() const {
  winsize window = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) window = {};
  const size_t columns = ColumnsOfEnvironment();
  Size size;
  size.width = window.ws_col > 0 ? window.ws_col : columns > 0 ? columns : kUsualWidth;
  size.height = window.ws_row > 0 ? window.ws_row : kUsualHeight;
  return size;
}

void Terminal::Show(const std::vector<std::string>& lines) {
  std::string text = kHome;
  for (size_t i = 0; i < lines.size(); ++i) {
    // No end of line after the last one, which would move the screen up.
    absl::StrAppend(&text, lines[i], i + 1 < lines.size() ? kEndOfLine : "\033[K");
  }
  WriteOut(text + kEndOfScreen);
}

Terminal::Event Terminal::OnSignal(int number) {
  if (number == SIGWINCH) return {Event::kResized};
  if (number != SIGTSTP) return {Event::kEnd};
  Leave();
  raise(SIGSTOP);  // Ctrl-Z; goes on here
  Enter();
  return {Event::kResized};
}

Terminal::Event Terminal::OnKey() {
  char key = 0;
  const ssize_t n = read(STDIN_FILENO, &key, 1);
  if (n == 1) return {Event::kKey, key};
  if (n == 0 || errno != EINTR) has_keys_ = false;  // nobody types there any more
  return {};
}

Terminal::Event Terminal::Wait(Duration time) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(time).count();
  pollfd fds[2] = {{g_signals[0], POLLIN, 0}, {has_keys_ ? STDIN_FILENO : -1, POLLIN, 0}};
  if (poll(fds, 2, static_cast<int>(ms)) <= 0) return {};
  char number = 0;
  if (fds[0].revents != 0 && read(g_signals[0], &number, 1) == 1) return OnSignal(number);
  return fds[1].revents != 0 ? OnKey() : Event{};
}

size_t ColumnsOfEnvironment() {
  const char* const columns = std::getenv("COLUMNS");
  uint64_t width = 0;
  if (columns == nullptr || !absl::SimpleAtoi(columns, &width) || width > kMostColumns) return 0;
  return static_cast<size_t>(width);
}

}  // namespace nereid
