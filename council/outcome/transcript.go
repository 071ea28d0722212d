package outcome

import (
	"bytes"
)

func transcriptOf(j *judgment) *transcript {
	t := &transcript{plan: j.plan, opinions: make([][]Noted, len(j.seats)), said: reasoningBySeat(j)}
	for i, r := range j.seats {
		t.opinions[i] = r.Opinions
	}
	return t
}

// packTranscript returns a transcript with a copy of the opinions, so that the records can be used
// again. It makes the copy in buffer, which may be nil, and returns the buffer for the next call.
func packTranscript(j *judgment, buffer []byte) (*transcript, []byte) {
	p := packed{bytes: buffer[:0]}
	for _, r := range j.seats {
		p.bytes = appendNumber(p.bytes, len(r.Opinions))
		for _, o := range r.Opinions {
			p.add(o.Opinion)
		}
	}
	return &transcript{plan: j.plan, packed: packed{bytes.Clone(p.bytes), p.records}, said: reasoningBySeat(j)}, p.bytes
}

// reasoningBySeat returns the reasoning of the seats; nil if there is none.
func reasoningBySeat(j *judgment) (said [][]Said) {
	for i, r := range j.seats {
		if len(r.Said) > 0 && said == nil {
			said = make([][]Said, len(j.seats))
		}
		if said != nil {
			said[i] = r.Said
		}
	}
	return said
}
