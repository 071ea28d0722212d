package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strconv"

	"synod.dev/synod/metrics"
	"synod.dev/synod/report"
	"synod.dev/synod/task"
)

// Report derives everything from what is on file.
func (r *Run) Report() (*report.Report, error) {
	past, err := histories(r.dir)
	if err != nil {
		return nil, err
	}
	out := &report.Report{
		Version: report.Version, Task: r.Task, Council: r.Name, Protocol: r.Protocol, Exact: r.Exact, Rule: r.Rule.Name, Seed: r.Seed,
		Repeat: r.Repeat, Questions: r.total(), MembersKind: r.kinds(), Seats: r.seats(), Failures: []report.Failure{},
	}
	var ranks ranks
	var latency metrics.Mean
	kinds := newKinds(r.roles())
	tally, sure, drops, sum, uses := metrics.NewTally(r.roles()), r.calibrators(), newDrops(len(r.Seats)), sha256.New(), r.uses()
	err = r.results(func(j job, res *result) {
		h := past[attempt{Question: r.id(j), Repeat: j.repeat}.key()]
		if res == nil {
			if h.last.Failed {
				tally.Fail()
				out.Failures = append(out.Failures, h.failure())
			}
			return
		}
		tally.Add(res.Case)
		kinds.add(r.Items[j.item], &res.Case)
		sure.add(res.Case, r.roles())
		drops.add(res.noted)
		ranks.add(res.ranked)
		if r.ending != nil && len(out.Trajectories) < followed {
			out.Trajectories = append(out.Trajectories, report.Follow(r.id(j), j.repeat, res.Ending, res.Stop, res.Rounds))
		}
		latency.Add(float64(res.took) * secondsPerTick)
		count(out, res, h.seconds)
		for i, u := range res.uses {
			uses[i].Plus(u)
		}
		io.WriteString(sum, res.digest+"\n")
	})
	if err != nil {
		return nil, err
	}
	r.tallied(out, tally)
	out.Levels, out.Topics = kinds.levels.List(), kinds.topics.List()
	out.Calibration, out.Drops, out.Failed = sure.report(), drops.list(out.Seats), len(out.Failures)
	out.Ranked, out.Latency = ranks.rates(), latency.Rate()
	out.Unfinished = out.Questions - out.Finished - out.Failed
	out.Money = r.prices().Bill(uses)
	out.Cost = out.Money.Cost()
	out.Digest = hex.EncodeToString(sum.Sum(nil))
	return out, nil
}

// kinds tells questions apart by level and by topic.
type kinds struct{ levels, topics *metrics.Parts }

func newKinds(seats []metrics.Seat) kinds {
	return kinds{metrics.NewParts(seats), metrics.NewParts(seats)}
}

func (k kinds) add(of task.Record, c *metrics.Case) {
	if of.Level != 0 {
		k.levels.Add(strconv.Itoa(of.Level), c)
	}
	k.topics.Add(of.Topic, c)
}

// tallied takes over what was counted.
func (r *Run) tallied(out *report.Report, tally *metrics.Tally) {
	n := tally.Numbers()
	out.Metrics, out.Baselines, out.Groups, out.Rounds = n.Metrics, n.Baselines, n.Groups, n.Rounds
	out.Ties, out.Honest, out.Unscored, out.Extraction = n.Ties, n.Honest, n.Unscored, n.Extraction
	if r.ending != nil {
		out.Endings, out.Stops = tally.Endings(r.ending.Endings()), tally.Stops()
	}
}

// followed is of how many runs a report has what was held round by round.
const followed = 3

func count(out *report.Report, res *result, seconds float64) {
	out.Finished++
	out.Calls.Made += res.calls.Made
	out.Calls.Reused += res.calls.Reused
	out.Calls.Planned += res.calls.Planned
	out.Tokens.Prompt += res.tokens.Prompt
	out.Tokens.Completion += res.tokens.Completion
	out.Seconds += seconds
}

func (r *Run) kinds() []string {
	kinds := []string{}
	for _, s := range r.Seats {
		kinds = append(kinds, string(s.Kind))
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
