// Code generated from word_drive.go by go generate; DO NOT EDIT.

package graph

// pairDrive closes the gap between the bounds of a result from above: a pair found lowers Upper, a search without one
// raises Lower to it.
type pairDrive struct {
	*pairSearch
	g       Graph
	res     Result
	stop    func() bool
	stopped bool
	q       int // budget being decided
	stage   int // of the decision: what has been tried beside the search
	deep    int // stages whose one-time work is done
}

// pairDecide works on a result until its bounds meet or, with a goal above 0, until the graph is known to be goal-robust
// or not.
func pairDecide(g Graph, res Result, goal int, use tactics, stop func() bool) Result {
	d := pairDrive{pairSearch: newPairSearch(g, use), g: g, res: res, stop: stop}
	for d.res.Lower < d.res.Upper && !d.stopped && (goal == 0 || d.res.Lower < goal && goal <= d.res.Upper) {
		d.q, d.stage = d.res.Upper-1, 0
		if goal > 0 {
			d.q = goal - 1
		}
		switch d.decide(d.q, stages[0].nodes, d.pause) {
		case found:
			d.lower()
		case refuted:
			d.res.Lower = max(d.res.Lower, d.q+1)
		}
	}
	return d.res.settled()
}

// pause is the search's wake: it asks stop, and at a stage tries the other means.
func (d *pairDrive) pause() {
	if d.stop() {
		d.stopped = true
		d.end(gaveUp)
		return
	}
	if d.stage < len(stages) && d.nodes >= stages[d.stage].nodes {
		d.stage++
		d.otherMeans(d.stage - 1)
	}
	d.wakeAt = d.nodes + pollEvery
	if d.stage < len(stages) {
		d.wakeAt = min(d.wakeAt, stages[d.stage].nodes)
	}
}

// otherMeans looks for a pair by local search, and once each for a spectral bound, for symmetries, and for a better
// Lower at smaller budgets: those are refuted far faster, and serve a caller who stops the search.
func (d *pairDrive) otherMeans(stage int) {
	if d.use.upper && d.tabu(stages[stage].tries, stages[stage].steps*d.n) {
		d.end(found)
		return
	}
	if stage >= d.deep && !d.stopped {
		d.deep = stage + 1
		switch stage {
		case 0:
			d.spectral()
		case 1:
			d.symmetries()
		case 2:
			d.raise()
		}
	}
	if d.stopped {
		d.end(gaveUp)
	}
}

func (d *pairDrive) tabu(tries, steps int) bool {
	for k := 0; k < tries && !d.stopped; k++ {
		if d.newTabu(uint64(k)).run(steps, d.poll) {
			return true
		}
	}
	return false
}

func (d *pairDrive) poll() bool {
	d.stopped = d.stopped || d.stop()
	return d.stopped
}

func (d *pairDrive) spectral() {
	if d.use.lower && !d.g.directed {
		if d.res.Lower = max(d.res.Lower, spectralBound(d.g)); d.res.Lower > d.q {
			d.end(refuted)
		}
	}
}

// symmetries serve from the root on, so finding some starts the decision again.
func (d *pairDrive) symmetries() {
	if !d.use.orbits {
		return
	}
	for _, o := range d.g.orbits() {
		var set pair
		for _, i := range o {
			set = set.with(i)
		}
		d.orbits = append(d.orbits, set)
	}
	if len(d.orbits) > 0 {
		d.end(gaveUp)
	}
}

// raise proves smaller budgets free of pairs, in a search of its own.
func (d *pairDrive) raise() {
	for q := d.res.Lower; q < d.q && !d.stopped; q++ {
		lower := newPairSearch(d.g, d.use)
		lower.orbits = d.orbits
		switch lower.decide(q, pollEvery, func() {
			if lower.wakeAt += pollEvery; d.poll() {
				lower.end(gaveUp)
			}
		}) {
		case found:
			d.found = lower.found
			d.end(found)
			return
		case refuted:
			d.res.Lower = q + 1
		}
	}
}

// lower takes the pair found: the bound is the larger reach of its sets, which may be less than was asked for.
func (d *pairDrive) lower() {
	reach := 0
	for k, set := range d.found {
		for w := set; !w.empty(); w = w.rest() {
			reach = max(reach, d.in[w.first()].andNot(set).count())
		}
		d.res.Witness[k] = appendBits(nil, set.row())
	}
	d.res.Upper = reach
}
