package bench

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"slices"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
)

// Report computes the report from the files of the run.
func (r *Run) Report() (*report.Report, error) {
	x, err := r.read()
	if err != nil {
		return nil, err
	}
	defer x.close()
	return x.summarize()
}

// addUses adds what each seat used for a question.
func addUses(sum, of []llm.Use) {
	for i, u := range of {
		sum[i].Plus(u)
	}
}

// summarize computes the report. also is called for every finished question.
func (r *reader) summarize(also ...func(*result)) (*report.Report, error) {
	past, err := r.histories()
	if err != nil {
		return nil, err
	}
	out := r.emptyReport()
	var ranks ranks
	var latency, elapsed metrics.Mean
	kinds, models := newKinds(r.roles()), newModelTally(&r.RunManifest)
	tally, sure, drops, uses := metrics.NewTally(r.roles()), newCalibrators(r.Seats), newDrops(len(r.Seats)), r.uses()
	digests, judged := newDigests(r.Repeat), newJudging(r.Seats)
	err = r.results(func(j job, res *result) {
		h := past[j]
		if res == nil {
			if h.last.Failed {
				tally.Fail(r.id(j))
				out.Failures = append(out.Failures, r.failure(j, h))
			}
			return
		}
		tally.Add(res.GradedQuestion)
		for _, take := range also {
			take(res)
		}
		kinds.add(r.Items[j.item], &res.GradedQuestion)
		sure.add(res.GradedQuestion, r.roles())
		models.add(res)
		drops.add(res.noted)
		judged.add(res)
		ranks.add(res.Question, res.ranked)
		r.follow(out, j, res)
		r.timed(res, &latency, &elapsed)
		count(out, res, h.seconds+float64(res.row.Ms)/1e3)
		addUses(uses, res.uses)
		digests.add(j.repeat, res.digest)
	})
	if err != nil {
		return nil, err
	}
	r.tallied(out, tally)
	out.Levels, out.Topics = kinds.levels.List(), kinds.topics.List()
	out.Calibration, out.Judging = sure.report(), judged.report()
	out.Drops, out.Failed = drops.list(out.Seats), len(out.Failures)
	out.Ranked, out.Latency, out.LatencySeconds = ranks.rates(), latency.Rate(), elapsed.Rate()
	out.Unfinished, out.Digest = out.Questions-out.Finished-out.Failed, digests.String()
	out.Models, out.Setting = models.list(uses, r.prices()), r.setting(models)
	r.aboutGraph(out)
	out.Money = r.prices().Bill(uses)
	out.Cost = out.Money.Cost()
	return out, nil
}

// digests computes the digest of all runs: of the first repeats of all questions, then of the second, and so on.
type digests struct {
	sum   hash.Hash  // of the first repeats
	later [][]string // digests of the others, which come too early for the sum
}

func newDigests(repeats int) *digests { return &digests{sha256.New(), make([][]string, repeats-1)} }

func (d *digests) add(repeat int, digest string) {
	if repeat == 0 {
		io.WriteString(d.sum, digest+"\n")
	} else {
		d.later[repeat-1] = append(d.later[repeat-1], digest)
	}
}

func (d *digests) String() string {
	for _, list := range d.later {
		for _, digest := range list {
			io.WriteString(d.sum, digest+"\n")
		}
	}
	return hex.EncodeToString(d.sum.Sum(nil))
}

// aboutGraph adds how the graph changes, and what the seats of adversaries mean on it.
func (r *reader) aboutGraph(out *report.Report) {
	out.ChangingGraph = changingGraph(r.plan)
	if h := r.plan.Harm(); h != nil {
		out.Harm = h.String() + "; " + h.Reach()
	}
}

// follow adds the trajectory of a game, of the first ones only, and of different questions where there are enough.
func (r *reader) follow(out *report.Report, j job, res *result) {
	if several := r.N >= followed; r.ending != nil && len(out.Trajectories) < followed && !(several && j.repeat > 0) {
		out.Trajectories = append(out.Trajectories,
			report.NewTrajectory(r.id(j), j.repeat, res.Ending, res.Stop, res.Rounds))
	}
}

// emptyReport returns a report that names the run and has no results yet.
func (m *RunManifest) emptyReport() *report.Report {
	return &report.Report{
		Version: report.Version, Task: m.Task, Council: m.Name, Protocol: m.Protocol, Exact: m.Exact,
		Rule: m.Rule.Name, Seed: m.Seed, Repeat: m.Repeat, Questions: m.total(), MembersKind: m.kinds(),
		Seats: m.seats(), Failures: []report.Failure{},
	}
}

// kinds counts results by level and by topic of the questions.
type kinds struct{ levels, topics *metrics.Parts }

func newKinds(seats []metrics.SeatFacts) kinds {
	return kinds{metrics.NewParts(seats), metrics.NewParts(seats)}
}

func (k kinds) add(of task.Keyed, c *metrics.GradedQuestion) {
	if of.Level != 0 {
		k.levels.Add(strconv.Itoa(of.Level), c)
	}
	k.topics.Add(of.Topic, c)
}

