# make help lists the targets.

GO      ?= go
BIN     := bin/synod
# The programs of a release; make install PROGRAMS=synod installs that one alone.
PROGRAMS ?= synod synod-serve synod-node synod-lab synod-parquet synod-cometbft
PREFIX  ?= $(HOME)/.local
TOOLS   := $(CURDIR)/.tools
STATIC  := $(TOOLS)/staticcheck
INSPECT := 0.3.285
export CGO_ENABLED ?= 0
# Programs, tests, vet and staticcheck compile with the same flags, so each package is compiled once.
export GOFLAGS := $(filter-out -trimpath,$(GOFLAGS)) -trimpath

.PHONY: modules nightly presets again trials million help overhead soak build synod FORCE nodes perturbed soak-nodes change install reproducible release model test unit concurrent check examples serve browser clients smartbft cometbft comet histories parquet race fuzz flips campaign campaigns certificates coverage kills mutants detection endless bugs bench slow-members rehearsal transcript inspect probe probe-check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: synod bin/synod-node bin/synod-serve bin/synod-lab ## build bin/synod and the programs beside it, the same bytes from the same commit in any folder

synod: bin/synod ## build bin/synod alone, without downloading the libraries of the other programs

bin/synod: FORCE
	$(GO) build -trimpath -buildvcs=auto -ldflags '-s -w' -o $(BIN) ./cmd/synod

bin/synod-node: FORCE
	cd cmd/synod-node && $(GO) build -trimpath -buildvcs=auto -ldflags '-s -w' -o ../../bin/synod-node .

bin/synod-serve: FORCE
	cd cmd/synod-serve && $(GO) build -trimpath -buildvcs=auto -ldflags '-s -w' -o ../../bin/synod-serve .

bin/synod-lab: FORCE
	cd cmd/synod-lab && $(GO) build -trimpath -buildvcs=auto -ldflags '-s -w' -o ../../bin/synod-lab .

bin/synod-cometbft: FORCE
	cd record/ledger/cometbft && $(GO) build -trimpath -buildvcs=auto -ldflags '-s -w' -o ../../../bin/synod-cometbft ./synod-cometbft

bin/synod-parquet: FORCE
	cd bench/parquet && $(GO) build -trimpath -buildvcs=auto -ldflags '-s -w' -o ../../bin/synod-parquet .

comet: bin/synod-cometbft ## build bin/synod-cometbft, which nodes need for ledger: {name: cometbft}

FORCE:

install: $(PROGRAMS:%=bin/%) ## install PROGRAMS (all) in $(PREFIX)/bin (PREFIX=~/.local), with man pages and completion
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(PROGRAMS:%=bin/%) $(DESTDIR)$(PREFIX)/bin
	$(GO) run ./internal/manual $(DESTDIR)$(PREFIX)/share
	@echo "installed in $(DESTDIR)$(PREFIX)/bin: $(PROGRAMS)"; case ":$$PATH:" in *:$(PREFIX)/bin:*) ;; *) \
	  echo "$(PREFIX)/bin is not in PATH: export PATH=\"$(PREFIX)/bin:\$$PATH\"";; esac

reproducible: ## build synod from the commit in two folders, and compare the binaries
	@packaging/reproducible.sh

release: ## archives and Debian packages of all programs, and SHA256SUMS, in dist; PLATFORMS="linux/amd64" for some platforms
	@packaging/release.sh

again: ## build the release two times, and compare the checksums
	@set -e; packaging/release.sh >/dev/null; sums=$$(mktemp); cp dist/SHA256SUMS "$$sums"; packaging/release.sh >/dev/null; \
	cmp "$$sums" dist/SHA256SUMS && rm "$$sums" && echo "the same bytes two times:" && cat dist/SHA256SUMS

model: build ## fetch the embedded model (about 110 MB, once)
	$(BIN) models pull

test: model check reproducible examples unit serve concurrent ## what the README promises a newcomer

modules: serve nodes lab parquet smartbft cometbft ## vet and tests of the modules beside the main one

# Long computations that repeat with more runs what faster tests check for every change.
nightly: change ## the tests that CI leaves out; before a release
	SYNOD_NIGHTLY=1 $(GO) test $(TOGETHER) -count=1 -vet=off -timeout 2h \
	  $$($(GO) list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... | awk '/ .*nightly/ {print $$1}')

# Tests, and the compiler, collect garbage less often than usual: a fifth of the processor time less.
test modules unit concurrent race check examples serve nodes lab parquet smartbft cometbft: export GOGC ?= 400
# The race detector takes several times the memory.
concurrent race: export GOGC = 200

