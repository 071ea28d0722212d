package llm

// splitMix is a SplitMix64 generator. A reply needs a handful of random numbers,
// which does not pay for a generator with more state.
type splitMix uint64

func (r *splitMix) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return mix(uint64(*r))
}

// Uint64 makes it a rand.Source.
func (r *splitMix) Uint64() uint64 { return r.next() }

// uniform returns a number in [0,1).
func (r *splitMix) uniform() float64 { return float64(r.next()>>11) / (1 << 53) }

// normal returns a number with mean 0 and variance 1: the sum of four uniform
// numbers, so it lies within ±3.47.
func (r *splitMix) normal() float64 {
	const root = 1.7320508075688772 // of 3: each of the four has variance 1/12
	n := r.next()
	sum := float64(n&0xffff) + float64(n>>16&0xffff) + float64(n>>32&0xffff) + float64(n>>48)
	return (sum/0xffff - 2) * root
}

// mix is the finaliser of SplitMix64: every input bit changes the whole result.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// hashString adds a string and its length to a hash.
func hashString(h uint64, s string) uint64 {
	length := uint64(len(s))
	for ; len(s) >= 8; s = s[8:] {
		word := uint64(s[0])<<56 | uint64(s[1])<<48 | uint64(s[2])<<40 | uint64(s[3])<<32 |
			uint64(s[4])<<24 | uint64(s[5])<<16 | uint64(s[6])<<8 | uint64(s[7])
		h = mix(h^word) + 0x9e3779b97f4a7c15
	}
	if len(s) > 0 {
		var word uint64
		for i := range len(s) {
			word = word<<8 | uint64(s[i])
		}
		h = mix(h^word) + 0x9e3779b97f4a7c15
	}
	return mix(h ^ length)
}
