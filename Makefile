# The project's commands. Each is a script in tools/; this file only names them.

HTTP_PORT ?= 8000
GRPC_PORT ?= 8001
METRICS_PORT ?= 8002
MODELS ?= examples/models
ARGS ?=
BACKENDS ?=
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: help run vad speech-lab test setup stage install deb bench bench-adaptive bench-builds bench-frameworks bench-load bench-costs bench-features soak ends python-ends frameworks-test conformance lint format fuzz faults clean wheel wheel-check bench-light bench-in-process bench-generators image image-check footprint kubernetes-check boot-check ray-check console console-check tune-check simulator-check capacity-check

help:
	@echo "make run     install what is missing, build, serve $(MODELS), send a request"
	@echo "             (HTTP_PORT=, GRPC_PORT=, METRICS_PORT=, MODELS=, ARGS='more server options')"
	@echo "make vad     the same for the speech detector, examples/vad (same variables)"
	@echo "make speech-lab   the same for the ensemble of examples/speech_lab, with a backend of its own"
	@echo "make test    all tests; ends with 'N passed, N failed'   (ARGS='--only release python')"
	@echo "make stage   build/stage: what an installation looks like"
	@echo "             (BACKENDS='openvino pytorch tensorflow' adds these backends and their runtimes)"
	@echo "make install   the server, its library and what developers need (PREFIX=/usr/local, DESTDIR=)"
	@echo "make deb     Debian packages in build/packages"
	@echo "make boot-check   these on a fresh Debian whose systemd runs in namespaces; needs root"
	@echo "make wheel   the Python wheel nereid-server in build/packages"
	@echo "make wheel-check   makes it and installs it into clean environments of two versions of Python"
	@echo "make setup   install what is missing, no more"
	@echo "make bench   the race against Triton       (ARGS='--quick', see bench/README.md)"
	@echo "make bench-adaptive   adaptive batching against fixed delays"
	@echo "make bench-frameworks   each backend beside its framework alone (3 GB to install)"
	@echo "make bench-builds BASE=build/before   the staged server beside one that was staged before, row by row"
	@echo "make bench-load   500 small models: how long they load, how the server answers meanwhile"
	@echo "make bench-light   against LitServe and MLServer on the same network"
	@echo "make bench-costs   allocations, locks and system calls per request, ours and the libraries'"
	@echo "make bench-in-process   latency of requests inside the process, from C and Python"
	@echo "make bench-generators   nereid bench beside perf_analyzer, wrk and h2load"
	@echo "make tune-check   nereid tune beside an exhaustive search over the same configurations"
	@echo "make simulator-check   the simulation of the scheduler against a server: six models, four loads"
	@echo "make capacity-check   what nereid capacity predicts beside what nereid bench measures"
	@echo "make bench-features   what histograms, recorder, traces and access log cost a request; limit 3 %"
	@echo "make soak    ten minutes of mixed load: latency and memory must not rise   (ARGS='--minutes=N')"
	@echo "make ends    1,000 loads and unloads, servers ended at random: nothing may be left"
	@echo "make python-ends   processes of Python models and servers killed 200 times at random"
	@echo "make frameworks-test   the backends openvino, pytorch and tensorflow (3 GB to install)"
	@echo "make conformance   HTTP/2 and gRPC against h2spec, a collector of traces, a browser, clients of others (2 GB to install)"
	@echo "make image   container images and lists of their contents in build/packages, without a registry"
	@echo "make image-check   makes them, unpacks them and runs the server inside"
	@echo "make footprint   size, start time and memory beside Triton's"
	@echo "make kubernetes-check   the Helm chart and KServe's runtimes against the real helm and API server (ten minutes to build)"
	@echo "make console   console/dist, the page of the console, from its sources (needs Node.js)"
	@echo "make console-check   drives this page in Chromium, on a server under load"
	@echo "make ray-check   examples/ray_serve on a local Ray cluster of two nodes, under load (400 MB to install)"
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

install:
	@DESTDIR="$(DESTDIR)" tools/install.sh "$(PREFIX)"