# Many tests wait for servers and clocks, so four packages at a time keep two cores busy.
TOGETHER := -p 4

unit: ## all tests of this module, with whole campaigns; check vets them
	$(GO) test $(TOGETHER) -vet=off -timeout 30m ./...

presets: ## every cell of every preset with simulated members
	$(GO) test -count=1 -timeout 1h -v -run PresetsRun ./bench/manifest -every 1

check: build $(STATIC) ## gofmt, vet, staticcheck, the rules of the house
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt would change these"; exit 1; }
	$(GO) vet ./...
	$(STATIC) ./...
	$(GO) test -count=1 -run TestHouse ./internal/house

# Packages with goroutines, locks or coroutines. Protocols, adversaries and the rest are plain functions of events.
CONCURRENT := ./council $(addprefix ./internal/,altered bugs chart compiled durable faultdisk filelock llmtest origin program) ./core/journal ./bench ./network/link $(addprefix ./llm,/ /engine /models /read/formula) ./network/node/... ./core/script ./core/sim
# Long tests of computations that start no goroutines of their own; unit and race play them.
COMPUTED := ChangedBits|JudgeOfJournal|PlainWeiszfeld|UserAccepts|FinalisationIsCode|StrongGroup

concurrent: ## the tests of packages with concurrency, under the race detector where there is a C compiler
	$(call race,-short -skip '$(COMPUTED)' $(CONCURRENT))

race: ## all tests under the race detector, where campaigns play fewer executions
	$(call race,./...)

race = @if command -v $${CC:-cc} >/dev/null; then CGO_ENABLED=1 $(GO) test $(TOGETHER) -vet=off -race -timeout 30m $(1); \
	else echo "no C compiler: nothing runs under the race detector"; fi

EXAMPLES := adversary aggregate member protocol task topology

examples: ## the modules in examples: at most 40 lines each, and their tests pass
	@for m in $(EXAMPLES); do test $$(wc -l < examples/$$m/$$m.go) -le 40 || { echo "examples/$$m/$$m.go has over 40 lines"; exit 1; }; done
	cd examples && $(GO) vet $(EXAMPLES:%=./%) && $(GO) test $(EXAMPLES:%=./%)

nodes: ## the module of synod-node: vet and tests, with seven processes in network namespaces where root runs it
	cd cmd/synod-node && $(GO) vet ./... && $(GO) test -timeout 20m ./...

serve: ## the module of synod-serve: vet and tests, with a PostgreSQL where one is installed
	cd cmd/synod-serve && $(GO) vet ./... && $(GO) test -timeout 10m ./...

.PHONY: lab sweep
lab: ## the module of synod-lab: vet and tests, with hub and workers in processes that are killed
	cd cmd/synod-lab && $(GO) vet ./... && $(GO) test -timeout 10m ./...

CELLS ?= 2000
sweep: ## CELLS cells (2000) over three workers, six kills; a hub lost for a minute; clocks that are an hour wrong
	cd cmd/synod-lab && $(GO) test -count=1 -timeout 1h -v -run 'Killed|HubLost|Limits' . -cells $(CELLS) -kills 6 -lost 1m
	cd cmd/synod-lab && $(GO) test -count=1 -timeout 1h -v -run Clocks . -clocks

REQUESTS ?= 10000
overhead: bin/synod-serve ## processor time, latency and memory of synod serve, and of LiteLLM's proxy where it is installed (LITELLM=path)
	cd cmd/synod-serve && $(GO) run ./internal/overhead -gateway ../../bin/synod-serve -requests $(REQUESTS) -flat $(or $(FLAT),0) \
	  -litellm $(or $(LITELLM),litellm)

browser: ## the web page in Chromium: a person's way through it, hostile texts, accessibility; SYNOD_SCREENSHOTS=DIR
	cd cmd/synod-serve && $(GO) vet -tags browser ./internal/page && \
	  $(GO) test -count=1 -timeout 10m -v -tags browser -run 'Journey|Keyboard|Looks|Hostile' ./internal/page

.PHONY: hostile
hostile: ## attacks on synod serve --memory 256MiB by a key and by a user of the machine: spent, allocated, refused
	cd cmd/synod-serve && $(GO) test -count=1 -v -timeout 5m -run '^TestHostile$$' .

RATE ?= 200
soak: bin/synod-serve ## RATE (200) requests a second to synod serve for SOAK (10m), with faults, and hostile keys among honest ones
	cd cmd/synod-serve && $(GO) run ./internal/overhead -gateway ../../bin/synod-serve -soak $(or $(SOAK),10m) -rate $(RATE) \
	  $(if $(SHARED),-shared)

