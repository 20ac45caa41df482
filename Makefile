# SPDX-License-Identifier: Apache-2.0
# The everyday commands. Each is a script in tools/; this file only names them. All others: tools/dev.

HTTP_PORT ?= 8000
GRPC_PORT ?= 8001
METRICS_PORT ?= 8002
MODELS ?= examples/models
ARGS ?=
BACKENDS ?=
KIND ?= deb wheel image
PROFILE ?= yes
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: help run test setup lint format stage install package bench clean

help:
	@echo "make run       install what is missing, build, serve $(MODELS), send a request"
	@echo "               (HTTP_PORT=, GRPC_PORT=, METRICS_PORT=, MODELS=, ARGS='more server options')"
	@echo "make test      all tests; ends with 'N passed, N failed'   (ARGS='--only release python')"
	@echo "make lint      include rules, format, clang -Wthread-safety -Werror, clang-tidy"
	@echo "make format    clang-format over all C and C++ sources"
	@echo "make stage     build/stage: what an installation looks like"
	@echo "               (BACKENDS='openvino pytorch tensorflow' adds these backends and their runtimes,"
	@echo "               CLOUD=yes the program that reads models from S3)"
	@echo "make install   the server, its library and what developers need (PREFIX=/usr/local, DESTDIR=)"
	@echo "make package   Debian packages, Python wheel and container images in build/packages (KIND='deb wheel image')"
	@echo "               (PROFILE=no: not optimised by a profile, which takes three builds the first time)"
	@echo "make bench     the race against Triton                     (ARGS='--quick', see bench/README.md)"
	@echo "make setup     install what building and testing need, no more"
	@echo "make clean     remove what was built; .venv, build/deps and build/bench-results stay"
	@echo
	@echo "tools/dev lists the others: more tests, benches and checks, with what each costs."

run:
	@tools/stage.sh --serve && exec .venv/bin/python tools/run_example.py --models "$(MODELS)" \
	  --http-port $(HTTP_PORT) --grpc-port $(GRPC_PORT) --metrics-port $(METRICS_PORT) -- $(ARGS)

test:
	@tools/test.sh $(ARGS)

setup:
	@tools/setup.sh --unit $(ARGS)

lint:
	@tools/lint.sh

format:
	@tools/setup.sh --lint && tools/format.sh

stage:
	@tools/stage.sh $(BACKENDS) $(if $(filter yes,$(CLOUD)),cloud)

install:
	@DESTDIR="$(DESTDIR)" tools/install.sh "$(PREFIX)"

package:
	@tools/package.sh $(if $(filter no,$(PROFILE)),--untrained) $(KIND)

bench:
	@tools/setup.sh --bench && tools/stage.sh && tools/build.sh bench && \
	  PYTHONPATH=build/deps/bench .venv/bin/python bench/run.py $(ARGS)

clean:
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name deps ! -name bench-results -exec rm -rf {} +

# What was a target once, and what never was.
.DEFAULT:
	@tools/dev --moved $@

# Would be up to date, because there is a folder of this name.
.PHONY: console
console:
	@tools/dev --moved $@
