package llm

// dice is a stream of chance (SplitMix64): a handful of draws for each reply, too
// short-lived to pay for a generator with more state.
type dice uint64

func (d *dice) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	return mix(uint64(*d))
}

// Uint64 makes dice a source of math/rand/v2.
func (d *dice) Uint64() uint64 { return d.next() }

// uniform is in [0,1).
func (d *dice) uniform() float64 { return float64(d.next()>>11) / (1 << 53) }

// normal has mean 0 and variance 1: the sum of four uniform numbers, so it lies
// within ±3.47.
func (d *dice) normal() float64 {
	const root = 1.7320508075688772 // of 3: each of the four has variance 1/12
	n := d.next()
	sum := float64(n&0xffff) + float64(n>>16&0xffff) + float64(n>>32&0xffff) + float64(n>>48)
	return (sum/0xffff - 2) * root
}

// mix spreads every bit of its argument over the result.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// hashString mixes a string, and where it ends, into a hash.
func hashString(h uint64, s string) uint64 {
	for i := 0; i < len(s); {
		var word uint64
		for j := 0; j < 8 && i < len(s); j, i = j+1, i+1 {
			word = word<<8 | uint64(s[i])
		}
		h = mix(h^word) + 0x9e3779b97f4a7c15
	}
	return mix(h ^ uint64(len(s)))
}
