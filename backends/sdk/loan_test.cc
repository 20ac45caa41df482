// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/loan.h"

#include <gtest/gtest.h>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

TEST(LoanTest, TheServerIsTold) {
  TRITONBACKEND_Model model;
  SayExecutesBriefly(&model);
  EXPECT_TRUE(model.executes_briefly);
}

TEST(LoanTest, TheServerIsAsked) {
  TRITONBACKEND_ModelInstance instance;
  EXPECT_FALSE(OnLoan(&instance));
  instance.on_loan = true;
  EXPECT_TRUE(OnLoan(&instance));
}

TEST(LoanTest, AnInstanceMayBeKeptFromOtherThreads) {
  TRITONBACKEND_ModelInstance instance;
  EXPECT_TRUE(instance.lendable);
  SetLendable(&instance, false);
  EXPECT_FALSE(instance.lendable);
}

TEST(LoanTest, AnInstanceMaySayThatItCannotExecute) {
  TRITONBACKEND_ModelInstance instance;
  EXPECT_TRUE(instance.available);
  SetAvailable(&instance, false);
  EXPECT_FALSE(instance.available);
}

}  // namespace
}  // namespace nereid_backend