deb:
	@tools/make_deb.sh

wheel:
	@tools/make_wheel.sh

wheel-check:
	@tools/setup.sh --test --packages && tools/make_wheel.sh && .venv/bin/python tools/run_tests.py --only wheel && \
	  tests/python_wheel/fresh_root.sh

boot-check:
	@tools/setup.sh --packages && tools/make_deb.sh && \
	  NEREID_BOOT=1 .venv/bin/python -m pytest -q tests/installation/test_boot.py $(ARGS)

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

bench-builds:
	@test -n "$(BASE)" || { echo "usage: make bench-builds BASE=a-staged-installation [ARGS=...]" >&2; exit 2; }
	@tools/setup.sh --bench && tools/stage.sh $(BACKENDS) && tools/build.sh bench && \
	  PYTHONPATH=build/deps/bench .venv/bin/python bench/builds.py $(BASE) build/stage $(ARGS)

bench-load:
	@tools/setup.sh --bench && tools/stage.sh && .venv/bin/python bench/loading.py $(ARGS)

bench-features:
	@tools/setup.sh --bench && tools/stage.sh && tools/build.sh bench bench_tools && \
	  .venv/bin/python bench/feature_costs.py $(ARGS)

bench-generators:
	@tools/setup.sh --bench && tools/stage.sh && .venv/bin/python bench/generators.py $(ARGS)

tune-check:
	@tools/stage.sh && .venv/bin/python bench/tune.py $(ARGS)

simulator-check:
	@tools/stage.sh && .venv/bin/python bench/simulator.py $(ARGS)

capacity-check:
	@tools/setup.sh --bench && tools/stage.sh && .venv/bin/python bench/capacity.py $(ARGS)

bench-light:
	@tools/setup.sh --bench --light && tools/make_wheel.sh && tools/build.sh bench bench_tools && \
	  .venv/bin/python bench/light_frameworks.py $(ARGS)

bench-costs:
	@tools/setup.sh --bench && tools/stage.sh && tools/build.sh bench bench_tools && \
	  .venv/bin/python bench/request_costs.py $(ARGS)

bench-in-process:
	@tools/setup.sh --bench && tools/stage.sh && tools/build.sh bench in_process_calls && \
	  .venv/bin/python bench/in_process.py $(ARGS)

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

console:
	@tools/build_console.sh

console-check:
	@tools/setup.sh --conformance && tools/stage.sh && \
	  exec .venv/bin/python -m pytest -q tests/conformance/test_console_page.py tests/conformance/test_console_bundle.py $(ARGS)

image:
	@tools/setup.sh --image && tools/stage.sh && .venv/bin/python tools/image/make_image.py $(ARGS)

image-check: image
	@NEREID_IMAGES=build/packages .venv/bin/python -m pytest -q tests/image

footprint:
	@tools/setup.sh --bench && tools/stage.sh && rm -rf build/stripped && \
	  cmake --install build/release --strip --prefix "$(CURDIR)/build/stripped" >build/logs/stripped.log && \
	  NEREID_STAGE=build/stripped .venv/bin/python bench/footprint.py $(ARGS)

kubernetes-check:
	@tools/setup.sh --kubernetes && exec .venv/bin/python -m pytest -q tests/kubernetes $(ARGS)

ray-check:
	@tools/setup.sh --ray && tools/stage.sh && \
	  PYTHONPATH=$(CURDIR)/build/deps/ray:$(CURDIR)/build/stage/python:$(CURDIR)/examples/ray_serve exec .venv/bin/python -m pytest -q -s -W ignore tests/ray_serve $(ARGS)

lint:
	@tools/lint.sh

format:
	@tools/setup.sh --lint && tools/format.sh

fuzz:
	@tools/setup.sh --lint && tools/build.sh fuzz && .venv/bin/python tools/run_fuzzers.py $(ARGS)

faults:
	@tools/setup.sh && tools/run_faults.sh $(ARGS)

clean:
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name deps ! -name bench-results -exec rm -rf {} +
