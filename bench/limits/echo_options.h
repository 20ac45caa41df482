// SPDX-License-Identifier: Apache-2.0
// What the echo servers share: their options and their answer, which is a fixed head followed by
// the last bytes of the request (its tensor). Immutable after Parse.
#ifndef NEREID_BENCH_LIMITS_ECHO_OPTIONS_H_
#define NEREID_BENCH_LIMITS_ECHO_OPTIONS_H_

#include <absl/strings/numbers.h>
#include <absl/strings/strip.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>

namespace nereid::bench {

struct EchoOptions {
  static constexpr size_t kWholeMessage = std::numeric_limits<size_t>::max();

  int port = 0;
  std::string head;  // sent before the tensor in every answer
  // Last bytes of the request, copied to the end of the answer. Only nghttp2_echo answers with the
  // whole message.
  size_t tail_bytes = kWholeMessage;
  // Only of nghttp2_echo: so many messages answer each one, and each has the head and its part of
  // the tail.
  size_t responses = 1;

  // --port=N --head=FILE --tail-bytes=N; with `raw` (nghttp2_echo) the last two are optional, and
  // --responses=N is allowed. None, and a line on stderr, if one is wrong.
  static std::optional<EchoOptions> Parse(int argc, const char* const* argv, bool raw = false) {
    EchoOptions options;
    bool ok = true;
    bool has_head = false;
    for (int i = 1; i < argc; ++i) {
      absl::string_view word = argv[i];
      if (absl::ConsumePrefix(&word, "--port=")) {
        ok = ok && absl::SimpleAtoi(word, &options.port);
      } else if (absl::ConsumePrefix(&word, "--tail-bytes=")) {
        ok = ok && absl::SimpleAtoi(word, &options.tail_bytes);
      } else if (raw && absl::ConsumePrefix(&word, "--responses=")) {
        ok = ok && absl::SimpleAtoi(word, &options.responses);
      } else if (absl::ConsumePrefix(&word, "--head=")) {
        std::ifstream file(std::string(word), std::ios::binary);
        ok = ok && file.good();
        options.head.assign(std::istreambuf_iterator<char>(file), {});
        has_head = true;
      } else {
        ok = false;
      }
    }
    const bool whole = options.tail_bytes == kWholeMessage;
    ok = ok && options.port != 0 && (raw || (has_head && !whole));
    // Messages of any length cannot be divided into parts.
    ok = ok && options.responses > 0 && (options.responses == 1 || !whole);
    ok = ok && (whole || options.tail_bytes % options.responses == 0);
    if (ok) return options;
    std::fprintf(stderr, "usage: %s --port=N %s\n", argv[0],
                 raw ? "[--head=FILE] [--tail-bytes=N [--responses=N]], where the responses divide "
                       "the bytes"
                     : "--head=FILE --tail-bytes=N");
    return std::nullopt;
  }
};

}  // namespace nereid::bench

#endif  // NEREID_BENCH_LIMITS_ECHO_OPTIONS_H_
