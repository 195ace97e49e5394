# make help lists the targets. Only Go, make and git are needed for build, demo and test.

# The number is in version.go. A build that is not of the tag with this number has its revision as well.
RELEASE     := $(shell sed -n 's/^\tversion *= "\(v[^"]*\)".*/\1/p' cmd/pmg/version.go)
REVISION    ?= $(shell git rev-parse HEAD 2>/dev/null)
TAG         := $(shell git tag --points-at HEAD --list $(RELEASE) 2>/dev/null)
VERSION     ?= $(RELEASE)$(if $(TAG),,$(shell printf '%s' '$(REVISION)' | sed 's/^\(.\{9\}\).*/+\1/'))
# One line for each package that has ended; the last has counts and time.
GOTESTSUM   := gotest.tools/gotestsum@v1.13.0
GOTEST      ?= go run $(GOTESTSUM) --format pkgname --hide-summary skipped --
FUZZTIME    ?= 30s
DURATION    ?= 10m
KILLS       ?= 200
BENCH       ?= .
SEEDS       ?= 100000
PACKAGES    ?=
RUN         ?=
PKG         ?= ./sms/fit
N           ?= 50
FILES       ?=
WITH        ?=
COUNT       ?= 6
BASE        ?= HEAD~1
# Test programs without what only a debugger reads are linked in half the time. Some tests wait for time limits, so that more of
# them run than there are processors.
LINK        := -ldflags='-s -w'
PARALLEL    ?= 4
MODULES     ?= . $(if $(PACKAGES),,loadtest)

# Packages whose tests compare documents, and other files, with what the code makes of them.
MADE        := ./internal/arch ./config ./admin ./cmd/pmg ./protocols/smpp ./protocols/ucp ./sms/charset ./sms/plan ./cmd/pmg/migrate/kannel ./cmd/pmg/migrate/jasmin

GOBUILD     := CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION) -X main.revision=$(REVISION)'
GOVULNCHECK := go run golang.org/x/vuln/cmd/govulncheck@v1.1.4
BENCHSTAT   := go run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
MICRO       := go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./...

.DEFAULT_GOAL := help
.PHONY: help build build-bench demo cluster-demo test test-all check profile-age vet staticcheck format fresh race debug peers mutate fuzz soak simulate \
	backlog bench bench-relay bench-micro bench-compare pgo docs screenshots release release-check deb vulnerable clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## make bin/pmg, the gateway, and bin/pmgload, which tests it
	$(GOBUILD) -o bin/pmg ./cmd/pmg
	cd loadtest && $(GOBUILD) -o $(CURDIR)/bin/pmgload ./cmd/pmgload

# The architecture that the bench compares with is built from the last revision that had it.
CLASSIC     := ccdeb213
build-bench: build
	cd loadtest && $(GOBUILD) -o $(CURDIR)/bin/pmgbench ./bench/cmd/pmgbench
	@[ -x bin/pmgbench-classic ] || { old=$$(mktemp -d) && trap 'rm -rf "$$old"' EXIT && git archive $(CLASSIC) | tar -x -C "$$old" && \
	cd "$$old/loadtest/bench" && $(GOBUILD) -o $(CURDIR)/bin/pmgbench-classic ./cmd/pmgbench; }

demo: build ## run clients and an SMSC, with a gateway between them
	bin/pmgload demo

# Where the tests build nats-server, too.
NATS_RELEASE := $(shell sed -n 's/^[[:space:]]*release *= "\(.*\)"/\1/p' internal/testkit/natstest/natstest.go)
NATS_SERVER  := bin/nats-server-$(NATS_RELEASE)/nats-server

$(NATS_SERVER):
	GOBIN=$(CURDIR)/$(@D) GOFLAGS= CGO_ENABLED=0 go install github.com/nats-io/nats-server/v2@$(NATS_RELEASE)

cluster-demo: build $(NATS_SERVER) ## run three gateways as a cluster, an SMSC and clients; kill the owner of the work, move it, and count
	bin/pmgload cluster-demo --nats-server $(NATS_SERVER)

# Tests are built without the profile, because otherwise everything would be compiled twice.
test test-all race debug fresh docs vet staticcheck simulate mutate peers: export GOFLAGS += -pgo=off -trimpath

# loadtest is a module of its own; PACKAGES are of the product, unless MODULES=loadtest is given too.
# A failure in one does not hide the other.
each-module = @status=0; for module in $(MODULES); do (cd $$module && set -x && $(1)) || status=1; done; exit $$status

