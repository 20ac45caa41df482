import json

import numpy as np
import triton_python_backend_utils as pb_utils


def attempt(action):
    try:
        return action()
    except TypeError:
        return "TypeError"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class TritonPythonModel:
    """Custom metrics: counter, gauge, histogram, and wrong uses of them."""

    def initialize(self, args):
        Family = pb_utils.MetricFamily
        self.counters = Family(
            name="lab_requests", description="Requests of the lab", kind=Family.COUNTER
        )
        self.gauges = Family(name="lab_depth", description="Depth", kind=Family.GAUGE)
        self.histograms = Family(
            name="lab_latency", description="Latencies", kind=Family.HISTOGRAM
        )
        self.counter = self.counters.Metric(labels={"model": "metrics", "version": "1"})
        self.gauge = self.gauges.Metric(labels={})
        self.histogram = self.histograms.Metric(labels={"unit": "ms"}, buckets=[0.1, 1.0, 10.0])

    def execute(self, requests):
        responses = []
        for request in requests:
            how = pb_utils.get_input_tensor_by_name(request, "HOW").as_numpy()[0].decode()
            wanted, _, one = how.partition(":")
            text = json.dumps(getattr(self, wanted)(*([one] if one else [])))
            responses.append(
                pb_utils.InferenceResponse(
                    [pb_utils.Tensor("REPORT", np.array([text], dtype=np.object_))]
                )
            )
        return responses

    def use(self):
        self.counter.increment(2)
        self.counter.increment(0.5)
        self.gauge.set(5)
        self.gauge.increment(-7.25)
        for value in (0.05, 0.5, 5, 50):
            self.histogram.observe(value)
        again = self.counters.Metric(labels={"model": "metrics", "version": "1"})
        other = self.counters.Metric(labels={"model": "other"})
        other.increment(1)
        self.other = other
        same_family = pb_utils.MetricFamily("lab_requests", "Other words", pb_utils.MetricFamily.COUNTER)
        same = same_family.Metric(labels={"model": "metrics", "version": "1"})
        return [self.counter.value(), self.gauge.value(), again.value(), other.value(), same.value()]

    def misuse(self, one):
        Family = pb_utils.MetricFamily
        actions = {
            "counter down": lambda: self.counter.increment(-1),
            "counter set": lambda: self.counter.set(3),
            "counter observe": lambda: self.counter.observe(3),
            "gauge observe": lambda: self.gauge.observe(3),
            "histogram increment": lambda: self.histogram.increment(1),
            "histogram set": lambda: self.histogram.set(1),
            "histogram value": lambda: self.histogram.value(),
            "other kind": lambda: Family("lab_requests", "x", Family.GAUGE),
            "bad name": lambda: Family("lab requests", "x", Family.GAUGE),
            "no name": lambda: Family("", "x", Family.GAUGE),
            "labels a list": lambda: self.counters.Metric(labels=["a"]),
            "labels with numbers": lambda: self.counters.Metric(labels={"a": 1}),
            "buckets a number": lambda: self.histograms.Metric(labels={"b": "1"}, buckets=3),
            "no buckets": lambda: self.histograms.Metric(labels={"b": "2"}),
            "unwanted buckets": lambda: self.gauges.Metric(labels={}, buckets=[1.0]),
            "unordered buckets": lambda: self.histograms.Metric(labels={"b": "3"}, buckets=[2.0, 1.0]).observe(1),
            "kind a number": lambda: Family("lab_kind", "x", 7),
            "after its family": self.orphan,
        }
        return attempt(actions[one])

    def orphan(self):
        family = pb_utils.MetricFamily("lab_orphan", "x", pb_utils.MetricFamily.COUNTER)
        metric = family.Metric(labels={"a": "b"})
        del family
        metric.increment(1)
        return metric.value()
