// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/response_factory.h"

#include <future>
#include <utility>

#include "backends/sdk/batch.h"
#include "backends/sdk/error.h"
#include "backends/sdk/log.h"
#include "backends/sdk/server_function.h"
#include "nereid/backend.h"

namespace nereid_backend {

void FactoryDeleter::operator()(TRITONBACKEND_ResponseFactory* factory) const noexcept {
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseFactoryDelete(factory), "failed to delete a factory");
}

bool HasCredit(TRITONBACKEND_ResponseFactory* factory) {
  static const auto ask =
      ServerFunction<decltype(NEREID_ResponseFactoryCredit)>("NEREID_ResponseFactoryCredit");
  bool has_credit = true;
  if (ask != nullptr) NB_LOG_IF_ERROR(ask(factory, &has_credit), "failed to ask for credit");
  return has_credit;
}

void OnCredit(TRITONBACKEND_ResponseFactory* factory, std::function<void()> fn) {
  static const auto wait =
      ServerFunction<decltype(NEREID_ResponseFactoryOnCredit)>("NEREID_ResponseFactoryOnCredit");
  if (wait == nullptr) return fn();
  auto call = std::make_unique<std::function<void()>>(std::move(fn));
  const Error failed(wait(
      factory,
      [](void* userp) {
        const std::unique_ptr<std::function<void()>> owned(
            static_cast<std::function<void()>*>(userp));
        (*owned)();
      },
      call.get()));
  if (failed.ok()) {
    call.release();  // the callback has freed it, or will
    return;
  }
  NB_LOG_ERROR("failed to wait for credit: ", failed.message());
  (*call)();
}

void AwaitCredit(TRITONBACKEND_ResponseFactory* factory) {
  if (HasCredit(factory)) return;
  const auto credited = std::make_shared<std::promise<void>>();
  OnCredit(factory, [credited] { credited->set_value(); });
  credited->get_future().wait();
}

void ReportResponse(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_ResponseFactory* factory,
                    uint64_t start, uint64_t output_start, TRITONSERVER_Error* error) {
  TRITONBACKEND_ModelInstanceResponseStatistics* report = nullptr;
  Error failed(TRITONBACKEND_ModelInstanceResponseStatisticsNew(&report));
  if (!failed.ok()) return;
  const auto set = [&](TRITONSERVER_Error* result) {
    if (Error one(result); failed.ok()) failed = std::move(one);
  };
  set(TRITONBACKEND_ModelInstanceResponseStatisticsSetModelInstance(report, instance));
  set(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseFactory(report, factory));
  set(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseStart(report, start));
  set(TRITONBACKEND_ModelInstanceResponseStatisticsSetComputeOutputStart(report, output_start));
  set(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseEnd(report, NowNs()));
  set(TRITONBACKEND_ModelInstanceResponseStatisticsSetError(report, error));
  set(TRITONBACKEND_ModelInstanceReportResponseStatistics(report));
  set(TRITONBACKEND_ModelInstanceResponseStatisticsDelete(report));
  if (!failed.ok()) NB_LOG_ERROR("response statistics: ", failed.message());
}

}  // namespace nereid_backend
