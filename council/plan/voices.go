package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
)

// What counts as one voice: the key voices of a council file.
const (
	VoicesModels  = "models"  // a model at a server
	VoicesServers = "servers" // a server, whatever its models
	VoicesMakers  = "makers"  // the organisation that trained the model, wherever it runs
	VoicesSeats   = "seats"   // every seat, as the papers count
)

// setVoices finds the voice of each seat. Whoever controls a voice controls all its seats, and they err together. With
// exact: paper every seat is a voice, because the papers count members. So is a simulated member, which draws its
// answers independently of others by construction, and a seat that an experimenter gave to an adversary, who controls
// that seat alone.
func setVoices(p *Plan) error {
	how := cmp.Or(p.spec.Voices, VoicesModels)
	if p.spec.Voices == "" && p.spec.Exact != "" {
		how = VoicesSeats
	}
	if !slices.Contains([]string{VoicesModels, VoicesServers, VoicesMakers, VoicesSeats}, how) {
		return fmt.Errorf("voices is %q; it must be models, servers, makers or seats", how)
	}
	p.voices = numberVoices(p, how)
	p.ofSeats = p.voices == nil && numberVoices(p, VoicesModels) != nil
	if v, ok := p.protocol.(protocol.Voiced); ok {
		v.ErrTogether(togetherPairs(p))
	}
	return nil
}

// togetherPairs returns pairs of seats that are one voice: each seat with the first one of its voice.
func togetherPairs(p *Plan) (pairs [][2]synod.NodeID) {
	for i, v := range p.voices {
		if first := slices.Index(p.voices, v); first < i {
			pairs = append(pairs, [2]synod.NodeID{synod.NodeID(first), synod.NodeID(i)})
		}
	}
	return pairs
}

// numberVoices numbers the voices of the seats in the order of their first seats; nil: each seat is one.
func numberVoices(p *Plan, how string) []int {
	known, voices := map[string]int{}, make([]int, len(p.seats))
	for i := range p.seats {
		name := p.voiceOf(&p.seats[i], how)
		n, old := known[name]
		if !old {
			n = len(known)
			known[name] = n
		}
		voices[i] = n
	}
	if len(known) == len(voices) {
		return nil
	}
	return voices
}

// voiceOf returns the same text for seats of one voice. It may contain an address with a key and is not shown.
func (p *Plan) voiceOf(s *Seat, how string) string {
	if how == VoicesSeats || s.Kind == llm.Simulated || s.Adversary != "" {
		return "seat " + s.ID
	}
	text := func(key string) string {
		value, _ := p.spec.Models[s.Model][key].(string)
		return strings.TrimRight(value, "/")
	}
	server, model := "server "+text("provider")+" "+cmp.Or(text("url"), text("path")), text("model")
	if text("provider") == Given { // each is another Go value
		server += " " + s.Model
	}
	switch how {
	case VoicesServers:
		return server
	case VoicesMakers:
		return cmp.Or(maker(model), server)
	}
	return server + " " + model
}

