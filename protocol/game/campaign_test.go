package game_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/protocol/game"
)

var executions = flag.Int("executions", 20_000, "seeded executions of I-GM-5")

// slanderer tells every player something else, in any slot: another number, another
// vote, or other digests of what it heard, or nothing.
type slanderer struct {
	honest synod.Machine
	chance *rand.Rand
}

func (m slanderer) Step(now synod.Tick, e synod.Event) (out []synod.Effect) {
	for _, x := range m.honest.Step(now, e) {
		s, ok := x.(synod.Send)
		if !ok || m.chance.IntN(3) == 0 {
			out = append(out, x)
			continue
		}
		for _, to := range s.To {
			own := *s.Message
			own.Body = m.twist(own.Slot.Name, slices.Clone(own.Body))
			if m.chance.IntN(8) > 0 {
				out = append(out, synod.Send{To: []synod.NodeID{to}, Message: &own})
			}
		}
	}
	return out
}

func (m slanderer) twist(slot string, body []byte) []byte {
	switch {
	case slot == "vote":
		return []byte([]string{"stop", "continue", "abstain", "maybe"}[m.chance.IntN(4)])
	case slot == "propose" && len(body) > 8:
		body[8] = byte(m.chance.IntN(3))
	case len(body) > 0:
		body[m.chance.IntN(len(body))] ^= byte(m.chance.IntN(2))
	}
	return body
}

// [I-GM-5] With at most a third of the players Byzantine, whatever these tell to whom in
// any exchange: an honest player's number is taken by all, no two honest players take
// different numbers of one player, and nobody suspects an honest one. That the game ends
// for all at once is not said: a liar's vote may be taken by some and by others not.
func TestIGM5Campaign(t *testing.T) {
	hands := runtime.GOMAXPROCS(0)
	var wait sync.WaitGroup
	for hand := range hands {
		wait.Go(func() {
			for i := hand; i < *executions; i += hands {
				if why := slandered(uint64(i)); why != "" {
					t.Errorf("execution %d: %s", i, why)
					return
				}
			}
		})
	}
	wait.Wait()
}

// slandered is what went wrong in a game with liars; "" if nothing did.
func slandered(seed uint64) string {
	chance := rand.New(rand.NewPCG(seed, 5))
	g := game.New()
	g.Rounds = 2
	n := 3 + chance.IntN(5)
	b := chance.IntN(n/3 + 1)
	machines := table(g, n, b, seed)
	for i := n - b; i < n; i++ {
		machines[i] = slanderer{machines[i], rand.New(rand.NewPCG(seed, uint64(i)))}
	}
	p := play(machines, model(func(id synod.NodeID, round int) string {
		return []string{"stop", "continue"}[(uint64(id)+seed+uint64(round))%2]
	}))
	together := g.Rounds // the last round in which all honest players were there
	for _, of := range p.notes[:n-b] {
		together = min(together, of[len(of)-1].Round)
	}
	taken := map[[2]int]int{} // by round and player
	for _, c := range p.prompts {
		if c.Prompt.Purpose != synod.Voting || int(c.Node) >= n-b {
			continue
		}
		for _, s := range c.Prompt.Table.Now {
			at := [2]int{c.Prompt.Table.Round, int(s.By)}
			if s.Value == nil {
				if int(s.By) < n-b && at[0] <= together {
					return fmt.Sprintf("in round %d player %d does not take honest player %d's number", at[0], c.Node, s.By)
				}
				continue
			}
			if was, ok := taken[at]; ok && was != *s.Value {
				return fmt.Sprintf("in round %d two numbers of player %d are taken, %d and %d", at[0], s.By, was, *s.Value)
			}
			taken[at] = *s.Value
		}
	}
	for i, of := range p.notes[:n-b] {
		for _, o := range of {
			if k := slices.IndexFunc(o.Suspects, func(id synod.NodeID) bool { return int(id) < n-b }); k >= 0 {
				return fmt.Sprintf("player %d suspects honest player %d", i, o.Suspects[k])
			}
		}
	}
	return ""
}
