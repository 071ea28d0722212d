package committee_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/network/committee"
)

// The test vectors of RFC 9381, appendix B.3 (examples 16 to 18).
func TestVectors(t *testing.T) {
	for _, v := range [][5]string{
		{"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
			"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
			"8657106690b5526245a92b003bb079ccd1a92130477671f6fc01ad16f26f723f26f8a57ccaed74ee1b190bed1f479d97" +
				"27d2d0f9b005a6e456a35d4fb0daab1268a1b0db10836d9826a528ca76567805",
			"90cf1df3b703cce59e2a35b925d411164068269d7b2d29f3301c03dd757876ff" +
				"66b71dda49d2de59d03450451af026798e8f81cd2e333de5cdf4f3e140fdd8ae"},
		{"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
			"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
			"f3141cd382dc42909d19ec5110469e4feae18300e94f304590abdced48aed5933bf0864a62558b3ed7f2fea45c92a465" +
				"301b3bbf5e3e54ddf2d935be3b67926da3ef39226bbc355bdc9850112c8f4b02",
			"eb4440665d3891d668e7e0fcaf587f1b4bd7fbfe99d0eb2211ccec90496310eb" +
				"5e33821bc613efb94db5e5b54c70a848a0bef4553a41befc57663b56373a5031"},
		{"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
			"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
			"9bc0f79119cc5604bf02d23b4caede71393cedfbb191434dd016d30177ccbf8096bb474e53895c362d8628ee9f9ea3c0" +
				"e52c7a5c691b6c18c9979866568add7a2d41b00b05081ed0f58ee5e31b3a970e", ""},
	} {
		seed, _ := hex.DecodeString(v[0])
		input, _ := hex.DecodeString(v[2])
		key := ed25519.NewKeyFromSeed(seed)
		output, proof, err := committee.Prove(key, input)
		if err != nil || hex.EncodeToString(proof) != v[3] || v[4] != "" && hex.EncodeToString(output) != v[4] ||
			hex.EncodeToString(key.Public().(ed25519.PublicKey)) != v[1] {
			t.Errorf("%s: %x %x %v", v[0][:8], proof, output, err)
		}
		again, err := committee.Verify(key.Public().(ed25519.PublicKey), input, proof)
		if err != nil || !bytes.Equal(again, output) {
			t.Errorf("%s: %v", v[0][:8], err)
		}
		for i := range proof {
			b := bytes.Clone(proof)
			b[i] ^= 1
			if _, err := committee.Verify(key.Public().(ed25519.PublicKey), input, b); err == nil {
				t.Errorf("byte %d of the proof may be changed", i)
			}
		}
		if _, err := committee.Verify(key.Public().(ed25519.PublicKey), append(input, 0), proof); err == nil {
			t.Error("the proof is valid for another input")
		}
	}
}

func keyOf(i int) ed25519.PrivateKey {
	seed := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("member"), uint64(i)))
	return ed25519.NewKeyFromSeed(seed[:])
}

func newPool(n, size, beacons int) *committee.Pool {
	p := &committee.Pool{Format: committee.Format, Name: "test", Size: size, Period: 3600, Attempts: 3}
	for i := range n {
		p.Members = append(p.Members, committee.Candidate{ID: "m" + string(rune('a'+i%26)) + hex.EncodeToString([]byte{
			byte(i >> 8), byte(i)}), Key: keyOf(i).Public().(ed25519.PublicKey)})
	}
	for i := range beacons {
		p.Beacons = append(p.Beacons, i*n/beacons)
	}
	return p
}

