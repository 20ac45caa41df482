# The project's commands. Each is a script in tools/; this file only names them.

HTTP_PORT ?= 8000
GRPC_PORT ?= 8001
METRICS_PORT ?= 8002
MODELS ?= examples/models
ARGS ?=
BACKENDS ?=

.PHONY: help run vad speech-lab test setup stage bench bench-adaptive bench-frameworks bench-load bench-costs bench-features soak ends python-ends frameworks-test conformance lint format fuzz faults clean

help:
	@echo "make run     install what is missing, build, serve $(MODELS), send a request"
	@echo "             (HTTP_PORT=, GRPC_PORT=, METRICS_PORT=, MODELS=, ARGS='more server options')"
	@echo "make vad     the same for the speech detector, examples/vad (same variables)"
	@echo "make speech-lab   the same for the ensemble of examples/speech_lab, with a backend of its own"
	@echo "make test    all tests; ends with 'N passed, N failed'   (ARGS='--only release python')"
	@echo "make stage   build/stage: what an installation looks like"
	@echo "             (BACKENDS='openvino pytorch tensorflow' adds these backends and their runtimes)"
	@echo "make setup   install what is missing, no more"
	@echo "make bench   the race against the original server       (ARGS='--quick', see bench/README.md)"
	@echo "make bench-adaptive   adaptive batching against fixed delays"
	@echo "make bench-frameworks   each backend beside its framework alone (3 GB to install)"
	@echo "make bench-load   500 small models: how long they load, how the server answers meanwhile"
	@echo "make bench-costs   allocations, locks and system calls per request, ours and the libraries'"
	@echo "make bench-features   processor time per request with and without histograms, traces, access log"
	@echo "make soak    ten minutes of mixed load: latency and memory must not rise   (ARGS='--minutes=N')"
	@echo "make ends    1,000 loads and unloads, servers ended at random: nothing may be left"
	@echo "make python-ends   processes of Python models and servers killed 200 times at random"
	@echo "make frameworks-test   the backends openvino, pytorch and tensorflow (3 GB to install)"
	@echo "make conformance   HTTP/2 and gRPC against h2spec, a collector of traces, a browser, clients of others (2 GB to install)"
	@echo "make lint    include rules, format, clang -Wthread-safety -Werror, clang-tidy"
	@echo "make format  clang-format over all C and C++ sources"
	@echo "make fuzz    ten minutes of each fuzz target             (ARGS='--seconds 60 TARGET')"
	@echo "make faults  each allocation and thread of the C API fails once; a storm with random faults"
	@echo "make clean   remove what was built; .venv, build/deps and build/bench-results stay"

run:
	@tools/stage.sh && exec .venv/bin/python tools/run_example.py --models "$(MODELS)" \
	  --http-port $(HTTP_PORT) --grpc-port $(GRPC_PORT) --metrics-port $(METRICS_PORT) -- $(ARGS)

vad:
	@tools/setup.sh --vad && tools/stage.sh && .venv/bin/python examples/vad/make_repository.py && \
	  exec .venv/bin/python tools/run_example.py --models build/vad-models \
	  --http-port $(HTTP_PORT) --grpc-port $(GRPC_PORT) --metrics-port $(METRICS_PORT) -- $(ARGS)

speech-lab:
	@tools/setup.sh --vad && tools/stage.sh && \
	  cmake -S examples/speech_lab/backend -B build/speech-lab && cmake --build build/speech-lab && \
	  .venv/bin/python examples/speech_lab/make_repository.py && \
	  exec .venv/bin/python tools/run_example.py --models build/speech-lab-models \
	  --http-port $(HTTP_PORT) --grpc-port $(GRPC_PORT) --metrics-port $(METRICS_PORT) -- $(ARGS)

test:
	@tools/test.sh $(ARGS)

setup:
	@tools/setup.sh

stage:
	@tools/stage.sh $(BACKENDS)

bench:
	@tools/setup.sh --bench && tools/stage.sh && tools/build.sh bench && \
	  PYTHONPATH=build/deps/bench .venv/bin/python bench/run.py $(ARGS)

bench-adaptive:
	@tools/setup.sh --bench && tools/stage.sh && tools/build.sh bench bench_tools && \
	  PYTHONPATH=build/deps/bench .venv/bin/python bench/adaptive.py $(ARGS)

bench-frameworks:
	@tools/setup.sh --bench --framework=openvino --framework=pytorch --framework=tensorflow --framework-tests && \
	  tools/stage.sh openvino pytorch tensorflow && tools/build.sh release torch_models && tools/build.sh bench && \
	  PYTHONPATH=build/deps/bench .venv/bin/python bench/run.py --group frameworks $(ARGS)

bench-load:
	@tools/setup.sh --bench && tools/stage.sh && .venv/bin/python bench/loading.py $(ARGS)

bench-features:
	@tools/setup.sh --bench && tools/stage.sh && tools/build.sh bench bench_tools && \
	  .venv/bin/python bench/feature_costs.py $(ARGS)

bench-costs:
	@tools/setup.sh --bench && tools/stage.sh && tools/build.sh bench bench_tools && \
	  .venv/bin/python bench/request_costs.py $(ARGS)

soak:
	@tools/setup.sh --bench && tools/stage.sh && tools/build.sh bench bench_tools && \
	  .venv/bin/python bench/soak.py $(ARGS)

ends:
	@tools/stage.sh && NEREID_ENDS_ITERATIONS=$${NEREID_ENDS_ITERATIONS:-1000} .venv/bin/python -m pytest -q \
	  tests/e2e/test_ends.py -k nothing_is_left $(ARGS)

python-ends:
	@tools/stage.sh && NEREID_PYTHON_KILLS=$${NEREID_PYTHON_KILLS:-200} NEREID_PYTHON_KILLS_PER_POINT=10 \
	  .venv/bin/python -m pytest -q tests/python_models/test_kills.py $(ARGS)

frameworks-test:
	@tools/frameworks_test.sh $(ARGS)

conformance:
	@tools/setup.sh --conformance --collector && tools/stage.sh && tools/build.sh release grpc_interop_server && \
	  exec .venv/bin/python -m pytest -q tests/conformance $(ARGS)

lint:
	@tools/lint.sh

format:
	@tools/lint.sh --format

fuzz:
	@tools/setup.sh --lint && tools/build.sh fuzz && .venv/bin/python tools/run_fuzzers.py $(ARGS)

faults:
	@tools/setup.sh && tools/run_faults.sh $(ARGS)

clean:
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name deps ! -name bench-results -exec rm -rf {} +
