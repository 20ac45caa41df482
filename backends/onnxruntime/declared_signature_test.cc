// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/declared_signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "backends/onnxruntime/testing/file_bytes.h"

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::optional<Signature> Read(const std::string& file) {
  const std::string path = ::testing::TempDir() + "declared_signature_test.onnx";
  std::ofstream(path, std::ios::binary) << file;
  return ReadDeclaredSignature(path);
}

TEST(DeclaredSignatureTest, ShapesAndNames) {
  const std::string graph = Bytes(2, "graph") + Bytes(5, Weights("w", 100'000)) +
                            Bytes(11, Value("X", Dim("batch") + Dim(3) + Dim("width"))) +
                            Bytes(11, Value("w", Dim(100'000))) + Bytes(11, Value("scalar", "")) +
                            Bytes(5, Weights("v", 10)) + Bytes(12, Value("Y", NoDim() + Dim(5)));
  const std::optional<Signature> signature = Read(Model(graph));
  ASSERT_TRUE(signature.has_value());
  ASSERT_EQ(signature->inputs.size(), 2u);
  EXPECT_EQ(signature->inputs[0].name, "X");
  EXPECT_THAT(signature->inputs[0].dims, ElementsAre(-1, 3, -1));
  EXPECT_EQ(signature->inputs[0].first_name, "batch");
  EXPECT_EQ(signature->inputs[1].name, "scalar");
  EXPECT_THAT(signature->inputs[1].dims, IsEmpty());
  ASSERT_EQ(signature->defaulted.size(), 1u);
  EXPECT_EQ(signature->defaulted[0].name, "w");
  ASSERT_EQ(signature->outputs.size(), 1u);
  EXPECT_THAT(signature->outputs[0].dims, ElementsAre(-1, 5));
  EXPECT_EQ(signature->outputs[0].first_name, "");
  EXPECT_TRUE(signature->outputs[0].is_tensor);
}

TEST(DeclaredSignatureTest, WhatIsNoTensor) {
  const std::string sequence = Bytes(1, "maps") + Bytes(2, Bytes(4, Bytes(1, "")));
  const std::optional<Signature> signature = Read(Model(Bytes(12, sequence)));
  ASSERT_TRUE(signature.has_value());
  EXPECT_FALSE(signature->outputs.at(0).is_tensor);
}

TEST(DeclaredSignatureTest, NamesThatExportersMakeUpSayNothing) {
  for (const char* name :
       {"unk__12", "x_dynamic_axes_1", "output_0_dynamic_axes_2", "DynamicDimension.0"}) {
    const std::optional<Signature> signature = Read(Model(Bytes(11, Value("X", Dim(name)))));
    ASSERT_TRUE(signature.has_value());
    EXPECT_EQ(signature->inputs.at(0).first_name, "") << name;
  }
  for (const char* name : {"N", "batch_1", "unk__", "7", "s0", "Gatherboxes_dim_0"}) {
    const std::optional<Signature> signature = Read(Model(Bytes(11, Value("X", Dim(name)))));
    ASSERT_TRUE(signature.has_value());
    EXPECT_EQ(signature->inputs.at(0).first_name, name);
  }
}

TEST(DeclaredSignatureTest, MoreTensorsThanAnyModelHas) {
  for (const uint64_t list : {11, 12}) {
    std::string tensors;
    for (int i = 0; i < 64 << 10; ++i) tensors += Bytes(list, "");
    EXPECT_TRUE(Read(Model(tensors)).has_value()) << list;
    EXPECT_FALSE(Read(Model(tensors + Bytes(list, ""))).has_value()) << list;
  }
}

TEST(DeclaredSignatureTest, FieldsOfAnotherKindAreNotRead) {
  // Numbers where messages belong are skipped, as by every reader of protobuf.
  const std::string graph =
      Number(11, 5) + Number(12, 5) + Number(5, 5) + Bytes(11, Value("X", Dim(3)) + Number(2, 7));
  const std::optional<Signature> signature = Read(Model(graph));
  ASSERT_TRUE(signature.has_value());
  ASSERT_EQ(signature->inputs.size(), 1u);
  EXPECT_THAT(signature->inputs[0].dims, ElementsAre(3));
  EXPECT_TRUE(signature->inputs[0].is_tensor);
  EXPECT_THAT(signature->outputs, IsEmpty());
}

TEST(DeclaredSignatureTest, DamagedFilesAreNoModels) {
  const std::string model =
      Model(Bytes(5, Weights("w", 40)) + Bytes(11, Value("X", Dim("batch") + Dim(3))));
  EXPECT_TRUE(Read(model).has_value());
  const size_t whole = model.size() - Bytes(8, Number(2, 17)).size();
  for (size_t size = 0; size < whole; ++size) {
    EXPECT_FALSE(Read(model.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(Read(std::string(20, '\xff')).has_value()) << "a number without an end";
  EXPECT_FALSE(Read("ORTM and so on").has_value());
  EXPECT_FALSE(ReadDeclaredSignature(::testing::TempDir() + "nothing").has_value());
  EXPECT_FALSE(ReadDeclaredSignature(::testing::TempDir()).has_value());
}

}  // namespace
}  // namespace nereid_backend
