// What the two echo servers share: their three options and their answer, which is a fixed head
// followed by the last bytes of the request (its tensor). Immutable after Parse.
#ifndef NEREID_BENCH_LIMITS_ECHO_OPTIONS_H_
#define NEREID_BENCH_LIMITS_ECHO_OPTIONS_H_

#include <absl/strings/numbers.h>
#include <absl/strings/strip.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace nereid::bench {

struct EchoOptions {
  int port = 0;
  std::string head;       // in front of the tensor in every answer
  size_t tail_bytes = 0;  // last bytes of the request, copied to the end of the answer

  // --port=N --head=FILE --tail-bytes=N. None, and a line on stderr, if one is wrong.
  static std::optional<EchoOptions> Parse(int argc, const char* const* argv) {
    EchoOptions options;
    bool ok = argc == 4;
    for (int i = 1; i < argc; ++i) {
      absl::string_view word = argv[i];
      if (absl::ConsumePrefix(&word, "--port=")) {
        ok = ok && absl::SimpleAtoi(word, &options.port);
      } else if (absl::ConsumePrefix(&word, "--tail-bytes=")) {
        ok = ok && absl::SimpleAtoi(word, &options.tail_bytes);
      } else if (absl::ConsumePrefix(&word, "--head=")) {
        std::ifstream file(std::string(word), std::ios::binary);
        ok = ok && file.good();
        options.head.assign(std::istreambuf_iterator<char>(file), {});
      } else {
        ok = false;
      }
    }
    if (ok) return options;
    std::fprintf(stderr, "usage: %s --port=N --head=FILE --tail-bytes=N\n", argv[0]);
    return std::nullopt;
  }
};

}  // namespace nereid::bench

#endif  // NEREID_BENCH_LIMITS_ECHO_OPTIONS_H_