func draw(t *testing.T, p *committee.Pool, epoch uint64, attempt int) *committee.Draw {
	t.Helper()
	var proofs [][]byte
	for _, b := range p.Beacons {
		proof, err := p.Prove(keyOf(b), epoch, attempt)
		if err != nil {
			t.Fatal(err)
		}
		proofs = append(proofs, proof)
	}
	d, err := p.Draw(epoch, attempt, proofs)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func keysOf(p *committee.Pool, members []int) (keys [][]byte) {
	for _, m := range members {
		keys = append(keys, p.Members[m].Key)
	}
	return keys
}

// A draw is accepted for its committee alone: not for a council with one other member, with one fewer, with one twice,
// or with others; not of another pool, epoch or attempt; not with a proof of another key or without one.
func TestDraw(t *testing.T) {
	p := newPool(1000, 25, 4)
	at := time.Unix(1_800_000_000, 0)
	d := draw(t, p, p.Epoch(at), 0)
	seats, err := d.Seats(p)
	if err != nil || len(seats) != 25 || d.Verify(p, at) != nil || d.Signed(p, keysOf(p, seats)) != nil {
		t.Fatalf("the control: %v %v", seats, err)
	}
	outside := 0
	for slices.Contains(seats, outside) {
		outside++
	}
	other := slices.Clone(seats)
	other[7] = outside
	for what, members := range map[string][]int{"one other": other, "one fewer": seats[1:], "others": {1, 2, 3},
		"one twice": append(slices.Clone(seats), seats[0]), "one more": append(slices.Clone(seats), outside),
		"nobody": {}} {
		if d.Signed(p, keysOf(p, members)) == nil {
			t.Errorf("%s: it is accepted", what)
		}
	}
	for what, change := range map[string]func(d *committee.Draw, p *committee.Pool){
		"another epoch":     func(d *committee.Draw, _ *committee.Pool) { d.Epoch++ },
		"another attempt":   func(d *committee.Draw, _ *committee.Pool) { d.Attempt++ },
		"too many attempts": func(d *committee.Draw, _ *committee.Pool) { d.Attempt = 3 },
		"another size":      func(_ *committee.Draw, p *committee.Pool) { p.Size++ },
		"one proof fewer":   func(d *committee.Draw, _ *committee.Pool) { d.Proofs = d.Proofs[1:] },
		"a beacon fewer": func(d *committee.Draw, p *committee.Pool) {
			d.Proofs, p.Beacons = d.Proofs[1:], p.Beacons[1:]
		},
		"another's proof": func(d *committee.Draw, _ *committee.Pool) { d.Proofs[1] = d.Proofs[0] },
	} {
		c, q := *d, *p
		c.Proofs = slices.Clone(d.Proofs)
		if change(&c, &q); c.Signed(&q, keysOf(p, seats)) == nil {
			t.Errorf("%s: it is accepted", what)
		}
	}
	if d.Verify(p, at.Add(2*time.Hour)) == nil || d.Verify(p, at.Add(-time.Hour)) == nil || d.Verify(p,
		at.Add(time.Hour)) != nil {
		t.Error("the draw is not accepted in its epoch and the next one, and only there")
	}
}

// The exact probability is that of counting all committees of small pools, and that of many draws.
func TestCaptured(t *testing.T) {
	for n := 1; n <= 10; n++ {
		for hostile := 0; hostile <= n; hostile++ {
			for size := 1; size <= n; size++ {
				bad, all := make([]int, size+1), 0
				for set := range 1 << n {
					members, among := 0, 0
					for i := range n {
						if set>>i&1 == 1 {
							if members++; i < hostile {
								among++
							}
						}
					}
					if members == size {
						all++
						for f := range among {
							bad[f]++
						}
					}
				}
				for f := range size + 1 {
					got, _ := committee.Captured(n, hostile, size, f).Float64()
					if math.Abs(got-float64(bad[f])/float64(all)) > 1e-12 {
						t.Fatalf("n=%d hostile=%d size=%d f=%d: %v, counted %d of %d", n, hostile, size, f, got, bad[f],
							all)
					}
				}
			}
		}
	}
	p := newPool(300, 13, 1)
	bad := 0
	const draws = 400
	for epoch := range uint64(draws) {
		seats, err := draw(t, p, epoch, 0).Seats(p)
		if err != nil {
			t.Fatal(err)
		}
		if hostileOf(seats, 90) > 4 {
			bad++
		}
	}
	want, _ := committee.Captured(300, 90, 13, 4).Float64()
	if sd := math.Sqrt(want * (1 - want) / draws); math.Abs(float64(bad)/draws-want) > 5*sd {
		t.Errorf("%d of %d draws have more than 4 hostile members; the probability is %.3f", bad, draws, want)
	}
}

// hostileOf counts the members below a number, who are the hostile ones.
func hostileOf(seats []int, hostile int) (n int) {
	for _, s := range seats {
		if s < hostile {
			n++
		}
	}
	return n
}

// A committee that follows from a nonce of the caller is ground: with 30 % hostile members the caller finds a nonce
// for a committee with more than F of them after about one over the probability tries. The beacons' rule gives nobody
// such a choice: question and nonce are no input, and all that hostile beacons choose is which of three attempts is
// used.
func TestGrinding(t *testing.T) {
	const n, hostile, size, f, budget = 1000, 300, 40, 19, 20_000
	p := newPool(n, size, 4)
	one, _ := committee.Captured(n, hostile, size, f).Float64()
	random, found, tries := rand.New(rand.NewPCG(1, 2)), 0, 0
	for tries < budget { // the weak rule: a hash of the caller's nonce orders the members
		if tries++; hostileOf(random.Perm(n)[:size], hostile) > f {
			found++
		}
	}
	if per := float64(tries) / float64(max(found, 1)); found < 10 || per > 2/one {
		t.Errorf("a caller found %d nonces in %d tries; the probability of one draw is %.5f", found, tries, one)
	}
	t.Logf("one draw is captured with the probability %.5f; a caller that chooses a nonce captures one after %d tries",
		one, tries/max(found, 1))
	captured := 0
	const epochs = 60
	for epoch := range uint64(epochs) {
		for attempt := range p.Attempts { // all that withholding beacons may choose from
			if seats, _ := draw(t, p, epoch, attempt).Seats(p); hostileOf(seats, hostile) > f {
				captured++
				break
			}
		}
	}
	bound := float64(p.Attempts) * one
	if sd := math.Sqrt(bound / epochs); float64(captured)/epochs > bound+5*sd {
		t.Errorf("%d of %d epochs are captured; the bound is %.4f", captured, epochs, bound)
	}
	if !strings.HasPrefix(string(p.Input(1, 0)), "synod/draw/1\x00") || len(p.Input(1, 0)) != 13+32+8+8 {
		t.Error("the input of the beacons has more than pool, epoch and attempt")
	}
}
