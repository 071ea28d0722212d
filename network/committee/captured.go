package committee

import "math/big"

// Captured returns the exact probability that of a committee of size members, drawn without replacement from n of whom
// hostile are hostile, more than f are hostile: the upper tail of the hypergeometric distribution.
func Captured(n, hostile, size, f int) *big.Rat {
	sum, total := new(big.Int), new(big.Int).Binomial(int64(n), int64(size))
	from := max(f+1, size-(n-hostile), 0)
	if from > min(size, hostile) {
		return new(big.Rat)
	}
	ways := new(big.Int).Binomial(int64(hostile), int64(from))
	ways.Mul(ways, new(big.Int).Binomial(int64(n-hostile), int64(size-from)))
	for k := from; k <= min(size, hostile); k++ {
		sum.Add(sum, ways)
		// ways(k+1) = ways(k) (hostile-k)(size-k) / ((k+1)(n-hostile-size+k+1)), which is a whole number
		ways.Mul(ways, big.NewInt(int64(hostile-k)*int64(size-k)))
		ways.Quo(ways, big.NewInt(int64(k+1)*int64(n-hostile-size+k+1)))
	}
	return new(big.Rat).SetFrac(sum, total)
}

// Needed returns the smallest size of a committee, of those with size = 3f+1, that has more than f hostile members with
// at most a probability; 0: none up to most.
func Needed(n, hostile, most int, probability *big.Rat) int {
	for size := 1; size <= min(n, most); size += 3 {
		if Captured(n, hostile, size, (size-1)/3).Cmp(probability) <= 0 {
			return size
		}
	}
	return 0
}
