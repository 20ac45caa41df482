// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/otlp_spans.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "frontends/tracing/otlp_encoding.h"
#include "frontends/tracing/protobuf_text.h"

// The whole of a message is read by OpenTelemetry's own classes in tests/e2e/test_opentelemetry.py.
namespace nereid {
namespace {

TEST(ProtobufTextTest, FieldsInBinaryForm) {
  ProtobufText text;
  text.Varint(1, 300);
  text.Fixed64(2, 1);
  text.Bytes(16, "ab");
  EXPECT_EQ(text.text(), std::string("\x08\xac\x02\x11\x01\0\0\0\0\0\0\0\x82\x01\x02"
                                     "ab",
                                     17));
  ProtobufText outer;
  outer.Message(1, text);
  EXPECT_EQ(outer.Take(), std::string("\x0a\x11") + text.text());
}

TEST(OtlpSpansTest, OneForEachModelAndItsComputation) {
  FinishedTrace trace;
  trace.root_id = 1;
  trace.events.push_back(TracedTime{1, "HTTP_RECV_START", 10});
  trace.events.push_back(TracedNames{1, 0, "outer", 1, "a"});
  trace.events.push_back(TracedTime{1, "REQUEST_START", 20});
  trace.events.push_back(TracedNames{2, 1, "inner", 3, ""});
  trace.events.push_back(TracedTime{2, "REQUEST_START", 30});
  trace.events.push_back(TracedBatch{2, 77, 4, 35, std::nullopt, {}});
  trace.events.push_back(TracedTime{2, "COMPUTE_START", 40});
  trace.events.push_back(TracedTime{2, "COMPUTE_END", 50});
  uint64_t bits = 0;
  const std::vector<std::string> spans = MakeSpans(trace, 1000, [&] { return bits++; });
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_LE(spans.size(), CountSpans(trace));
  const char* const names[] = {"outer", "compute", "inner", "InferRequest"};
  for (size_t i = 0; i < spans.size(); ++i) {
    EXPECT_NE(spans[i].find(names[i]), std::string::npos) << i;
  }
  EXPECT_NE(spans[1].find("nereid.batch.id"), std::string::npos);
}

TEST(OtlpSpanTest, LinksAndStatusInBinaryForm) {
  OtlpSpan span(0);
  span.name = "n";
  span.error = "no";
  SpanPlace place;
  place.trace_id.fill('t');
  place.span_id.fill('s');
  span.AddLink(place);
  const std::string text = span.Encode(SpanTraceId{}, "");
  const std::string link = std::string("\x0a\x10") + std::string(16, 't') +
                           std::string("\x12\x08") + std::string(8, 's');
  EXPECT_NE(text.find("\x6a\x1c" + link), std::string::npos);             // field 13
  EXPECT_NE(text.find("\x7a\x06\x12\x02no\x18\x02"), std::string::npos);  // field 15
  OtlpSpan good(0);
  EXPECT_EQ(good.Encode(SpanTraceId{}, "").find('\x7a'), std::string::npos);
}

TEST(OtlpSpansTest, ABatchHasASpanInOneOfTheTraces) {
  FinishedTrace trace;
  trace.root_id = 1;
  trace.events.push_back(TracedNames{1, 0, "m", 1, ""});
  trace.events.push_back(TracedTime{1, "REQUEST_START", 20});
  TracedBatch batch{1, 77, 2, 30, std::nullopt, {}};
  batch.span.emplace();
  batch.span->span_id.fill('b');
  trace.events.push_back(batch);
  uint64_t bits = 1;
  const auto random = [&] { return bits++; };
  std::vector<std::string> spans = MakeSpans(trace, 0, random);
  ASSERT_EQ(spans.size(), 3U);  // compute, m, InferRequest
  EXPECT_NE(spans[0].find(std::string(8, 'b')), std::string::npos) << "it links the batch";
  std::get<TracedBatch>(trace.events[2]).members.resize(2);
  std::get<TracedBatch>(trace.events[2]).members[1].span_id.fill('o');
  spans = MakeSpans(trace, 0, random);
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_EQ(CountSpans(trace), 4U);
  EXPECT_NE(spans[0].find("batch"), std::string::npos);
  EXPECT_NE(spans[0].find(std::string(8, 'o')), std::string::npos);
}

// `text` as it stands in a message: behind its length.
std::string Named(const std::string& text) {
  return std::string(1, static_cast<char>(text.size())) + text;
}

TEST(OtlpSpansTest, PairsOfABackendsOwnActivitiesAreSpans) {
  FinishedTrace trace;
  trace.root_id = 1;
  trace.events.push_back(TracedNames{1, 0, "m", 1, ""});
  const auto custom = [&](const char* name, uint64_t time) {
    trace.events.push_back(TracedTime{1, name, time, /*custom=*/true});
  };
  trace.events.push_back(TracedTime{1, "REQUEST_START", 20});  // no pair: it is the server's
  custom("HTTP_A_START", 30);
  custom("INNER_START", 40);
  custom("SINGLE", 45);
  custom("OTHER_END", 46);
  custom("INNER_END", 50);
  custom("HTTP_A_END", 60);
  custom("OPEN_START", 70);
  custom("LAST", 75);
  custom("_START", 76);
  trace.events.push_back(TracedTime{1, "REQUEST_END", 80});
  uint64_t bits = 1;
  const std::vector<std::string> spans = MakeSpans(trace, 0, [&] { return bits++; });
  ASSERT_EQ(spans.size(), 5U);
  EXPECT_EQ(CountSpans(trace), 6U);  // the model may have computed
  const char* const names[] = {"HTTP_A", "INNER", "OPEN", "m", "InferRequest"};
  const std::vector<std::vector<std::string>> events = {
      {"HTTP_A_START", "HTTP_A_END"},
      {"INNER_START", "SINGLE", "OTHER_END", "INNER_END"},
      {"OPEN_START", "LAST", "_START"},
      {"REQUEST_START", "REQUEST_END"},
      {}};
  for (size_t i = 0; i < spans.size(); ++i) {
    EXPECT_NE(spans[i].find(Named(names[i])), std::string::npos) << i;
    for (size_t j = 0; j < events.size(); ++j) {
      for (const std::string& event : events[j]) {
        EXPECT_EQ(spans[i].find(Named(event)) != std::string::npos, i == j) << i << event;
      }
    }
  }
  // Field 2 is the id of a span, field 4 that of its parent.
  const auto id = [&](size_t i) { return spans[i].substr(spans[i].find("\x12\x08") + 2, 8); };
  const auto is_child = [&](size_t i, size_t parent) {
    return spans[i].find("\x22\x08" + id(parent)) != std::string::npos;
  };
  EXPECT_TRUE(is_child(0, 3));
  EXPECT_TRUE(is_child(1, 0));
  EXPECT_TRUE(is_child(2, 3));
}

TEST(OtlpSpansTest, IdsAreNeverAllZero) {
  FinishedTrace trace;
  trace.events.push_back(TracedTime{1, "HTTP_RECV_START", 10});
  int calls = 0;
  const std::vector<std::string> spans =
      MakeSpans(trace, 0, [&]() -> uint64_t { return ++calls < 5 ? 0 : 1; });
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_GE(calls, 7);
}

}  // namespace
}  // namespace nereid
