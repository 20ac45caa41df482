#include "backends/sdk/response_factory.h"

#include "backends/sdk/batch.h"
#include "backends/sdk/error.h"
#include "backends/sdk/log.h"

namespace nereid_backend {

void FactoryDeleter::operator()(TRITONBACKEND_ResponseFactory* factory) const noexcept {
  NB_LOG_IF_ERROR(TRITONBACKEND_ResponseFactoryDelete(factory), "failed to delete a factory");
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