# PACKAGES and RUN narrow these down: make race PACKAGES=./gateway RUN='-run TestSettle -count 1'.

# make check vets, and make test-all has what is left out here: the bench, packages, browsers, kills, more seeds.
test: ## run the tests: about three minutes on two cores
	@echo "The dependencies are compiled first, once. make test-all runs the longer tests as well."
	$(call each-module,$(GOTEST) -short -vet=off $(LINK) -p $(PARALLEL) $(RUN) $(or $(PACKAGES),./...))

test-all: ## run all tests of all modules: about five minutes
	$(call each-module,$(GOTEST) -vet=off $(LINK) -p $(PARALLEL) $(RUN) $(or $(PACKAGES),./...))

check: profile-age vet staticcheck format fresh vulnerable ## check the source without running the gateway

vet:
	$(call each-module,go vet ./... && go vet -tags pmgdebug ./... && GOOS=darwin go vet ./...)

# Other builds are looked at where they have files of their own, and merged, so that code that only one of them uses is not reported as
# unused: looking at everything three times was a third of make check.
staticcheck:
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && GOBIN=$$dir go install honnef.co/go/tools/cmd/staticcheck@v0.8.2 && \
	for module in $(MODULES); do (cd $$module && \
		{ $$dir/staticcheck -f binary ./... >$$dir/all; others=$$(go list -f '{{if .IgnoredGoFiles}}{{.ImportPath}}{{end}}' ./...); \
		[ -z "$$others" ] || { $$dir/staticcheck -f binary -tags pmgdebug $$others >$$dir/debug; \
		GOOS=darwin $$dir/staticcheck -f binary $$others >$$dir/darwin; }; \
		$$dir/staticcheck -merge $$(find $$dir -type f ! -name staticcheck); }) || exit 1; rm -f $$dir/all $$dir/debug $$dir/darwin; done

# A profile of other code makes the compiler optimise what is not hot: 201 commits cost a fifth of the CPU.
profile-age:
	@made=$$(git log -1 --format=%h -- cmd/pmg/default.pgo 2>&1) && [ -n "$$made" ] && \
	lines=$$(git diff --numstat $$made -- stages connector gateway protocols pdulog sms store ':!*_test.go' | \
	awk '{n += $$1 + $$2} END {print n + 0}') || { echo "profile-age: SKIPPED, because this is no clone with its history"; exit 0; }; \
	if [ "$$lines" -gt 2000 ]; then echo "profile-age: $$lines lines of the hot path have changed since cmd/pmg/default.pgo was made: run make pgo"; \
	else echo "profile-age: $$lines lines of the hot path have changed since the profile was made"; fi

# The database of vulnerabilities is on the network; without it the step is skipped.
vulnerable:
	@out=$$($(GOVULNCHECK) ./... 2>&1); status=$$?; case "$$status:$$out" in \
	0:*) echo "govulncheck: no known vulnerability is called" ;; \
	*"fetching vulnerabilities"* | *"dial tcp"* | *"cannot find module"*) echo "govulncheck: SKIPPED, because the network has no database: $$(echo "$$out" | grep -v "^exit status" | tail -n 1)" ;; \
	*) echo "$$out"; exit 1 ;; esac

format:
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "not formatted (gofmt -w): $$unformatted"; exit 1; }

# Tests of import directions, package state, comments, and generated parts of documents.
fresh:
	$(GOTEST) ./internal/arch
	$(GOTEST) -run 'Fresh|Documents' $(MADE) ./internal/peers

# Fewer tests run in parallel, because the detector makes them use more CPU. Those that only make test-all runs are left out, unless
# make race SHORT= asks for them: they took three quarters of the time, and kill, fill disks and draw pages.
SHORT = -short
race: ## run the tests of make test with the race detector
	$(call each-module,$(GOTEST) -race $(SHORT) -vet=off $(LINK) -parallel 4 $(RUN) $(or $(PACKAGES),./...))

debug: ## run the tests of the pipeline, with four of them, and with jobs checked for double release, use after release and leaks
	$(call each-module,GOMAXPROCS=6 $(GOTEST) -tags pmgdebug $(RUN) $(or $(PACKAGES),$$([ $$module = . ] && echo ./stages/... ./internal/e2e || echo ./soak)))

