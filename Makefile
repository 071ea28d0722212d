# make help lists the targets.

GO      ?= go
BIN     := bin/synod
PREFIX  ?= $(HOME)/.local
TOOLS   := $(CURDIR)/.tools
STATIC  := $(TOOLS)/staticcheck
INSPECT := 0.3.285
export CGO_ENABLED ?= 0
# Programs, tests, vet and staticcheck compile with the same flags, so each package is compiled once.
export GOFLAGS := $(filter-out -trimpath,$(GOFLAGS)) -trimpath

.PHONY: again help overhead soak build synod FORCE nodes perturbed install reproducible release model test unit concurrent check examples serve browser clients smartbft cometbft comet histories parquet race fuzz flips campaign certificates kills mutants bench transcript inspect probe clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: synod bin/synod-node bin/synod-serve ## build bin/synod, bin/synod-node and bin/synod-serve, the same bytes from the same commit in any folder

synod: ## build bin/synod alone, without downloading the libraries of the other programs
	$(GO) build -trimpath -buildvcs=auto -o $(BIN) ./cmd/synod

bin/synod-node: FORCE
	cd cmd/synod-node && $(GO) build -trimpath -buildvcs=auto -ldflags '-s -w' -o ../../bin/synod-node .

bin/synod-serve: FORCE
	cd cmd/synod-serve && $(GO) build -trimpath -buildvcs=auto -ldflags '-s -w' -o ../../bin/synod-serve .

bin/synod-cometbft: FORCE
	cd ledger/cometbft && $(GO) build -trimpath -buildvcs=auto -ldflags '-s -w' -o ../../bin/synod-cometbft ./synod-cometbft

comet: bin/synod-cometbft ## build bin/synod-cometbft, which nodes need for ledger: {name: cometbft}

FORCE:

install: synod ## install $(PREFIX)/bin/synod (PREFIX=~/.local), man pages, completion, and the other programs after make build
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(BIN) $(wildcard bin/synod-node bin/synod-serve) $(DESTDIR)$(PREFIX)/bin
	$(GO) run ./internal/manual $(DESTDIR)$(PREFIX)/share
	@echo "$(DESTDIR)$(PREFIX)/bin/synod is installed"; case ":$$PATH:" in *:$(PREFIX)/bin:*) ;; *) \
	  echo "$(PREFIX)/bin is not in PATH: export PATH=\"$(PREFIX)/bin:\$$PATH\"";; esac

reproducible: ## build the commit in two folders and compare the binaries
	@packaging/reproducible.sh

release: ## archives for Linux and macOS, Debian packages and SHA256SUMS in dist
	@packaging/release.sh

again: ## build the release two times, and compare the checksums
	@set -e; packaging/release.sh >/dev/null; sums=$$(mktemp); cp dist/SHA256SUMS "$$sums"; packaging/release.sh >/dev/null; \
	cmp "$$sums" dist/SHA256SUMS && rm "$$sums" && echo "the same bytes two times:" && cat dist/SHA256SUMS

model: build ## fetch the embedded model (about 110 MB, once)
	$(BIN) models pull

test: model check reproducible examples unit serve concurrent ## what CI always runs

# Many tests wait for servers and clocks, so four packages at a time keep two cores busy.
TOGETHER := -p 4

unit: ## all tests of this module, with whole campaigns
	$(GO) test $(TOGETHER) -timeout 30m ./...

check: build $(STATIC) ## gofmt, vet, staticcheck, the rules of the house
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt would change these"; exit 1; }
	$(GO) vet ./...
	$(STATIC) ./...
	$(GO) test -count=1 -run TestHouse .

# Packages with goroutines, locks or coroutines. Protocols, adversaries and the rest are plain functions of events.
CONCURRENT := ./council ./internal/... ./journal ./lab ./link ./llm/... ./node/... ./script ./sim
# Long tests of computations that start no goroutines of their own; unit and race play them.
COMPUTED := JudgeOfJournal|PlainWeiszfeld|UserAccepts|FinalisationIsCode|StrongGroup