// makers are the organisations that train models, by how the names of these begin.
var makers = []struct{ prefix, maker string }{
	{"gpt", "openai"}, {"chatgpt", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"},
	{"claude", "anthropic"}, {"gemini", "google"}, {"gemma", "google"}, {"llama", "meta"}, {"mistral", "mistral"},
	{"mixtral", "mistral"}, {"ministral", "mistral"}, {"codestral", "mistral"}, {"magistral", "mistral"},
	{"qwen", "alibaba"}, {"qwq", "alibaba"}, {"deepseek", "deepseek"}, {"grok", "xai"}, {"phi", "microsoft"},
	{"command", "cohere"}, {"nova", "amazon"}, {"granite", "ibm"}, {"glm", "zhipu"}, {"kimi", "moonshot"},
	{"smollm", "huggingface"},
}

// maker returns who trained a model, by its name without a vendor before it; "" if that is not known.
func maker(model string) string {
	name := strings.ToLower(model[strings.LastIndex(model, "/")+1:])
	name = strings.TrimPrefix(name, "meta-")
	for _, m := range makers {
		if strings.HasPrefix(name, m.prefix) {
			return "maker " + m.maker
		}
	}
	return ""
}

// VoiceOf returns a number that seats have in common if one model at one server speaks in them, or as the key voices of
// the council file says.
func (p *Plan) VoiceOf(seat int) int {
	if p.voices == nil {
		return seat
	}
	return p.voices[seat]
}

// CountVoices returns how many voices the seats have that vote.
func CountVoices(p *Plan) int { return len(votesOf(p)) }

// votesOf returns how many seats with a vote each voice has, the most first.
func votesOf(p *Plan) (sizes []int) {
	at := map[int]int{}
	for i := range p.seats {
		if !p.seats[i].NonVoting {
			at[p.VoiceOf(i)]++
		}
	}
	for _, n := range at {
		sizes = append(sizes, n)
	}
	slices.SortFunc(sizes, func(a, b int) int { return cmp.Compare(b, a) })
	return sizes
}

// heldBy returns the largest number of voices of which any have at most so many of the seats, the sizes being those of
// all voices, the largest first.
func heldBy(sizes []int, seats int) (voices int) {
	for _, n := range sizes {
		if seats -= n; seats < 0 {
			break
		}
		voices++
	}
	return voices
}

// InVoices returns how many voices a decision withstands that withstands so many seats, whichever.
func InVoices(p *Plan, seats int) int {
	if p.voices == nil {
		return seats
	}
	return heldBy(votesOf(p), seats)
}

// HostileVoices returns the largest number of voices of which any may be hostile: they have at most F seats in every
// neighbourhood of a seat that they do not have, and there is such a seat. Seats without a vote do not count. In a
// council of nodes each seat has an owner, who controls it and no other, so there the seats are counted.
func HostileVoices(p *Plan) int {
	if p.voices == nil || p.spec.Runner.Capabilities().Owned {
		return p.spec.F
	}
	least := max(0, CountVoices(p)-1)
	for i := range p.seats {
		if p.seats[i].NonVoting {
			continue
		}
		rounds := [][]synod.NodeID{p.peers[i]}
		if p.byRound != nil {
			rounds = p.byRound[i]
		}
		for _, peers := range rounds {
			at, sizes := map[int]int{}, []int(nil)
			for _, j := range peers {
				if v := p.VoiceOf(int(j)); v != p.VoiceOf(i) && !p.seats[j].NonVoting {
					at[v]++
				}
			}
			for _, n := range at {
				sizes = append(sizes, n)
			}
			slices.SortFunc(sizes, func(a, b int) int { return cmp.Compare(b, a) })
			if n := heldBy(sizes, p.spec.F); n < len(sizes) {
				least = min(least, n)
			}
		}
	}
	return least
}

// byVoice adds to a claim for how many hostile voices it holds, where that is fewer than F.
func byVoice(p *Plan, b Bound) Bound {
	b.Voices = HostileVoices(p)
	if p.ofSeats {
		b.Note += "; each seat counts as a voice, though some have one model"
	}
	if p.voices != nil && p.spec.Runner.Capabilities().Owned {
		b.Note += fmt.Sprintf("; the %d seats are as many parties for F, and their models are %d %s, which err "+
			"together", p.voters, CountVoices(p), voicesWord(CountVoices(p)))
	}
	if b.Voices < b.F && b.Guarantee != None {
		b.Note += fmt.Sprintf("; the %d seats have %d %s (a model at a server is one), so it holds with at most %d "+
			"hostile %s", p.voters, CountVoices(p), voicesWord(CountVoices(p)), b.Voices, voicesWord(b.Voices))
	}
	return b
}

// RealBound says how seats can get the bound that F promises; "" if they have it.
func RealBound(p *Plan) string {
	if k := HostileVoices(p); k < p.spec.F {
		return fmt.Sprintf("any %d models may be hostile, and not F=%d: give each seat a model of its own, or say "+
			"what counts as one with voices", k, p.spec.F)
	}
	return ""
}

func voicesWord(n int) string {
	if n == 1 {
		return "voice"
	}
	return "voices"
}

// CheckSupport refuses a rule that asks for more independent supporters than there are voices.
func CheckSupport(p *Plan) error {
	if p.voices == nil {
		return nil
	}
	asked := map[int]bool{}
	for i := range p.seats {
		if !p.seats[i].Unasked {
			asked[p.VoiceOf(i)] = true
		}
	}
	n := len(asked)
	if _, ok := p.protocol.(protocol.Voiced); ok && n <= p.spec.F {
		return &ConfigError{Section: "f", Err: fmt.Errorf("f is %d, and %s decides on an answer only if more than F "+
			"voices gave it; the seats have %d %s, because seats with one model at one server err together: seat more "+
			"models, set f to %d or less, or count seats with voices: seats",
			p.spec.F, p.entry.Name, n, voicesWord(n), n-1)}
	}
	if p.spec.Rule.Support > n {
		return &ConfigError{Section: "rule", Err: fmt.Errorf("support is %d, and the seats have %d %s, because seats "+
			"with one model at one server err together; seat more models, or count seats with voices: seats",
			p.spec.Rule.Support, n, voicesWord(n))}
	}
	return nil
}
