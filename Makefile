# `make help` lists the verbs. Everything is installed into .venv; set-up runs again only when its inputs change:
#   .venv/.ready-<hash>        venv, build tools, what the package needs  hash of pyproject.toml
#   .venv/.core-<hash>         the package and its compiled core          hash of pyproject.toml, CMakeLists.txt, core/
#   .venv/.with-<extra>-<hash> the packages of an extra                   hash of pyproject.toml

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
# The first interpreter that is new enough; `make PYTHON=… test` chooses another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
    $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# $(call install,PACKAGES) by uv, which takes a tenth of pip's time; by pip, where uv cannot: it does not read pip's settings.
install = $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) || $(PIP) install $(1)

CORE_FILES := $(sort $(shell find core -type f 2>/dev/null))
CORE_CODE := $(filter %.hpp %.cpp,$(CORE_FILES)) $(wildcard fuzz/*.hpp fuzz/*.cpp)
HASH := $(shell cksum < pyproject.toml | cut -d' ' -f1)
CORE_HASH := $(shell cksum pyproject.toml CMakeLists.txt $(CORE_FILES) | cksum | cut -d' ' -f1)
READY := $(VENV)/.ready-$(HASH)
CORE := $(VENV)/.core-$(CORE_HASH)
TEST := $(VENV)/.with-test-$(HASH)
DOCS := $(VENV)/.with-docs-$(HASH)
BENCH := $(VENV)/.with-bench-$(HASH)

ROWS ?= 10000000

# Processes start sooner where modules are compiled once.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test tests browser memory lint bench bench-linear bench-files bench-tagger bench-kernels bench-ranking bench-reranking bench-order bench-parallel bench-defaults rivals papers coverage docs instrumented sanitize sanitize-strings sanitize-contracts sanitize-rest races fuzz fuzz-brief fuzz-models games kill-matrix mutants dist dist-check audit clean

help: ## list the verbs
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

demo: $(CORE) ## set up, then train on bundled data and show mistakes, certificate and result
	@$(BIN)/perceptive demo

# The tests of the page skip without a browser, and say so.
browser:
	@command -v chromium > /dev/null || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null \
	    && { echo "installing chromium, for the tests of the page …"; apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium; } > /dev/null; } \
	    || echo "the tests of the page need Chromium, and skip without it: sudo apt-get install chromium"

# No core is to be idle: what is compiled for the sanitizers is compiled while packages are fetched and the tests run, and gives way to both.
test: ## everything that must pass: lint, tests and doctests, the core under sanitizers, threads, the parsers on mutated input
	@$(MAKE) --no-print-directory -j4 tests instrumented build/fuzz/mutate
	@$(MAKE) --no-print-directory -j3 --output-sync sanitize
	@$(MAKE) --no-print-directory -j2 races fuzz-brief

tests: lint browser
	$(BIN)/python -m pytest -n auto --dist worksteal

memory: $(CORE) $(TEST) ## the memory of training on ten million rows (ROWS=), beside that on two hundred thousand
	PERCEPTIVE_ROWS=$(ROWS) $(BIN)/python -m pytest -q -s tests/cli/test_memory.py

lint: $(CORE) $(TEST) ## ruff, clang-format, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CORE_CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: bench-linear bench-files bench-tagger bench-kernels bench-ranking bench-reranking bench-order bench-parallel bench-defaults ## all benchmarks against their rivals

bench-linear: $(CORE) $(BENCH) ## the linear learners against their rivals
	$(BIN)/python benchmarks/linear.py

bench-kernels: $(CORE) $(BENCH) ## kernels and the kernel classifier, beside NumPy and SVC
	$(BIN)/python benchmarks/kernels.py

bench-files: $(CORE) $(BENCH) ## from files to models, against their rivals
	$(BIN)/python benchmarks/files.py

bench-tagger: $(CORE) $(BENCH) ## the sequence tagger against its rivals; needs PERCEPTIVE_DATA
	$(BIN)/python benchmarks/tagger.py

bench-order: $(CORE) $(BENCH) ## what the order of files does to a model; needs PERCEPTIVE_DATA
	$(BIN)/python benchmarks/order.py

bench-defaults: $(CORE) $(BENCH) ## which options win on texts, tables and svmlight files; some sets need PERCEPTIVE_DATA
	$(BIN)/python benchmarks/defaults.py

bench-parallel: $(CORE) $(BENCH) $(TEST) ## shards, batches and a cluster beside serial learning: wall time, so on a calm machine
	$(BIN)/python benchmarks/parallel.py --plot docs/reference/parallel.svg

bench-ranking: $(CORE) $(BENCH) ## the ranker against its rivals
	$(BIN)/python benchmarks/ranking.py

bench-reranking: $(CORE) $(BENCH) ## what rerankers gain over their taggers; needs PERCEPTIVE_DATA
	$(BIN)/python benchmarks/reranking.py

rivals: $(CORE) $(BENCH) ## one table over all tasks, beside every rival; needs PERCEPTIVE_DATA
	$(BIN)/python benchmarks/every_rival.py --write

PAPERS ?=
papers: $(CORE) $(BENCH) $(TEST) ## tables and figures of the papers, into docs/papers (twelve minutes on two cores); PAPERS= names some; needs PERCEPTIVE_DATA
	cd benchmarks && $(abspath $(BIN))/python -m papers $(PAPERS)

# $(call built,instrumented,INSTRUMENTED) builds with -DPERCEPTIVE_INSTRUMENTED=ON, in build/instrumented. $(call site,races,DIR) makes
# build/races/site, a copy of the package around the core that was built in DIR. What is compiled gives way (nice) to what is fetched and
# linted meanwhile, which uses one core.
define built
	@mkdir -p build
	@CXX=g++ $(BIN)/cmake -S . -B build/$(1) -G Ninja -DCMAKE_BUILD_TYPE=Debug -DPERCEPTIVE_$(2)=ON \
	    -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DPython_EXECUTABLE=$(abspath $(BIN))/python > build/$(1).log 2>&1 \
	    && nice $(BIN)/cmake --build build/$(1) >> build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }
endef
define site
	@rm -rf build/$(1)/site && mkdir -p build/$(1)/site && cp -Rp src/perceptive build/$(1)/site/
	@rm -f build/$(1)/site/perceptive/_core*.so && cp $(2)/_core*.so build/$(1)/site/perceptive/
endef

instrumented: | $(READY)
	$(call built,instrumented,INSTRUMENTED)
	$(call site,sanitize,build/instrumented/sanitize)
	$(call site,races,build/instrumented/races)

# $(call with,races) has the base interpreter, $$base, run it without its own packages (-S) and with the venv's on PYTHONPATH: .pth files
# are not read from there, so the editable install's finder never comes in.
define with
base=$$($(BIN)/python -c 'import sys; print(sys._base_executable)'); \
	packages=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))'); \
	export PYTHONPATH=$(abspath build/$(1)/site):$$packages PYTHONNOUSERSITE=1
endef

# Lines and branches of src that the tests run, and lines of core that a build with gcov counters sees them run. Every interpreter,
# workers of xdist and subprocesses too, imports sitecustomize, which puts the editable install's finder out of the way. The memory
# of long files is not measured: no line is run for it alone, and this core takes ten times as long. Nor does coverage go with a fork
# while threads run. A line of a template counts once, however often it is compiled.
COVERAGE := build/coverage
coverage: $(CORE) $(TEST) ## lines of src and core that the tests run, and branches of src, into build/coverage.txt
	@$(call install,coverage gcovr)
	$(call built,counted,COVERAGE)
	$(call site,coverage,build/counted)
	@export PYTHONPATH=$(abspath $(COVERAGE)/site) COVERAGE_PROCESS_START=$(abspath $(COVERAGE))/settings; \
	export COVERAGE_RCFILE=$$COVERAGE_PROCESS_START; \
	printf '[run]\nsource = perceptive\nbranch = true\nparallel = true\ndata_file = %s\n' $(abspath $(COVERAGE))/data > $$COVERAGE_RCFILE; \
	printf '%s\n' 'import sys, coverage' \
	    'sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "ScikitBuildRedirectingFinder"]' \
	    'coverage.process_startup()' > $(COVERAGE)/site/sitecustomize.py; \
	rm -f $(COVERAGE)/data*; find build/counted -name '*.gcda' -delete; \
	$(BIN)/python -m pytest -p no:cacheprovider -q -n auto --dist worksteal --ignore tests/cli/test_memory.py \
	    --deselect tests/contracts/test_threads.py::test_forks_while_threads_learn tests; \
	$(BIN)/coverage combine -q; \
	$(BIN)/coverage report > $(COVERAGE).txt; \
	$(BIN)/gcovr --root core --object-directory build/counted --merge-lines --print-summary >> $(COVERAGE).txt
	@grep '^TOTAL\|^lines' $(COVERAGE).txt

docs: $(CORE) $(DOCS) $(TEST) ## build the documentation into build/docs, with its pictures, and open it from disk
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/docs
	PERCEPTIVE_SITE=$(abspath build/docs) $(BIN)/python -m pytest -q tests/docs/test_site.py

# Tests of what reads bytes and strings run with an allocator that guards the smallest ones (PYTHONMALLOC), which takes twice the time.
STRINGS := tests/streams/% tests/features/% tests/models/%
CONTRACTS := tests/contracts/% tests/learners/% tests/training/% tests/theorems/%
RACES := tests/contracts/test_threads.py
CORE_TESTS = $(sort $(shell grep -rl --include='test_*.py' mark.core tests))
define SANITIZED
$(call with,sanitize); \
	export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=64:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1; \
	export LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so) $$(gcc -print-file-name=libstdc++.so.6)"; \
	$$base -S -c 'import perceptive._core as c; assert "sanitize" in c.__file__, c.__file__; print("sanitized core:", c.__file__)'
endef

SANITIZED_TESTS := -S -m pytest -o addopts=--strict-markers -p no:cacheprovider --capture=sys -m "core and not slow and not once" \
    -k "not scikit_learn" --hypothesis-profile=brief -q

sanitize: sanitize-strings sanitize-contracts sanitize-rest ## the tests marked core, against a core built with ASan and UBSan

# In three processes: workers of xdist would each collect all tests, which takes as long as a third of them.
sanitize-strings: instrumented $(TEST)
	@$(SANITIZED); PYTHONMALLOC=malloc PERCEPTIVE_INPUTS=2000 $$base $(SANITIZED_TESTS) $(filter $(STRINGS),$(CORE_TESTS))

sanitize-contracts: instrumented $(TEST)
	@$(SANITIZED); $$base $(SANITIZED_TESTS) $(filter-out $(RACES),$(filter $(CONTRACTS),$(CORE_TESTS)))

sanitize-rest: instrumented $(TEST)
	@$(SANITIZED); $$base $(SANITIZED_TESTS) $(filter-out tests/golden/% $(STRINGS) $(CONTRACTS),$(CORE_TESTS))

# The interpreter is not instrumented, and nothing need be suppressed: its GIL is a mutex, which TSan sees. Addresses are not
# randomised (setarch -R): the runtime wants some of them for itself.
SECONDS ?= 5
races: instrumented $(TEST) ## SECONDS (5) of threads that predict, learn and save, against a core built with TSan
	@$(call with,races); \
	export OPENBLAS_NUM_THREADS=1; \
	export TSAN_OPTIONS="halt_on_error=0 exitcode=66" PERCEPTIVE_STRESS=$(SECONDS); \
	export LD_PRELOAD="$$(gcc -print-file-name=libtsan.so) $$(gcc -print-file-name=libstdc++.so.6)"; \
	setarch -R $$base -S -c 'import perceptive._core as c; assert "races" in c.__file__, c.__file__; print("instrumented core:", c.__file__)'; \
	setarch -R $$base -S -m pytest -p no:cacheprovider --capture=sys -q $(RACES)

# libFuzzer comes with Debian's clang. Inputs that were found worth keeping are in fuzz/corpus; the tests replay them.
FUZZERS := svmlight vw csv json text columns trees
FUZZ_RUNS ?= 10000000
CLANG ?= clang++
fuzz: $(addprefix build/fuzz/,$(FUZZERS)) ## the parsers on FUZZ_RUNS inputs each (hours), with ASan and UBSan
	@for parser in $(FUZZERS); do mkdir -p build/fuzz/found-$$parser; \
	    build/fuzz/$$parser -runs=$(FUZZ_RUNS) -max_len=128 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
	        -artifact_prefix=build/fuzz/$$parser- build/fuzz/found-$$parser fuzz/corpus/$$parser 2>&1 | tail -n 12; done

RUNS ?= 100000
SEED ?= 0
fuzz-models: instrumented $(TEST) ## files of models, checkpoints and caches with RUNS changed inputs, by SEED, against the sanitized core
	@$(SANITIZED); $$base -S fuzz/models.py --runs $(RUNS) --seed $(SEED)

build/fuzz/%: fuzz/%.cpp fuzz/fuzz.hpp $(filter %.hpp,$(CORE_FILES))
	@mkdir -p build/fuzz
	$(CLANG) -std=c++17 -O2 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS -Icore $< -o $@

# The same parsers in any compiler's sanitizers, fed by fuzz/mutate.cpp for a few seconds each: CI's share of the work.
FUZZ_SECONDS ?= 3
FUZZ_SEED ?= 1
fuzz-brief: build/fuzz/mutate ## the parsers on mutated inputs for FUZZ_SECONDS each, without libFuzzer
	@$< $(FUZZ_SECONDS) $(FUZZ_SEED) fuzz/corpus

build/fuzz/mutate: $(wildcard fuzz/*.cpp) fuzz/fuzz.hpp $(filter %.hpp,$(CORE_FILES))
	@mkdir -p build/fuzz
	$(CXX) -std=c++17 -O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS -Icore fuzz/mutate.cpp -o $@

GAMES ?= 100000
games: $(CORE) $(TEST) ## the chain and the bounds on GAMES (100000) random games: minutes
	PERCEPTIVE_GAMES=$(GAMES) $(BIN)/python -m pytest -q tests/games/test_referee.py

KILLS ?= 200
kill-matrix: $(CORE) $(TEST) ## KILLS runs killed at random moments (minutes), each resumed bit for bit
	PYTHONPATH=tests/support $(BIN)/python tests/files/kill_matrix.py $(KILLS)

MUTANTS ?=
mutants: $(CORE) $(TEST) ## small changes to rules, hypotheses and certificates (MUTANTS= names some): the tests must notice 90 % (an hour)
	$(BIN)/python tests/support/mutants.py $(MUTANTS)

# The time of the last commit stands in for that of the build, and paths of the build's folder are cut: the same commit gives the same bytes.
DATED = SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) PYTHONHASHSEED=0
dist: $(READY) ## sdist and wheel into dist/
	@$(call install,build twine)
	@rm -rf dist
	$(DATED) $(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*

dist-check: dist ## the wheel in an empty venv, without a compiler; a second build gives the same bytes
	@rm -rf build/dist && mkdir -p build/dist && mv dist build/dist/first
	@$(MAKE) --no-print-directory dist
	cd dist && sha256sum * | tee ../build/dist/sums && cd ../build/dist/first && sha256sum --check ../sums
	@$(BIN)/python -m venv build/dist/venv && build/dist/venv/bin/pip --disable-pip-version-check --quiet install dist/*.whl
	cd build/dist && CC=false CXX=false venv/bin/perceptive demo && venv/bin/perceptive --version

audit: $(READY) ## known weaknesses of what the package depends on
	@$(call install,pip-audit)
	$(BIN)/pip-audit --strict .

clean: ## remove everything that was built or installed
	rm -rf $(VENV) build dist site src/perceptive/_core.pyi .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# ---------------------------------------------------------------- set-up

$(READY):
	@test -n "$(PYTHON)" || { echo "perceptive needs Python 3.11 or newer; set PYTHON=…"; exit 1; }
	@echo "setting up $(VENV) with $(PYTHON) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@rm -f $(VENV)/.ready-* $(VENV)/.core-* $(VENV)/.with-*
	@$(BIN)/python -c 'import pathlib, tomllib; p = tomllib.load(open("pyproject.toml", "rb")); \
	    lists = {"ready": ["cmake", "ninja", *p["build-system"]["requires"], *p["project"]["dependencies"]], **p["project"]["optional-dependencies"]}; \
	    [pathlib.Path("$(VENV)", name + ".txt").write_text("\n".join(packages)) for name, packages in lists.items()]'
	@$(PIP) install uv || true
	@$(call install,-r $(VENV)/ready.txt)
	@touch $@

# What it depends on is there, and other packages may be on their way. mypy looks for the core's stub beside the sources.
$(CORE): | $(READY)
	@echo "building the core …"
	@rm -f $(VENV)/.core-*
	@$(PIP) install --no-deps --no-build-isolation -e .
	@cp "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/perceptive/_core.pyi" src/perceptive/
	@touch $@

# Not as '.[$*]': what is only to be had as sources is built in an environment of its own, as this package is not.
$(VENV)/.with-%-$(HASH): | $(READY)
	@echo "installing what $* needs …"
	@$(call install,-r $(VENV)/$*.txt)
	@touch $@
