#include "flags/flag_kinds.h"
#include "flags/flag_table.h"

namespace nereid {

FlagGroup MetricsFlags(Settings* s) {
  return {"Metrics",
          {BooleanFlag("allow-metrics", &s->server.metrics, "Collect metrics and serve them."),
           BooleanFlag("allow-cpu-metrics", &s->server.cpu_metrics,
                       "Include the machine's processor and memory use."),
           WithDefaultText("that of HTTP", StringFlag("metrics-address", &s->metrics.address,
                                                      "Address to listen on.")),
           IntegerFlag("metrics-port", &s->metrics.port, {0, 65535},
                       "Port to listen on; 0 picks a free one and prints it."),
           IntegerFlag("metrics-interval-ms", &s->server.metrics_interval_ms, {1, kMaxInt},
                       "Milliseconds that a reading of the machine's use is kept.")}};
}

}  // namespace nereid
