package game_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/protocol/game"
)

var executions = flag.Int("executions", 2000, "seeded executions of I-GM-5; make campaign plays more")

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		*executions = min(*executions, 500)
	}
	m.Run()
}

// slanderer sends something else to every player in any slot: another number, another vote, other
// digests of what it received, or nothing.
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
	case slot == "vote": // of the paper's end
		return []byte([]string{"stop", "continue", "abstain", "maybe"}[m.chance.IntN(4)])
	case slot == "propose" && len(body) > 8:
		body[8] = byte(m.chance.IntN(3))
	case len(body) > 0:
		body[m.chance.IntN(len(body))] ^= byte(m.chance.IntN(2))
	}
	return body
}

// [I-GM-5] With at most a third of the players Byzantine, whatever they send: all players accept
// the number of an honest player, no two honest players accept different numbers from one player,
// and nobody suspects an honest one. This holds with either end; TestAgreedEnd tests that the game
// ends for all at the same time.
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

// slandered returns the first violation in a game with adversaries; "" if there is none.
func slandered(seed uint64) string {
	chance := rand.New(rand.NewPCG(seed, 5))
	g := game.New()
	g.Rounds, g.End = 2, game.PaperEnd
	if seed%8 == 0 { // the broadcast takes ten times as long
		g.End = game.AgreedEnd
	}
	n := 3 + chance.IntN(5)
	b := chance.IntN(n/3 + 1)
	machines := table(g, n, b, seed)
	for i := n - b; i < n; i++ {
		machines[i] = slanderer{machines[i], rand.New(rand.NewPCG(seed, uint64(i)))}
	}
	p := play(machines, model(func(id synod.NodeID, round int) string {
		return []string{"stop", "continue"}[(uint64(id)+seed+uint64(round))%2]
	}))
	together := g.Rounds // the last round that all honest players have played
	for _, of := range p.notes[:n-b] {
		together = min(together, of[len(of)-1].Round)
	}
	taken := map[[2]int]int{} // by round and player
	for _, c := range p.prompts {
		if c.Prompt.Purpose != game.Voting || int(c.Node) >= n-b {
			continue
		}
		for _, s := range game.TableOf(c.Prompt).Now {
			at := [2]int{game.TableOf(c.Prompt).Round, int(s.By)}
			if s.Value == nil {
				if int(s.By) < n-b && at[0] <= together {
					return fmt.Sprintf("in round %d player %d does not take honest player %d's number", at[0], c.Node,
						s.By)
				}
				continue
			}
			if was, ok := taken[at]; ok && was != *s.Value {
				return fmt.Sprintf("in round %d two numbers of player %d are taken, %d and %d", at[0], s.By, was,
					*s.Value)
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

// twoFaced sends another message to every player in one slot.
type twoFaced struct {
	honest synod.Machine
	slot   string
	say    func(to synod.NodeID, body []byte) []byte
}

func (m twoFaced) Step(now synod.Tick, e synod.Event) (out []synod.Effect) {
	for _, x := range m.honest.Step(now, e) {
		s, ok := x.(synod.Send)
		if !ok || s.Slot.Name != m.slot {
			out = append(out, x)
			continue
		}
		for _, to := range s.To {
			own := *s.Message
			own.Body = m.say(to, slices.Clone(own.Body))
			out = append(out, synod.Send{To: []synod.NodeID{to}, Message: &own})
		}
	}
	return out
}

// anotherNumber returns a proposal that depends on the receiver.
func anotherNumber(to synod.NodeID, body []byte) []byte {
	body[8] = byte(to % 2)
	return body
}

// anotherVote returns a vote to stop for players with odd numbers, and to continue for others.
func anotherVote(to synod.NodeID, _ []byte) []byte { return []byte([]string{"continue", "stop"}[to%2]) }

// I-GM-5: with the restricted threat model all players detect a player that sends different
// numbers, and no two honest players accept different numbers from it. With the open one they do.
func TestIGM5OneNumberForAll(t *testing.T) {
	for _, threat := range []string{game.Restricted, game.Open} {
		g := game.New()
		g.Rounds, g.Threat = 1, threat
		const n = 7
		machines := table(g, n, 1, 3)
		machines[n-1] = twoFaced{machines[n-1], "propose", anotherNumber}
		heard, suspected := map[string]bool{}, 0
		p := play(machines, model(func(synod.NodeID, int) string { return "continue" }))
		for _, c := range p.prompts {
			if c.Prompt.Purpose != game.Voting || c.Node == n-1 {
				continue
			}
			for _, s := range game.TableOf(c.Prompt).Now {
				if s.By == n-1 && s.Value != nil {
					heard[strconv.Itoa(*s.Value)] = true
				} else if s.By != n-1 && s.Value == nil {
					t.Errorf("%s: player %d has no number from honest player %d", threat, c.Node, s.By)
				}
			}
		}
		for _, of := range p.notes[:n-1] {
			if slices.Contains(of[1].Suspects, n-1) {
				suspected++
			}
			if len(of[1].Suspects) > 1 {
				t.Errorf("%s: an honest player is suspected: %v", threat, of[1].Suspects)
			}
		}
		if threat == game.Restricted && (len(heard) > 1 || suspected != n-1) {
			t.Errorf("restricted: its numbers %v were accepted, %d of %d suspect it", heard, suspected, n-1)
		}
		if threat == game.Open && len(heard) != 2 {
			t.Errorf("open: players must accept different numbers, and accepted %v", heard)
		}
	}
}

// I-GM-5 for votes, with the paper's end. Four of seven vote to stop, one too few. With the open
// threat model, an adversary that votes to stop to some players only ends the game for these. With
// the restricted one, nobody accepts its vote and all suspect it.
func TestIGM5OneVoteForAll(t *testing.T) {
	for _, threat := range []string{game.Restricted, game.Open} {
		g := game.New()
		g.Rounds, g.Threat, g.End = 3, threat, game.PaperEnd
		const n = 7
		machines := table(g, n, 2, 3)
		machines[n-1] = twoFaced{machines[n-1], "vote", anotherVote}
		p := play(machines, model(func(id synod.NodeID, round int) string {
			if id < 4 && round == 1 {
				return "stop"
			}
			return "continue"
		}))
		played, suspected := map[int]int{}, 0
		for _, of := range p.notes[:n-1] {
			played[of[len(of)-1].Round]++
			if slices.Equal(of[1].Suspects, []synod.NodeID{n - 1}) {
				suspected++
			}
		}
		if threat == game.Restricted && (played[3] != n-1 || suspected != n-1) {
			t.Errorf("restricted: players by rounds %v, %d of %d suspect it", played, suspected, n-1)
		}
		if threat == game.Open && len(played) != 2 {
			t.Errorf("open: the game must end for some, and players by rounds are %v", played)
		}
		if r := g.Judge(p.notes, honest(n, 1)); r.Outcome != game.NoStop || r.Split != (threat == game.Open) {
			t.Errorf("%s: %+v; it did not end for all", threat, r)
		}
	}
}