clients: ## clients of OpenAI, Anthropic, MCP, A2A, agents and evaluations, from their registries, against synod serve
	cd cmd/synod-serve && $(GO) test -tags sdk -run 'OpenAI|Anthropic|Retries|Responses|GoSDKs' ./internal/gateway ./internal/clients
	cmd/synod-serve/internal/clients/testdata/run.sh

RUNS ?= 1000
perturbed: ## RUNS perturbed runs (1000) of councils of nodes: delay, loss, partitions, kills, twins, floods
	$(GO) test -count=1 -timeout 12h -v -run TestPerturbed ./network/node -perturbed $(RUNS)

QUESTIONS ?= 20000
soak-nodes: ## QUESTIONS (20000) to seven processes, with kills, restarts, a Byzantine seat and a caller that floods; LEAK=1 must fail
	cd cmd/synod-node && $(GO) test -count=1 -timeout 24h -v -run '^TestSoakNodes$$' . -questions $(QUESTIONS) $(if $(LEAK),-leak)

change: ## 500 questions to seven processes while their roster changes, and the same without overlap; 5 min
	cd cmd/synod-node && SYNOD_NIGHTLY=1 $(GO) test -count=1 -timeout 40m -v -run TestChangeUnderLoad . -change-questions 500

smartbft: ## the ledger that replicas keep by consensus, a module of its own
	cd record/ledger/smartbft && $(GO) vet ./... && $(GO) test ./...

cometbft: ## the same ledger by CometBFT, a module of its own
	cd record/ledger/cometbft && $(GO) vet ./... && $(GO) test ./...

DURATION ?= 60s
histories: ## faults and Byzantine replicas for DURATION (60s) in each test of each ledger; histories must be linearizable
	$(GO) test -count=1 -timeout 4h -v -run Histories ./record/ledger
	cd record/ledger/smartbft && $(GO) test -count=1 -timeout 4h -v -run 'Histories|Byzantine|Streams' . -duration $(DURATION)
	cd record/ledger/cometbft && $(GO) test -count=1 -timeout 4h -v -run 'Histories|Byzantine' . -duration $(DURATION)

parquet: ## the command that reads and writes Parquet tables, a module of its own; make bin/synod-parquet builds it
	cd bench/parquet && $(GO) vet ./... && $(GO) test ./...

$(STATIC):
	GOBIN=$(TOOLS) $(GO) install honnef.co/go/tools/cmd/staticcheck@v0.7.0

FUZZTIME ?= 5s
FUZZED := . cmd/synod-serve
fuzz: ## FUZZTIME (5s) for every fuzz target of all modules, and how many inputs each tried; PKG=./record/ledger for some
	@set -e; printf '%-50s %-18s %s\n' package target tried; for module in $(FUZZED); do cd $(CURDIR)/$$module; \
	for pkg in $$($(GO) list $(or $(PKG),./...)); do dir=$$($(GO) list -f '{{.Dir}}' $$pkg); \
	for f in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' $$dir/*_test.go 2>/dev/null); do \
	  out=$$($(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 50x $$pkg 2>&1) || { echo "$$out"; exit 1; }; \
	  printf '%-50s %-18s %s\n' $$pkg $$f $$(echo "$$out" | sed -n 's/.*execs: \([0-9]*\).*/\1/p' | tail -1); \
	done; done; $(if $(PKG),break,:); done

flips: ## 2,000 bit flips in each kind of record, and 400 crafted files
	$(GO) test -count=1 -timeout 2h -v -run 'TestFlips|TestCraftedFiles' ./cmd/cli -flips 2000 -crafted 400

CAMPAIGN ?= 1000000
campaign: ## CAMPAIGN seeded executions (1000000) of broadcast, DecentLLMs, the leaders' protocols, the game and W-MSR
	$(GO) test -count=1 -timeout 24h -v -run 'BB|DL|LB|GM5|Worst|Converges|Exhaustive|Twin|RealKeys' \
	  ./protocol/broadcast ./protocol/decentllms ./protocol/rotatingleader ./protocol/fixedleader ./protocol/game ./protocol/wmsr -executions $(CAMPAIGN)

# The record of a campaign is that of one program, which is kept beside it: later calls go on with that one.
campaigns: FOLDER = $(or $(CAMPAIGNS),runs/campaign-$(or $(TIER),T1))
campaigns: synod ## the campaign of TIER (T1) in CAMPAIGNS (runs/campaign-TIER), resumable, and its check; T2 takes two hours on two cores
	@mkdir -p $(FOLDER) && { test -e $(FOLDER)/synod || cp $(BIN) $(FOLDER)/synod; }
	$(FOLDER)/synod research campaign run --tier $(or $(TIER),T1) -o $(FOLDER) $(if $(MINUTES),--minutes $(MINUTES))
	$(FOLDER)/synod research campaign verify $(FOLDER)