// tallied copies the counts of a tally into the report.
func (r *reader) tallied(out *report.Report, tally *metrics.Tally) {
	n := tally.Numbers()
	out.Metrics, out.Baselines, out.Groups, out.Rounds = n.Metrics, n.Baselines, n.Groups, n.Rounds
	out.Ties, out.Honest, out.Unscored, out.Extraction = n.Ties, n.Honest, n.Unscored, n.Extraction
	out.Withstands = n.Withstands
	for _, e := range n.Errors {
		out.ErrorPairs = append(out.ErrorPairs, report.ErrorPair{A: r.Seats[e.A].ID, B: r.Seats[e.B].ID, Phi: e.Phi,
			CoError: e.CoError})
	}
	if r.ending != nil {
		out.Endings, out.Stops = tally.Endings(r.ending.Endings()), tally.Stops()
	}
}

// followed is the number of runs whose trajectories a report contains.
const followed = 3

func count(out *report.Report, res *result, seconds float64) {
	out.Finished++
	out.Calls.Add(res.calls)
	out.Tokens.Add(res.tokens)
	for i, m := range res.outcome.Members {
		s := &out.Seats[i]
		s.Misreports = synod.Sum(s.Misreports, m.Misreports.Replies)
		s.Misreport = cmp.Or(s.Misreport, m.Misreports.First)
	}
	out.Seconds += seconds
	if len(res.outcome.Evidence) > 0 {
		out.Evidence++
	}
	out.AddGuarantee(res.outcome.Bound.Guarantee, 1)
	var verdicts []protocol.ClaimVerdict
	for _, c := range res.outcome.Claims {
		verdicts = append(verdicts, c.Verdict)
	}
	out.AddClaims(verdicts)
}

func (m *RunManifest) kinds() []string {
	kinds := []string{}
	for _, s := range m.Seats {
		kinds = append(kinds, string(s.Kind))
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// calibrators collect the confidence of members in their first answers, for all members
// and for each model.
type calibrators struct {
	seats  []plan.Seat
	all    metrics.Calibrator
	models []string
	by     []metrics.Calibrator
}

func newCalibrators(seats []plan.Seat) *calibrators {
	c := &calibrators{seats: seats}
	for _, s := range seats {
		c.models = append(c.models, s.Model)
	}
	slices.Sort(c.models)
	c.models = slices.Compact(c.models)
	c.by = make([]metrics.Calibrator, len(c.models))
	return c
}

func (c *calibrators) add(of metrics.GradedQuestion, seats []metrics.SeatFacts) {
	c.all.Add(&of, of.Forecasts(seats, func(int) bool { return true }))
	for i, model := range c.models {
		c.by[i].Add(&of, of.Forecasts(seats, func(seat int) bool { return c.seats[seat].Model == model }))
	}
}

// report returns nil if no member stated a confidence.
func (c *calibrators) report() *report.Calibration {
	all := c.all.Calibration()
	if all == nil {
		return nil
	}
	out := &report.Calibration{Calibration: *all}
	for i, model := range c.models {
		if of := c.by[i].Calibration(); of != nil {
			out.Models = append(out.Models, report.ModelCalibration{Model: model, Calibration: *of})
		}
	}
	return out
}

// drops counts, for each pair of seats, how often one dropped or retained the answer of
// the other.
type drops struct{ dropped, retained [][]int }

func newDrops(seats int) *drops {
	square := func() [][]int {
		rows := make([][]int, seats)
		for i := range rows {
			rows[i] = make([]int, seats)
		}
		return rows
	}
	return &drops{square(), square()}
}

func (d *drops) add(noted []journal.Noted) {
	for _, n := range noted {
		add := func(to [][]int, of []synod.NodeID) {
			for _, j := range of {
				if in(n.Node, len(to)) && in(j, len(to)) && j != n.Node {
					to[n.Node][j]++
				}
			}
		}
		add(d.dropped, n.Dropped)
		add(d.retained, n.Retained)
	}
}

// list returns every pair with at least one count, in order.
func (d *drops) list(seats []report.Member) []report.Drop {
	list := []report.Drop{}
	for i, by := range seats {
		for j, of := range seats {
			k := d.dropped[i][j]
			if share := metrics.Share(k, k+d.retained[i][j]); share != nil {
				list = append(list, report.Drop{By: by.ID, Of: of.ID, Dropped: k, Share: share})
			}
		}
	}
	return list
}

// ranks counts the right answers among the gradable ones by rank.
type ranks []metrics.Count

func (k *ranks) add(question string, verdicts []task.Verdict) {
	for i, v := range verdicts {
		if i == len(*k) {
			*k = append(*k, metrics.Count{})
		}
		if v == task.Right || v == task.Wrong {
			(*k)[i].Add(question, v == task.Right)
		}
	}
}

func (k *ranks) rates() (rates []*metrics.Rate) {
	for i := range *k {
		rates = append(rates, (*k)[i].Rate())
	}
	return rates
}

// secondsPerTick converts ticks to virtual seconds: a tick is a millisecond. The time of a
// phase follows from the pace of the council, so latency compares protocols; it says
// nothing about models or machines.
const secondsPerTick = 1e-3

// timed adds the time of a run to the one mean that it belongs to.
func (r *reader) timed(res *result, virtual, byClock *metrics.Mean) {
	if !r.plan.Full().Runner.Capabilities().Measured {
		virtual.Add(float64(res.took) * secondsPerTick)
	} else if res.elapsed > 0 {
		byClock.Add(float64(res.elapsed) / 1e3)
	}
}