concurrent: ## the tests of packages with concurrency, under the race detector where there is a C compiler
	$(call race,-short -skip '$(COMPUTED)' $(CONCURRENT))

race: ## all tests under the race detector, where campaigns play fewer executions
	$(call race,./...)

race = @if command -v $${CC:-cc} >/dev/null; then CGO_ENABLED=1 $(GO) test $(TOGETHER) -race -timeout 30m $(1); \
	else echo "no C compiler: nothing runs under the race detector"; fi

EXAMPLES := adversary aggregate member protocol task topology

examples: ## the modules in examples: at most 40 lines each, and their tests pass
	@for m in $(EXAMPLES); do test $$(wc -l < examples/$$m/$$m.go) -le 40 || { echo "examples/$$m/$$m.go has over 40 lines"; exit 1; }; done
	cd examples && $(GO) vet $(EXAMPLES:%=./%) && $(GO) test $(EXAMPLES:%=./%)

nodes: ## the module of synod-node: vet and tests, with seven processes in network namespaces where root runs it
	cd cmd/synod-node && $(GO) vet ./... && $(GO) test -timeout 20m ./...

serve: ## the module of synod-serve: vet and tests, with a PostgreSQL where one is installed
	cd cmd/synod-serve && $(GO) vet ./... && $(GO) test -timeout 10m ./...

REQUESTS ?= 10000
overhead: bin/synod-serve ## processor time, latency and memory of synod serve, and of LiteLLM's proxy where it is installed (LITELLM=path)
	cd cmd/synod-serve && $(GO) run ./internal/overhead -gateway ../../bin/synod-serve -requests $(REQUESTS) -flat $(or $(FLAT),0) \
	  -litellm $(or $(LITELLM),litellm)

browser: ## the web page in Chromium: a person's way through it, 200 hostile texts, accessibility; SYNOD_SCREENSHOTS=DIR
	cd cmd/synod-serve && $(GO) vet -tags browser ./internal/page && \
	  $(GO) test -count=1 -timeout 10m -v -tags browser -run 'Journey|Keyboard|Looks|Hostile' ./internal/page

RATE ?= 200
soak: bin/synod-serve ## RATE (200) requests a second to synod serve for SOAK (10m), with faults
	cd cmd/synod-serve && $(GO) run ./internal/overhead -gateway ../../bin/synod-serve -soak $(or $(SOAK),10m) -rate $(RATE)

clients: ## clients of OpenAI, Anthropic, MCP, A2A, agents and evaluations, from their registries, against synod serve
	cd cmd/synod-serve && $(GO) test -tags sdk -run 'OpenAI|Anthropic|Retries|Responses' ./internal/gateway
	cmd/synod-serve/internal/clients/testdata/run.sh

RUNS ?= 1000
perturbed: ## RUNS perturbed runs (1000) of councils of nodes: delay, loss, partitions, kills, twins, floods
	$(GO) test -count=1 -timeout 12h -v -run TestPerturbed ./node -perturbed $(RUNS)

smartbft: ## the ledger that replicas keep by consensus, a module of its own
	cd ledger/smartbft && $(GO) vet ./... && $(GO) test ./...

cometbft: ## the same ledger by CometBFT, a module of its own
	cd ledger/cometbft && $(GO) vet ./... && $(GO) test ./...

DURATION ?= 60s
histories: ## faults and Byzantine replicas for DURATION (60s) in each test of each ledger; histories must be linearizable
	$(GO) test -count=1 -timeout 4h -v -run Histories ./ledger
	cd ledger/smartbft && $(GO) test -count=1 -timeout 4h -v -run 'Histories|Byzantine|Streams' . -duration $(DURATION)
	cd ledger/cometbft && $(GO) test -count=1 -timeout 4h -v -run 'Histories|Byzantine' . -duration $(DURATION)