.PHONY: attack-table weakened worth-it worth-gateway
TRIES ?= 10000
weakened: ## searches for attacks with TRIES tries (10000) on protocols without one of their defences, and with it
	$(GO) test -count=1 -timeout 24h -v -run Weakened ./bench/attack/search -tries $(TRIES)

ATTACKS ?= runs/attacks
attack-table: build ## docs/research/adversaries.md with simulated, recorded and embedded members (DATA=folder)
	for m in simulated recorded embedded; do $(BIN) bench run attack-table --members $$m $(if $(DATA),--data $(DATA)) -o $(ATTACKS)/$$m || exit 1; done
	$(BIN) bench run judge-range -o $(ATTACKS)/judges
	$(BIN) attack guide $(ATTACKS)/judges $(ATTACKS)/simulated $(ATTACKS)/recorded $(ATTACKS)/embedded --format json > docs/research/which-protocol.json
	$(GO) test -count=1 ./bench/attack -run TestGuideTable -rewrite

endless: synod ## campaigns, fuzz targets, kills and bit flips in turn for HOURS (1h), with new seeds, in ENDLESS (runs/endless)
	$(GO) run ./internal/endless -length $(or $(HOURS),1h) -keep $(or $(ENDLESS),runs/endless)

MUTANTS ?= 1000000
STRUCTURED ?= 100000
certificates: ## STRUCTURED mutants of the structure (100000) to three verifiers; MUTANTS of bytes (1000000) to two, and 10000 real ones
	$(GO) test -count=1 -timeout 24h -v -run 'Three|Weak' ./record/certificate -structured $(STRUCTURED)
	$(GO) test -count=1 -timeout 24h -v -run TestBoth ./record/certificate -mutants $(MUTANTS) -genuine 10000

STUDIES ?= 10000
coverage: ## how often intervals have the true value, and stated against achieved power, in STUDIES synthetic studies (10000)
	$(GO) test -count=1 -timeout 2h -v -run 'TestCoverage' ./bench/metrics -studies $(STUDIES)
	$(GO) test -count=1 -timeout 2h -v -run 'Power|Covers' ./core/stats -studies $(STUDIES)

KILLS ?= 450
kills: ## kill "synod ask" and "synod bench" KILLS times (450) at random moments, and compare with uninterrupted runs
	$(GO) test -count=1 -timeout 60m -v -run 'TestKills$$' ./cmd/cli -kills $(KILLS)

