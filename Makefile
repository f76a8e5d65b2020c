# Everything is one command away. The two that a newcomer needs: make quickstart, make test.

# Version control is not asked: a clone may belong to somebody else than the user who builds it.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false)

# Go and pip keep their caches under HOME; without a usable one they get a folder here.
HOME_USABLE := $(shell test -n "$$HOME" && mkdir -p "$$HOME" 2>/dev/null && test -w "$$HOME" && echo yes)
ifneq ($(HOME_USABLE),yes)
export HOME := $(CURDIR)/.cache/home
endif

# How long each fuzz target runs in fuzz-short and test.
FUZZTIME ?= 1s

.PHONY: all build worker quickstart quickstart-materialize test unit worker-test e2e bench fuzz-short race lint generate clean

all: build

# The static binary, without cgo.
build:
	CGO_ENABLED=0 go build -o bin/eider ./cmd/eider

# The program with DuckDB in it, for "eider maintain" and "eider snapshot restore". It needs a C compiler with the C++ library, and lies beside the server.
worker:
	cd worker && CGO_ENABLED=1 go build -o ../bin/eider-worker ./cmd/eider-worker

# Build, start on a temporary folder, run a lake session through a real DuckDB.
quickstart: build
	sh scripts/quickstart.sh

# The same for the project of scripts in examples/shop; the graph's page is graph.html.
quickstart-materialize: build worker
	sh scripts/quickstart-materialize.sh

# The whole suite: lint and unit tests, a short run of every fuzz target, the worker's tests, end-to-end tests. Totals are the last lines.
test:
	go run ./internal/tasks test -fuzztime $(FUZZTIME)

# Lint and unit tests only.
unit:
	go run ./internal/tasks test -only root

# The worker's unit tests only.
worker-test:
	go run ./internal/tasks test -only worker

# End-to-end tests only.
e2e:
	go run ./internal/tasks test -only e2e

# Eider beside PostgreSQL in one run, as ratios.
bench:
	cd e2e && go test -count=1 -timeout 120m -v -run '^TestBench' . -args -bench

fuzz-short:
	go run ./internal/tasks fuzz -fuzztime $(FUZZTIME)

race:
	go test -race -timeout 60m ./...

lint:
	go test -count=1 -timeout 20m ./internal/lint

# Files that are made from the code: docs/reference.
generate:
	go generate ./...

clean:
	rm -rf bin .cache
