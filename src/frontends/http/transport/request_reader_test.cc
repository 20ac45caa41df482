// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/transport/request_reader.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "frontends/http/transport/testing/with_host.h"

namespace nereid::http {
namespace {

using Progress = RequestReader::Progress;

void Append(transport::InputBuffer* input, absl::string_view text) {
  const std::string bytes = WithHost(text);
  const absl::Span<char> space = input->Prepare(1 << 20);
  ASSERT_GE(space.size(), bytes.size());
  std::memcpy(space.data(), bytes.data(), bytes.size());
  input->Commit(bytes.size());
}

// The failure of a reader with `options` that gets `bytes`.
RequestReader::Failure FailureOf(const HttpServerOptions& options, absl::string_view bytes) {
  RequestReader reader(&options);
  transport::InputBuffer input;
  Append(&input, bytes);
  EXPECT_EQ(reader.Consume(&input), Progress::kFailed) << bytes;
  return reader.failure();
}

TEST(RequestReaderTest, ReadsHeadByteByByte) {
  HttpServerOptions options;
  RequestReader reader(&options);
  transport::InputBuffer input;
  const absl::string_view bytes =
      "POST http://host/v2/models?x=1 HTTP/1.1\r\nHost: a\r\nX-Empty:\r\nX-Two:  b c \r\n"
      "Content-Length: 2\r\n\r\nok";
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    Append(&input, bytes.substr(i, 1));
    ASSERT_EQ(reader.Consume(&input), Progress::kNeedMore) << i;
  }
  Append(&input, bytes.substr(bytes.size() - 1));
  ASSERT_EQ(reader.Consume(&input), Progress::kComplete);
  const auto request = reader.TakeRequest();
  EXPECT_EQ(request->method(), HttpMethod::kPost);
  EXPECT_EQ(request->path(), "/v2/models");
  EXPECT_EQ(request->FindHeader("host"), "a");
  EXPECT_EQ(request->FindHeader("x-empty"), "");
  EXPECT_EQ(request->FindHeader("X-TWO"), "b c");
  EXPECT_EQ(request->FindHeader("x-three"), std::nullopt);
  EXPECT_EQ(request->body_text(), "ok");
}

TEST(RequestReaderTest, ChunkedRequestByteByByte) {
  // The case of the empty body was found by fuzzing: an assertion in Beast failed.
  for (const absl::string_view body : {"", "2\r\nok\r\n"}) {
    HttpServerOptions options;
    RequestReader reader(&options);
    transport::InputBuffer input;
    const std::string bytes = absl::StrCat(
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", body, "0\r\n\r\n");
    for (size_t i = 0; i + 1 < bytes.size(); ++i) {
      Append(&input, absl::string_view(bytes).substr(i, 1));
      ASSERT_EQ(reader.Consume(&input), Progress::kNeedMore) << i << reader.failure().message;
    }
    Append(&input, bytes.substr(bytes.size() - 1));
    ASSERT_EQ(reader.Consume(&input), Progress::kComplete);
    EXPECT_EQ(reader.TakeRequest()->body_text(), body.empty() ? "" : "ok");
    EXPECT_TRUE(input.empty());
  }
}

TEST(RequestReaderTest, ReceivesBodyIntoItsFinalAlignedPlace) {
  HttpServerOptions options;
  options.body_split_header = "Inference-Header-Content-Length";
  RequestReader reader(&options);
  transport::InputBuffer input;
  constexpr size_t kJson = 37;
  constexpr size_t kBody = 4 << 20;
  Append(&input, absl::StrCat("POST / HTTP/1.1\r\nInference-Header-Content-Length: ", kJson,
                              "\r\nContent-Length: ", kBody, "\r\n\r\n", std::string(100, 'x')));
  ASSERT_EQ(reader.Consume(&input), Progress::kNeedMore);
  EXPECT_TRUE(input.empty());
  // Only the 100 bytes that came with the head were copied. The rest is received in place.
  const char* const first = reader.DirectBody().data();
  size_t received = 100;
  Progress progress = Progress::kNeedMore;
  while (progress == Progress::kNeedMore) {
    const absl::Span<char> direct = reader.DirectBody();
    ASSERT_FALSE(direct.empty());
    EXPECT_EQ(direct.data(), first + received - 100) << "not moved";
    std::memset(direct.data(), 'y', direct.size());
    reader.DirectBodyReceived(direct.size());
    received += direct.size();
    progress = reader.Consume(&input);
  }
  ASSERT_EQ(progress, Progress::kComplete);
  const auto request = reader.TakeRequest();
  const auto body = request->body();
  EXPECT_EQ(body->data() + 100, first);
  EXPECT_EQ(body->size(), kBody);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(body->data() + kJson) % ReceivedBody::kAlignment, 0u);
  EXPECT_EQ(body->text().substr(98, 4), "xxyy");
}

TEST(RequestReaderTest, TheSplitMayStandBehindAPrefix) {
  HttpServerOptions options;
  options.body_split_header = "Content-Type";
  options.body_split_prefix = "binary;size=";
  for (const auto& [type, split] : {std::pair("binary;size=5", 5), {"text/plain", 0}}) {
    RequestReader reader(&options);
    transport::InputBuffer input;
    Append(&input, absl::StrCat("POST / HTTP/1.1\r\nContent-Type: ", type,
                                "\r\nContent-Length: 7\r\n\r\nhellojj"));
    ASSERT_EQ(reader.Consume(&input), Progress::kComplete);
    const auto request = reader.TakeRequest();
    EXPECT_EQ(request->body_text(), "hellojj");
    EXPECT_EQ(
        reinterpret_cast<uintptr_t>(request->body()->data() + split) % ReceivedBody::kAlignment, 0u)
        << type;
  }
}

TEST(RequestReaderTest, ReadsChunkedBodyAligned) {
  HttpServerOptions options;
  options.body_split_header = "Split";
  RequestReader reader(&options);
  transport::InputBuffer input;
  Append(&input, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nSplit: 5\r\n\r\n5\r\nhello\r\n");
  ASSERT_EQ(reader.Consume(&input), Progress::kNeedMore);
  std::string expected = "hello";
  for (int i = 0; i < 3; ++i) {
    const std::string piece(5000, static_cast<char>('a' + i));
    Append(&input, absl::StrCat("1388;ext=1\r\n", piece.substr(0, 17)));
    ASSERT_EQ(reader.Consume(&input), Progress::kNeedMore);
    Append(&input, absl::StrCat(piece.substr(17), "\r\n"));
    ASSERT_EQ(reader.Consume(&input), Progress::kNeedMore);
    expected += piece;
  }
  Append(&input, "0\r\nTrailer: x\r\n\r\nGET ");
  ASSERT_EQ(reader.Consume(&input), Progress::kComplete);
  const auto request = reader.TakeRequest();
  EXPECT_EQ(request->body_text(), expected);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(request->body()->data() + 5) % ReceivedBody::kAlignment,
            0u);
  EXPECT_EQ(request->FindHeader("Trailer"), std::nullopt);
  EXPECT_EQ(absl::string_view(input.data(), input.size()), "GET ");
}

TEST(RequestReaderTest, ContentLengthErrorsHaveTheTextsOfTheProtocol) {
  HttpServerOptions options;
  auto failure = FailureOf(options, "POST / HTTP/1.1\r\nA: b\r\nContent-Length: abc\r\n\r\n");
  EXPECT_EQ(failure.status, 400);
  EXPECT_EQ(failure.message, "Unable to parse Content-Length, got: abc");
  for (const char* number : {"9223372036854775808", "99999999999999999999999"}) {
    failure =
        FailureOf(options, absl::StrCat("POST / HTTP/1.1\r\nContent-Length: ", number, "\r\n\r\n"));
    EXPECT_EQ(failure.status, 400);
    EXPECT_EQ(failure.message, absl::StrCat("Unable to parse Content-Length, value is out of range "
                                            "[ 0, 9223372036854775807 ], got: ",
                                            number));
  }
}

TEST(RequestReaderTest, TheBudgetAloneBoundsLongBodies) {
  Budget budget("bytes", uint64_t{16} << 30, "--max");
  HttpServerOptions options;
  options.body_budget = &budget;
  // Of what is announced, only the first step is paid for.
  RequestReader reader(&options);
  transport::InputBuffer input;
  Append(&input, "POST / HTTP/1.1\r\nContent-Length: 5000000000\r\n\r\nx");
  EXPECT_EQ(reader.Consume(&input), Progress::kNeedMore);
  EXPECT_LT(budget.used(), 1u << 20);
  for (const char* head : {"POST / HTTP/1.1\r\nContent-Length: 13000000000\r\n\r\n",
                           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n306DC4200\r\n"}) {
    const auto failure = FailureOf(options, head);
    EXPECT_EQ(failure.status, 413);
    EXPECT_EQ(failure.message,
              "request body of 13000000000 bytes and 0 for the request exceed the 12884901888 "
              "bytes that one request may take of the server limit 'bytes' of 17179869184. Use "
              "--max to increase the limit.");
  }
}

TEST(RequestReaderTest, RefusesWhatCouldSmuggleARequest) {
  HttpServerOptions options;
  for (const char* bytes : {
           "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
           "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
           "POST / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
       }) {
    EXPECT_EQ(FailureOf(options, bytes).status, 400) << bytes;
  }
  EXPECT_EQ(FailureOf(options, "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n").status, 501);
  EXPECT_EQ(
      FailureOf(options, "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n").status,
      501);
}

TEST(RequestReaderTest, RefusesMalformedHeads) {
  HttpServerOptions options;
  EXPECT_EQ(FailureOf(options, "nonsense\r\n\r\n").status, 400);
  EXPECT_EQ(FailureOf(options, "GET / HTTP/1.1\r\nno colon\r\n\r\n").status, 400);
  EXPECT_EQ(FailureOf(options, "GET / HTTP/2.0\r\n\r\n").status, 505);
  EXPECT_EQ(FailureOf(options, "GET / HTTP/1.1\r\nExpect: magic\r\n\r\n").status, 417);
}

TEST(RequestReaderTest, SaysWhatIsWrongWithAHead) {
  HttpServerOptions options;
  for (const auto& [bytes, text] : {
           std::pair("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n",
                     "'Content-Length' or 'Transfer-Encoding', but not both"),
           {"POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
            "'Content-Length' or 'Transfer-Encoding', but not both"},
           {"POST / HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n",
            "'Content-Length' may stand in a request once, but it is given as '4' and as '5'"},
           {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            "'Transfer-Encoding' may stand in a request once"},
           {"GET / HTTP/1.1\nHost: h\n\n", "must end with CR LF"},
           {"GET / HTTP/1.1\r\nHost: h\nA: b\r\n\r\n", "must end with CR LF"},
           {"GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", "'Host' may stand in a request once"},
           {"GET / HTTP/1.1\r\nHost: h\r\nAuthorization: a\r\nauthorization: b\r\n\r\n",
            "'Authorization' may stand in a request once"},
       }) {
    const auto failure = FailureOf(options, bytes);
    EXPECT_EQ(failure.status, 400) << bytes;
    EXPECT_THAT(failure.message, testing::HasSubstr(text)) << bytes;
  }
}

TEST(RequestReaderTest, OnlyHttp11NeedsAHost) {
  HttpServerOptions options;
  const auto consume = [&options](absl::string_view bytes) {
    RequestReader reader(&options);
    transport::InputBuffer input;
    const absl::Span<char> space = input.Prepare(bytes.size());
    std::memcpy(space.data(), bytes.data(), bytes.size());
    input.Commit(bytes.size());
    return std::pair(reader.Consume(&input), reader.failure().status);
  };
  EXPECT_EQ(consume("GET / HTTP/1.1\r\n\r\n"), std::pair(Progress::kFailed, 400));
  EXPECT_EQ(consume("GET http://h/ HTTP/1.1\r\n\r\n"), std::pair(Progress::kFailed, 400));
  EXPECT_EQ(consume("GET / HTTP/1.1\r\nHost:\r\n\r\n").first, Progress::kComplete);
  EXPECT_EQ(consume("GET / HTTP/1.0\r\n\r\n").first, Progress::kComplete);
}

TEST(RequestReaderTest, LimitsHeaderBodyAndChunks) {
  HttpServerOptions options;
  options.max_header_bytes = 100;
  options.max_body_bytes = 10;
  options.max_chunks = 3;
  EXPECT_EQ(FailureOf(options, "GET / HTTP/1.1\r\nA: " + std::string(100, 'b')).status, 431);
  EXPECT_EQ(FailureOf(options, "POST / HTTP/1.1\r\nContent-Length: 11\r\n\r\n").status, 413);
  const std::string chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(FailureOf(options, chunked + "b\r\n").status, 413);
  EXPECT_EQ(FailureOf(options, chunked + "9\r\n123456789\r\n2\r\n").status, 413);
  EXPECT_EQ(FailureOf(options, chunked + "ffffffffffffffff\r\n").status, 413);
  const auto failure = FailureOf(options, chunked + "1\r\na\r\n1\r\na\r\n1\r\na\r\n1\r\na\r\n");
  EXPECT_EQ(failure.status, 400);
  EXPECT_EQ(failure.message,
            "Chunked request body exceeds maximum of 3 non-empty chunks. Send fewer or larger "
            "HTTP chunks.");
}

// Receives as many bytes as the reader has room for; returns their number.
size_t ReceiveDirect(RequestReader* reader) {
  const size_t size = reader->DirectBody().size();
  reader->DirectBodyReceived(size);
  return size;
}

TEST(RequestReaderTest, TakesTheBodyFromTheBudgetUntilItIsLetGo) {
  Budget budget("request bytes", 100'000, "--max-request-bytes");
  HttpServerOptions options;
  options.body_budget = &budget;
  options.request_cost = 1000;
  RequestReader reader(&options);
  transport::InputBuffer input;
  Append(&input, "POST / HTTP/1.1\r\nContent-Length: 50000\r\n\r\n");
  ASSERT_EQ(reader.Consume(&input), Progress::kNeedMore);
  EXPECT_EQ(budget.used(), 51'000u);
  const auto failure = FailureOf(options, "POST / HTTP/1.1\r\nContent-Length: 50000\r\n\r\n");
  EXPECT_EQ(failure.status, 503);
  EXPECT_THAT(failure.message, testing::HasSubstr("'request bytes'"));
  EXPECT_THAT(failure.message, testing::HasSubstr("--max-request-bytes"));
  EXPECT_EQ(ReceiveDirect(&reader), 50'000u);
  ASSERT_EQ(reader.Consume(&input), Progress::kComplete);
  auto body = reader.TakeRequest()->body();
  EXPECT_EQ(budget.used(), 51'000u);
  body.reset();
  EXPECT_EQ(budget.used(), 0u);
}

TEST(RequestReaderTest, AnAnnouncementCostsOneStepHoweverLargeItIs) {
  Budget budget("request bytes", uint64_t{4} << 30);
  HttpServerOptions options;
  options.body_budget = &budget;
  RequestReader reader(&options);
  transport::InputBuffer input;
  Append(&input, "POST / HTTP/1.1\r\nContent-Length: 2147483647\r\n\r\n");
  ASSERT_EQ(reader.Consume(&input), Progress::kNeedMore);
  EXPECT_EQ(budget.used(), 64u << 10);
  size_t received = 0;
  for (int step = 0; step < 20; ++step) {
    received += ReceiveDirect(&reader);
    ASSERT_EQ(reader.Consume(&input), Progress::kNeedMore);
    // The budget is ahead by at most the received bytes, and by at most one large step.
    EXPECT_LE(budget.used() - received, std::min<size_t>(received, 1 << 20));
  }
  EXPECT_GT(received, 10u << 20);
}

TEST(RequestReaderTest, AnAnnouncedChunkCostsNothing) {
  Budget budget("request bytes", uint64_t{4} << 30);
  HttpServerOptions options;
  options.body_budget = &budget;
  RequestReader reader(&options);
  transport::InputBuffer input;
  Append(&input, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n");
  ASSERT_EQ(reader.Consume(&input), Progress::kNeedMore);
  EXPECT_EQ(budget.used(), 0u);
  Append(&input, std::string(5000, 'x'));
  ASSERT_EQ(reader.Consume(&input), Progress::kNeedMore);
  EXPECT_LE(budget.used(), 10'000u);
}

TEST(RequestReaderTest, ABudgetThatRunsOutInTheMiddleFailsTheRequest) {
  Budget budget("request bytes", 1'000'000);
  HttpServerOptions options;
  options.body_budget = &budget;
  const BudgetUnits others = *budget.Take(600'000);
  RequestReader reader(&options, nullptr, std::make_shared<Holder>());
  transport::InputBuffer input;
  Append(&input, "POST / HTTP/1.1\r\nContent-Length: 700000\r\n\r\n");
  Progress progress = reader.Consume(&input);
  while (progress == Progress::kNeedMore) {
    ASSERT_GT(ReceiveDirect(&reader), 0u);
    progress = reader.Consume(&input);
  }
  EXPECT_EQ(progress, Progress::kFailed);
  EXPECT_EQ(reader.failure().status, 503);
  EXPECT_THAT(reader.failure().message, testing::HasSubstr("by a client that holds"));
  reader.ReleaseBody();
  EXPECT_EQ(budget.used(), 600'000u);
}

TEST(RequestReaderTest, ABodyThatCanNeverFitIsRefusedForGood) {
  Budget budget("request bytes", 100'000, "--max-request-bytes");
  HttpServerOptions options;
  options.body_budget = &budget;
  options.request_cost = 1000;
  for (const char* bytes : {"POST / HTTP/1.1\r\nContent-Length: 74001\r\n\r\n",
                            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n12111\r\n"}) {
    const auto failure = FailureOf(options, bytes);
    EXPECT_EQ(failure.status, 413);
    EXPECT_EQ(
        failure.message,
        "request body of 74001 bytes and 1000 for the request exceed the 75000 bytes that one "
        "request may take of the server limit 'request bytes' of 100000. Use "
        "--max-request-bytes to increase the limit.");
  }
  RequestReader reader(&options);
  transport::InputBuffer input;
  Append(&input, "POST / HTTP/1.1\r\nContent-Length: 74000\r\n\r\n");
  EXPECT_EQ(reader.Consume(&input), Progress::kNeedMore);
}

TEST(RequestReaderTest, TellsKeepAliveAndExpectation) {
  struct Case {
    const char* bytes;
    bool http11;
    bool keep_alive;
  };
  for (const Case& c :
       {Case{"GET / HTTP/1.1\r\n\r\n", true, true},
        Case{"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", true, false},
        Case{"GET / HTTP/1.0\r\n\r\n", false, false},
        Case{"\r\nGET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", false, true}}) {
    HttpServerOptions options;
    RequestReader reader(&options);
    transport::InputBuffer input;
    Append(&input, c.bytes);
    ASSERT_EQ(reader.Consume(&input), Progress::kComplete) << c.bytes;
    EXPECT_EQ(reader.traits().http11, c.http11) << c.bytes;
    EXPECT_EQ(reader.traits().keep_alive, c.keep_alive) << c.bytes;
  }
  HttpServerOptions options;
  RequestReader reader(&options);
  transport::InputBuffer input;
  Append(&input, "POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n");
  ASSERT_EQ(reader.Consume(&input), Progress::kNeedMore);
  EXPECT_TRUE(reader.TakeExpectContinue());
  EXPECT_FALSE(reader.TakeExpectContinue());
}

}  // namespace
}  // namespace nereid::http
