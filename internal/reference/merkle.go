package reference

import "crypto/sha256"

// Tree is a Merkle tree over entries, as RFC 6962 section 2.1 defines it.
type Tree [][]byte

// Root is the Merkle tree hash.
func (t Tree) Root() []byte {
	switch n := len(t); n {
	case 0:
		return sha256Of()
	case 1:
		return sha256Of([]byte{0}, t[0])
	default:
		k := split(n)
		return sha256Of([]byte{1}, t[:k].Root(), t[k:].Root())
	}
}

// Inclusion is the audit path of an entry.
func (t Tree) Inclusion(m int) [][]byte {
	n := len(t)
	if n == 1 {
		return nil
	}
	if k := split(n); m < k {
		return append(t[:k].Inclusion(m), t[k:].Root())
	} else {
		return append(t[k:].Inclusion(m-k), t[:k].Root())
	}
}

// Consistency proves that the tree of the first m entries is the beginning of this one; 0 < m ≤ len(t).
func (t Tree) Consistency(m int) [][]byte { return t.subproof(m, true) }

// subproof is SUBPROOF of RFC 6962: whole says that the verifier knows the root of the first m entries.
func (t Tree) subproof(m int, whole bool) [][]byte {
	n := len(t)
	switch {
	case m == n && whole:
		return nil
	case m == n:
		return [][]byte{t.Root()}
	}
	if k := split(n); m <= k {
		return append(t[:k].subproof(m, whole), t[k:].Root())
	} else {
		return append(t[k:].subproof(m-k, false), t[:k].Root())
	}
}

// split is the largest power of two below n.
func split(n int) int {
	k := 1
	for 2*k < n {
		k *= 2
	}
	return k
}

func sha256Of(parts ...[]byte) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// Quorum returns the least number of n parties of which any two sets share one that is not among the faulty ones, of
// which there are at most (n-1)/3. It tries all numbers.
func Quorum(n int) int {
	for q := 1; q <= n; q++ {
		if 2*q-n > (n-1)/3 { // what two sets share at least
			return q
		}
	}
	return n
}

// Held is an entry that a replica wants recorded: what it is about, and who says so.
type Held struct {
	Record, By string
}

// Enter returns which of the entries that came, in their order, are in a log of replicas at the end, as numbers: those
// of a record that at least so many replicas have entered. Of one replica only the first entry of a record counts.
func Enter(came []Held, least int) (entered []int) {
	for i := range came {
		by := map[string]bool{}
		for _, other := range came {
			if other.Record == came[i].Record {
				by[other.By] = true
			}
		}
		first := true
		for _, earlier := range came[:i] {
			first = first && earlier != came[i]
		}
		if first && len(by) >= least {
			entered = append(entered, i)
		}
	}
	return entered
}
