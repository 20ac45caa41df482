// SPDX-License-Identifier: Apache-2.0
#include "capacity/capacity_text.h"

#include <gmock/gmock.h>

#include <sstream>

#include "capacity/capacity_command.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CapacityResult Result() {
  CapacityResult result;
  result.node.candidate = {2, 8, true, {}, 0};
  result.node.times.by_batch_us = {{1, 1000}, {8, 4000}};
  result.node.times.overhead_us = 100;
  result.node.times.cpu_us = 1000;
  result.node.times.processors = 2;
  result.node.memory_mib = 46;
  result.alone = {{4, 400, 5000, 6000, 1.5}};
  result.requests = 1000;
  return result;
}

FleetRow Row(uint32_t nodes, double p99_us) {
  FleetRow row;
  row.nodes = nodes;
  row.p99_us = p99_us;
  row.summary.late = 5;
  row.summary.unserved = 5;
  row.summary.busy = 0.625;
  row.summary.most_nodes = nodes;
  row.node_seconds = 7200;
  return row;
}

CapacityOptions OptionsOf(std::vector<std::string> more) {
  more.insert(more.begin(), {"m", "--times=t"});
  return *ParseCapacityOptions(more);
}

TEST(CapacityText, TheNode) {
  const std::string text = CapacityText(OptionsOf({}), Result());
  EXPECT_THAT(text, HasSubstr("Model m, 2 instances, batches of 8, on nodes of 2 processors\n"));
  EXPECT_THAT(text, HasSubstr("1.00 ms for one request, 4.00 ms for a batch of 8\n"));
  EXPECT_THAT(text, HasSubstr("serves:  1000 requests/s one by one, 2000 in full batches\n"));
  EXPECT_THAT(text, HasSubstr("Memory of the server:  46 MiB\n"));
  EXPECT_THAT(text, Not(HasSubstr("nodes  infer/s")));
  CapacityResult unknown = Result();
  unknown.node.memory_mib = 0;
  EXPECT_THAT(CapacityText(OptionsOf({}), unknown), HasSubstr("was not measured"));
}

TEST(CapacityText, TheFewestNodes) {
  CapacityResult result = Result();
  result.rows = {Row(2, 50'000), Row(3, 20'000)};
  const CapacityOptions options = OptionsOf({"--rate=100", "--p99-ms=30"});
  EXPECT_THAT(CapacityText(options, result),
              HasSubstr("Not even 100 nodes keep a p99 of at most 30.0 ms"));
  result.chosen = 1;
  const std::string text = CapacityText(options, result);
  EXPECT_THAT(text, HasSubstr("100 requests/s (poisson) over 1:00: 1000 requests of batch size 1"));
  EXPECT_THAT(text, HasSubstr("\n3 nodes keep a p99 of at most 30.0 ms.\n"));
  EXPECT_THAT(text, HasSubstr("62 %"));
}

TEST(CapacityText, AnAutoscaler) {
  CapacityResult result = Result();
  result.rows = {Row(6, 20'000)};
  result.periods = {{3600, 12.5, 2.5, 3, 9000, 1}};
  const std::string text =
      CapacityText(OptionsOf({"--day=1,2", "--target=4", "--p99-ms=30"}), result);
  EXPECT_THAT(text, HasSubstr("1, 2 requests/s over 24:00:00"));
  EXPECT_THAT(text,
              HasSubstr("4 requests in flight per node, with 1 to 100 nodes; it looks every 15 s"));
  EXPECT_THAT(text, HasSubstr("1:00:00"));
  EXPECT_THAT(text, HasSubstr("2.00 node-hours, at most 6 nodes at a time. 10 of 1000 requests "
                              "(1.00 %) are not answered within 30.0 ms.\n"));
}

TEST(CapacityJson, HasTheSame) {
  CapacityResult result = Result();
  result.rows = {Row(3, 20'000)};
  result.chosen = 0;
  result.periods = {{3600, 12.5, 2.5, 3, 9000, 1}};
  const std::string json = CapacityJson(OptionsOf({"--rate=100", "--p99-ms=30"}), result);
  EXPECT_THAT(json, HasSubstr("\"requests_per_processor\":1000.0"));
  EXPECT_THAT(json, HasSubstr("\"clients\":4,\"throughput\":400.0"));
  EXPECT_THAT(json, HasSubstr("\"nodes\":3,"));
  EXPECT_THAT(json, HasSubstr("\"nodes_needed\":3"));
  EXPECT_THAT(json, HasSubstr("\"periods\":[{\"from_seconds\":3600.0"));
}

TEST(CapacityCommand, WrongOptions) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(CapacityCommand({"m"}, out, err), 2);
  EXPECT_THAT(err.str(), HasSubstr("nereid capacity: --times is missing"));
  EXPECT_EQ(CapacityCommand({"m", "--times=nowhere"}, out, err), 2);
}

}  // namespace
}  // namespace nereid
