// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/worker/meta_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/tensorflow/testing/wire_format.h"

namespace nereid_tensorflow {
namespace {

using ::testing::HasSubstr;

std::string Entry(uint32_t field, const std::string& key, const std::string& value) {
  return Bytes(field, Bytes(1, key) + Bytes(2, value));
}
std::string Dim(int64_t size) { return Bytes(2, Number(1, size) + Bytes(2, "name")); }

// Signature `name` with the input "x", DT_FLOAT [-1, 3], and the outputs "b" of unknown rank and
// "a", which is sparse.
std::string MetaGraph(const std::vector<std::string>& names) {
  const std::string x = Bytes(1, "in:0") + Number(2, 1) + Bytes(3, Dim(-1) + Dim(3));
  const std::string b = Bytes(1, "out:2") + Number(2, 7) + Bytes(3, Number(3, 1));
  const std::string a = Bytes(4, Bytes(1, "values:0")) + Number(2, 1);
  const std::string signature = Entry(1, "x", x) + Entry(2, "b", b) + Entry(2, "a", a);
  std::string graph = Bytes(2, "a graph that nobody reads");
  for (const std::string& name : names) graph += Entry(5, name, signature);
  return graph;
}

TEST(ReadSignaturesTest, TensorsOfASignature) {
  std::vector<SignatureDef> signatures;
  ASSERT_TRUE(ReadSignatures(MetaGraph({"serving_default"}), &signatures));
  ASSERT_EQ(signatures.size(), 1u);
  ASSERT_EQ(signatures[0].inputs.size(), 1u);
  const SignatureTensor& x = signatures[0].inputs[0];
  EXPECT_EQ(x.description.name, "x");
  EXPECT_EQ(x.description.type, 1);
  EXPECT_EQ(x.description.dims, (Dims{-1, 3}));
  EXPECT_TRUE(x.description.rank_known);
  EXPECT_EQ(x.graph_tensor, "in:0");
  ASSERT_EQ(signatures[0].outputs.size(), 2u);
  EXPECT_EQ(signatures[0].outputs[0].description.name, "a") << "by name";
  EXPECT_EQ(signatures[0].outputs[0].description.type, 0) << "no single tensor";
  EXPECT_FALSE(signatures[0].outputs[1].description.rank_known);
}

TEST(ReadSignaturesTest, DamageIsNoticedAndHarmsNothing) {
  const std::string whole = MetaGraph({"one", "two"});
  for (size_t size = 0; size < whole.size(); ++size) {
    std::vector<SignatureDef> signatures;
    ReadSignatures(whole.substr(0, size), &signatures);
    EXPECT_LE(signatures.size(), 1u);
  }
  std::vector<SignatureDef> signatures;
  EXPECT_FALSE(ReadSignatures(Varint(5 << 3 | 2) + Varint(~uint64_t{0}), &signatures));
  EXPECT_FALSE(ReadSignatures("\x0b", &signatures)) << "a group";
  EXPECT_FALSE(ReadSignatures(std::string(11, '\xff'), &signatures)) << "a varint without end";
}

TEST(ChooseSignatureTest, ByNameOrTheOnlyOne) {
  const auto choose = [](const std::vector<std::string>& names, const std::string& wanted) {
    std::vector<SignatureDef> signatures;
    EXPECT_TRUE(ReadSignatures(MetaGraph(names), &signatures));
    const SignatureDef* chosen = nullptr;
    const Status status = ChooseSignature(signatures, wanted, &chosen);
    return status.ok() ? chosen->name : status.message;
  };
  EXPECT_EQ(choose({"serving_default", "other"}, ""), "serving_default");
  EXPECT_EQ(choose({"serving_default", "other"}, "other"), "other");
  EXPECT_EQ(choose({"only", "__saved_model_init_op"}, ""), "only");
  EXPECT_THAT(choose({"one", "two"}, ""),
              HasSubstr("it has the signatures 'one', 'two': name one by TF_SIGNATURE_DEF"));
  EXPECT_THAT(choose({"one"}, "two"), HasSubstr("no signature 'two', which the parameter"));
  EXPECT_THAT(choose({}, ""), HasSubstr("it has no signature"));
}

TEST(ParseTensorNameTest, OperationAndIndex) {
  std::string operation;
  int index = -1;
  EXPECT_TRUE(ParseTensorName("scope/op:2", &operation, &index));
  EXPECT_EQ(operation, "scope/op");
  EXPECT_EQ(index, 2);
  EXPECT_TRUE(ParseTensorName("op", &operation, &index));
  EXPECT_EQ(index, 0);
  EXPECT_FALSE(ParseTensorName("op:", &operation, &index));
  EXPECT_FALSE(ParseTensorName("op:-1", &operation, &index));
  EXPECT_FALSE(ParseTensorName("op:2x", &operation, &index));
}

}  // namespace
}  // namespace nereid_tensorflow