mutate: ## make N (50) small faults in (FILES of) package PKG, and print those that no test notices; WITH names further packages of tests
	go run ./internal/testkit/mutate -pkg $(PKG) -files "$(FILES)" -n $(N) -with "$(WITH)"

# What cannot be installed is skipped, and named.
peers: build ## run clients and SMSCs that others wrote: docs/compatibility.md has the result
	-cd internal/peers/node && npm ci --no-audit --no-fund --silent
	-cd internal/peers/golang && go build -o bin/ ./gosmpp ./fiorix
	-cd internal/peers/c && mkdir -p bin && cc -O1 -o bin/smpp34 smpp34.c -lsmpp34
	cd internal/peers && $(GOTEST) -parallel 8 $(or $(RUN),-count 1 -run TestPeers) -args -peers -write

fuzz: ## fuzz every target, each for FUZZTIME (30s)
	@grep -rn --include='*_test.go' -o '^func Fuzz[A-Za-z0-9]*' . | while IFS=: read -r file _ func; do \
		echo "$$(dirname $$file) $${func#func }"; \
		(cd "$$(dirname $$file)" && go test -run '^$$' -fuzz "^$${func#func }\$$" -fuzztime $(FUZZTIME) . </dev/null) || exit 1; \
	done

soak: ## run load with faults for DURATION (10m), and kill the gateway KILLS (200) times: nothing lost, nothing grows
	cd loadtest && go test -count 1 -timeout 0 -v -run TestSoak ./soak -args -for $(DURATION)
	cd loadtest && go test -count 1 -timeout 0 -v -run TestKill ./system -args -kills $(KILLS) -receipt-kills 50 -http-kills 50 -money-kills $(KILLS)

simulate: ## play SEEDS (100000) histories of a whole node on a virtual clock, with faults
	$(GOTEST) -count 1 -timeout 0 -run TestSimulation ./internal/simulation -args -seeds $(SEEDS)

backlog: ## start a gateway with a million waiting messages, and measure
	cd loadtest && go test -count 1 -timeout 0 -v -run TestBacklog ./system -args -backlog 1000000

bench: build-bench ## compare the architectures over connections, windows and log levels, and measure a long run as operators run it
	bin/pmgbench
	bin/pmgbench --operated

bench-relay: build-bench ## compare with HAProxy relaying the same traffic, where haproxy is installed
	bin/pmgbench --relay

bench-micro: ## run the microbenchmarks that match BENCH, COUNT (6) times
	$(MICRO)

bench-compare: ## compare the microbenchmarks with those of revision BASE (HEAD~1)
	@old=$$(mktemp -d) && trap 'rm -rf "$$old"' EXIT && git archive $(BASE) | tar -x -C "$$old" && \
	(cd "$$old" && $(MICRO)) >"$$old/before.txt" && $(MICRO) >"$$old/after.txt" && \
	$(BENCHSTAT) before="$$old/before.txt" after="$$old/after.txt"

pgo: build ## profile the gateway under load, for the compiler: cmd/pmg/default.pgo
	loadtest/profile.sh bin/pmg bin/pmgload cmd/pmg/default.pgo

docs: ## write everything again that is made of the code; make peers and make bench write what they measure
	$(GOTEST) -run Fresh $(MADE) ./internal/testkit/walks -update

screenshots: ## make the pictures of the operators' pages in docs/screens
	go test ./cmd/pmg -run '^TestNight$$' -count 1 -screenshots $(CURDIR)/docs/screens

release: ## make archives, Debian packages, lists of modules and checksums in dist
	packaging/release.sh "$(VERSION)" "$(REVISION)" dist

release-check: release ## make a release again, elsewhere, and compare every octet
	@again=$$(mktemp -d) && trap 'rm -rf "$$again"' EXIT && git archive HEAD | tar -x -C "$$again" && mkdir "$$again/bin" && \
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) "$$again/packaging/release.sh" "$(VERSION)" "$(REVISION)" "$$again/dist" && \
	diff -r dist "$$again/dist" && echo "both are the same: $$(wc -l <dist/SHA256SUMS) files"

deb: build ## make the Debian package of this machine's kind in dist
	@stage=$$(mktemp -d) && trap 'rm -rf "$$stage"' EXIT && export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) && mkdir -p dist && \
	packaging/stage.sh bin "$$stage" && packaging/deb.sh "$$stage" "$$(go env GOARCH)" "$(VERSION)" dist/ && ls dist/*.deb

clean: ## remove bin and dist
	rm -rf bin dist