MUTATED := ./core/sign ./core/robust ./core/script ./core/sim ./core/journal ./council ./council/plan ./council/outcome ./bench ./graph $(wildcard ./protocol/*)
GREMLINS := $(TOOLS)/gremlins
SEED ?= 1
# Packages that protocols share are also tested by the tests of the protocols.
TESTS_answer := ./protocol/single,./protocol/debate,./protocol/wmsr
TESTS_grade  := ./protocol/decentllms
TESTS_leader := ./protocol/rotatingleader,./protocol/fixedleader
TESTS_sac    := ./protocol/cascade

trials: ## 10,000 trials of every adversary against the defence that is said to stop it; about six minutes of processor time
	$(GO) test -count=1 -timeout 6h -v -run 'TestAttacks$$' ./adversary -trials 10000

mutants: $(GREMLINS) ## mutation tests; PKG=./council for one package, SAMPLE=150 SEED=1 for some of its mutants
	@$(foreach p,$(or $(PKG),$(MUTATED)),$(GO) run ./internal/mutants -gremlins $(GREMLINS) -sample $(or $(SAMPLE),0) \
	  -seed $(SEED) -tests "$(or $(TESTS),$(TESTS_$(notdir $(p))))" $(if $(ONLY),-only '$(ONLY)') $(p) &&) true

DETECTED := ./protocol/broadcast ./protocol/leader ./protocol/fixedleader ./protocol/rotatingleader ./protocol/decentllms ./protocol/game \
  ./protocol/cpwbft ./protocol/sac ./protocol/wmsr ./protocol/cascade ./protocol/panel ./protocol/debate ./protocol/majority \
  ./protocol/weightedmajority ./core/sign ./core/script ./core/robust ./core/journal ./council/outcome ./graph/robustness ./record/ledger \
  ./record/evidence ./record/certificate
detection: $(GREMLINS) ## campaigns against mutants of protocols and core: SAMPLE (25) a package, LIMIT (1m) each; UNITS=1 adds unit tests; hours
	$(GO) run ./internal/mutants -gremlins $(GREMLINS) -campaign $(or $(LIMIT),1m) -sample $(or $(SAMPLE),25) -seed $(SEED) \
	  $(if $(UNITS),-units) $(or $(PKG),$(DETECTED))

$(GREMLINS):
	GOBIN=$(TOOLS) $(GO) install github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0

bugs: ## seed the bugs of internal/bugs/bugs.yaml one at a time; red if a check finds one of them no more; ONLY='broadcast|ledger'
	$(GO) run ./internal/bugs $(if $(ONLY),-only '$(ONLY)')

MILLION ?= 100
million: synod ## 10000 simulated questions, MILLION times each (100), in MILLIONS (runs/million): rate, memory, bytes, report
	mkdir -p $(dir $(or $(MILLIONS),runs/million))
	seq 0 9999 | awk '{printf "{\"id\":\"q%d\",\"question\":\"What is %d + 17?\",\"answer\":\"%d\"}\n", $$1, $$1, $$1 + 17}' \
	  > $(or $(MILLIONS),runs/million).jsonl
	/usr/bin/time -v $(BIN) bench run $(or $(MILLIONS),runs/million).jsonl --form number --repeat $(MILLION) -c examples/simulated.yaml \
	  --parallel 8 -o $(or $(MILLIONS),runs/million)
	du -sb $(or $(MILLIONS),runs/million)
	/usr/bin/time -v $(BIN) bench report $(or $(MILLIONS),runs/million)

bench: ## the benchmarks that docs/operate/performance.md reports
	$(GO) test -run '^$$' -bench . -benchmem ./...

worth-gateway: ## 300 recorded questions by OpenAI's client through synod serve: tiers, also as a race, and the strong model; eight minutes
	cd cmd/synod-serve && $(GO) test -count=1 -tags sdk -timeout 20m -run TiersOfRecorded -v ./internal/gateway

.PHONY: live
LIVE ?= runs/live
live: synod ## worth-it with the models whose keys are in the environment, 60 questions, at most 1 USD (PRICES=file); skipped without keys
	@packaging/live.sh $(BIN) $(LIVE) $(if $(PRICES),--prices $(PRICES))

WORTH ?= runs/worth-it
worth-it: build ## docs/worth-it.md from the recorded votes in DATA; resumable in WORTH (runs/worth-it), 20 minutes on two cores
	$(BIN) bench run worth-it --data $(DATA) -o $(WORTH)
	$(BIN) bench report $(WORTH) --format csv --plots $(WORTH)-plots > $(WORTH).csv
	for p in predicted budgets spread independence coverage; do cp $(WORTH)-plots/$$p.svg docs/images/worth-$$p.svg || exit 1; done
	$(GO) test -count=1 ./bench/computed -run TestWorthPage -rewrite -report $(abspath $(WORTH)).csv

slow-members: ## renew the table of members that hang, are slow or have no server in docs/operate/performance.md
	$(GO) test -count=1 -timeout 30m -run TestSlowMembers ./council -rewrite -think 500ms

rehearsal: ## an experiment of each paper with a server that answers by ability: killed, resumed, billed, tables and figures
	$(GO) test -count=1 ./cmd/cli -run TestRehearsal -v

transcript: ## renew the transcripts; read the diff
	@for t in protocol/*/testdata; do $(GO) test ./$${t%/testdata} -run "Transcripts|Protocol" -rewrite || exit 1; done

probe: build ## collect, train and measure a probe; TASK=arc-easy DATA=folder N=500 for another task
	$(BIN) research probe train runs/probe-$(or $(TASK),builtin) --collect $(or $(TASK),builtin) -n $(or $(N),300) --components 16,64,256 $(if $(DATA),--data $(DATA))

probe-check: ## fit the probes in DIR, which synod research probe train wrote, with scikit-learn of PYTHON, and compare AUCs
	$(or $(PYTHON),python3) llm/probe/testdata/sklearn_check.py $(DIR)

inspect: build ## have the released inspect_ai read exported logs (fetches it into a throw-away environment)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	python3 -m venv "$$dir/venv" && \
	"$$dir/venv/bin/pip" install --quiet --disable-pip-version-check inspect_ai==$(INSPECT) && \
	"$$dir/venv/bin/python" bench/testdata/inspect_check.py $(BIN) "$$dir"

clean: ## remove what was built
	rm -rf bin dist .tools
