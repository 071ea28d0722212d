package llm

import "synod.dev/synod"

func (d *simulated) refine(it *item, p *synod.Prompt, roll *dice) synod.Answer {
	if roll.uniform() < d.cfg.Stubbornness {
		return p.Own
	}
	own := d.weight(d.score(it, p.Own, roll))
	sum := own
	shown := make([]float64, len(p.Peers))
	for i, peer := range p.Peers {
		score := float64(peer.Score)
		if peer.Score == synod.Untrusted {
			score = d.score(it, peer.Answer, roll)
		}
		shown[i] = d.weight(score)
		sum += shown[i]
	}
	at := roll.uniform() * sum
	if at -= own; at < 0 || sum == 0 {
		return p.Own
	}
	for i := range p.Peers {
		if at -= shown[i]; at < 0 {
			return p.Peers[i].Answer
		}
	}
	return p.Own
}

// weight is score to the power Sharpness; an untrusted answer weighs nothing.
func (d *simulated) weight(score float64) float64 {
	if !(score >= 0) {
		return 0
	}
	w := 1.0
	for range d.cfg.Sharpness {
		w *= score
	}
	return w
}
