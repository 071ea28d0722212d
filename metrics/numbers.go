package metrics

// Metrics are the rates of a run.
type Metrics struct {
	IAA       *Rate `json:"iaa"`               // members right before hearing anyone, adversaries counted wrong
	FAA       *Rate `json:"faa"`               // members right at the end
	BFTI      *Rate `json:"bfti"`              // FAA − IAA; N counts answers that are scored before and after
	RA        *Rate `json:"ra"`                // questions whose plurality over all seats is right
	HMajority *Rate `json:"h_majority"`        // the same over honest seats only
	Decision  *Rate `json:"decision_accuracy"` // decisions that are right, of those made
	Agreed    *Rate `json:"agreed"`            // questions with a decision
	Capture   *Rate `json:"capture"`           // questions decided wrongly on what an adversary held; nil without adversaries
	Liveness  *Rate `json:"liveness"`          // questions that came to an end with enough live members, failed ones counted

	// EffectiveVotes is no share: it says how many independent votes the honest
	// members are worth, between 1 and their number; N counts questions. What is
	// measured and how stands at its home, votes.go.
	EffectiveVotes *Rate `json:"effective_votes"`
}

// Change is a rate before and after the rounds.
type Change struct {
	Before *Rate `json:"before"`
	After  *Rate `json:"after"`
}

// Groups are the honest seats by strength; nil where no seat is of the group.
type Groups struct {
	Weak   *Change `json:"weak"`
	Strong *Change `json:"strong"`
}

// Round is the share of members that are right after round T. A question that
// ended earlier stays as it ended.
type Round struct {
	T        int   `json:"t"`
	Accuracy *Rate `json:"accuracy"`
	Weak     *Rate `json:"weak"` // of the honest seats of that group; nil without any
	Strong   *Rate `json:"strong"`
}

// Baselines are what the same first answers are worth without a protocol.
type Baselines struct {
	Strong   *Rate `json:"single_strong"` // one strong member alone: the mean over them
	Weak     *Rate `json:"single_weak"`   // one weak member alone
	Majority *Rate `json:"majority"`      // the plurality of all first answers, the adversaries' included
}

// Ties count votes that nobody won; they are in N and not right.
type Ties struct {
	RA     int `json:"ra"`
	First  int `json:"first"` // of the first answers
	Honest int `json:"h_majority"`
}

// Numbers are everything that a tally knows.
type Numbers struct {
	Metrics    Metrics
	Baselines  Baselines
	Groups     Groups
	Rounds     []Round
	Ties       Ties
	Honest     int         // seats that are honest and answer: the head count beside EffectiveVotes
	Extraction *Extraction // nil: no member wrote words
	Unscored   int         // final answers of honest seats that are absent or unreadable
}

// Numbers makes rates of the counts.
func (t *Tally) Numbers() Numbers {
	n := Numbers{
		Metrics: Metrics{
			IAA: t.iaa.rate(), FAA: t.faa.rate(), RA: t.ra.rate(), HMajority: t.honest.rate(), Decision: t.decision.rate(),
			Agreed: t.agreed.rate(), Capture: t.capture.rate(), Liveness: t.live.rate(),
			EffectiveVotes: t.voters.effective(),
		},
		Groups: Groups{Weak: t.group(Weak), Strong: t.group(Strong)},
		Rounds: []Round{}, Extraction: t.read.of(), Ties: t.ties, Unscored: t.unscored, Honest: len(t.voters.seats),
	}
	if n.Metrics.BFTI = t.change.Difference(); n.Metrics.BFTI != nil {
		n.Metrics.BFTI.Value = n.Metrics.FAA.Value - n.Metrics.IAA.Value
	}
	n.Baselines = Baselines{Strong: t.before[Strong].rate(), Weak: t.before[Weak].rate(), Majority: t.first.rate()}
	weak, strong := t.groups[Weak].rates(), t.groups[Strong].rates()
	for round, rate := range t.all.rates() {
		r := Round{T: round, Accuracy: rate}
		if round < len(weak) {
			r.Weak = weak[round]
		}
		if round < len(strong) {
			r.Strong = strong[round]
		}
		n.Rounds = append(n.Rounds, r)
	}
	return n
}

func (t *Tally) group(name string) *Change {
	for _, s := range t.seats {
		if s.Group == name && !s.Adversary {
			return &Change{Before: t.before[name].rate(), After: t.after[name].rate()}
		}
	}
	return nil
}