parquet: ## the command that converts Parquet tables, a module of its own
	cd parquet && $(GO) vet ./... && $(GO) test ./...

$(STATIC):
	GOBIN=$(TOOLS) $(GO) install honnef.co/go/tools/cmd/staticcheck@v0.7.0

fuzz: ## five seconds for every fuzz target
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 5s $$pkg || exit 1; \
	  done; \
	done

flips: ## 2,000 bit flips in each kind of record, and 400 crafted files
	$(GO) test -count=1 -timeout 2h -v -run 'TestFlips|TestCraftedFiles' ./cli -flips 2000 -crafted 400

CAMPAIGN ?= 1000000
campaign: ## CAMPAIGN seeded executions (1000000) of broadcast, DecentLLMs, the leaders' protocols, the game and W-MSR
	$(GO) test -count=1 -timeout 24h -v -run 'BB|DL|LB|GM5|Worst|Converges|Exhaustive|Twin|RealKeys' \
	  ./protocol/broadcast ./protocol/decentllms ./protocol/rotatingleader ./protocol/fixedleader ./protocol/game ./protocol/wmsr -executions $(CAMPAIGN)

MUTANTS ?= 1000000
certificates: ## MUTANTS mutated certificates (1000000) to both verifiers, every bit flip and truncation among them; 10000 real ones
	$(GO) test -count=1 -timeout 24h -v -run TestBoth ./certificate -mutants $(MUTANTS) -genuine 10000

KILLS ?= 450
kills: ## kill "synod ask" and "synod bench" KILLS times (450) at random moments, and compare with uninterrupted runs
	$(GO) test -count=1 -timeout 60m -v -run 'TestKills$$' ./cli -kills $(KILLS)

MUTATED := ./sign ./robust ./script ./sim ./journal ./council ./lab $(wildcard ./protocol/*)
GREMLINS := $(TOOLS)/gremlins
SEED ?= 1
# Packages that protocols share are also tested by the tests of the protocols.
TESTS_answer := ./protocol/single,./protocol/debate,./protocol/wmsr
TESTS_grade  := ./protocol/decentllms
TESTS_leader := ./protocol/rotatingleader,./protocol/fixedleader
mutants: $(GREMLINS) ## mutation tests; PKG=./council for one package, SAMPLE=150 SEED=1 for some of its mutants
	@$(foreach p,$(or $(PKG),$(MUTATED)),$(GO) run ./internal/mutants -gremlins $(GREMLINS) -sample $(or $(SAMPLE),0) \
	  -seed $(SEED) -tests "$(or $(TESTS),$(TESTS_$(notdir $(p))))" $(if $(ONLY),-only '$(ONLY)') $(p) &&) true

$(GREMLINS):
	GOBIN=$(TOOLS) $(GO) install github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0

bench: ## the benchmarks that docs/performance.md reports
	$(GO) test -run '^$$' -bench . -benchmem ./...

transcript: ## renew the transcripts; read the diff
	@for t in protocol/*/testdata; do $(GO) test ./$${t%/testdata} -run "Transcripts|Protocol" -rewrite || exit 1; done

probe: build ## collect, train and measure a probe; TASK=arc-easy DATA=folder N=500 for another task
	$(BIN) probe train runs/probe-$(or $(TASK),builtin) --collect $(or $(TASK),builtin) -n $(or $(N),300) --components 16,64,256 $(if $(DATA),--data $(DATA))

inspect: build ## have the released inspect_ai read exported logs (fetches it into a throw-away environment)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	python3 -m venv "$$dir/venv" && \
	"$$dir/venv/bin/pip" install --quiet --disable-pip-version-check inspect_ai==$(INSPECT) && \
	"$$dir/venv/bin/python" lab/testdata/inspect_check.py $(BIN) "$$dir"

clean: ## remove what was built
	rm -rf bin dist .tools
