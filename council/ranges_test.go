package council_test

import (
	"strings"
	"testing"

	"synod.dev/synod/council/plan"
)

// Every number of a council file has a range; an error names the key, the value, what is
// allowed and, where there is a usual value, an example.
func TestNumbersHaveRanges(t *testing.T) {
	file := seven("http://127.0.0.1:1", fiveToTwo...)
	for _, x := range []struct{ set, want string }{
		{"limits.deadline=-5m", "deadline is -5m0s; it must be between 0s and 720h, such as 90s"},
		{"limits.deadline=2562047h", "deadline is 2562047h0m0s; it must be between 0s and 720h"},
		{"limits.deadline=10", "is not a duration (example: 90s)"},
		{"limits.calls=-1", "calls is -1; it must be between 0 and 1000000000 calls, such as 500"},
		{"limits.calls=9223372036854775807", "calls is 9223372036854775807; it must be between"},
		{"limits.calls=1.5", "calls is 1.5; it must be a whole number"},
		{"limits.tokens=-9", "tokens is -9; it must be between"},
		{"limits.usd=-1", "usd is -1; it must be between 0 and 1000000000 US dollars"},
		{"limits.usd=.nan", "usd is NaN; it must be a finite number"},
		{"limits.usd=.inf", "usd is +Inf; it must be a finite number"},
		{"pace.think=-1s", "think is -1s; it must be between 1ms and 24h"},
		{"pace.within=9999h", "within is 9999h0m0s; it must be between 1ms and 1h"},
		{"faults.delay.max=2562047h", "delay.max is 2562047h0m0s; it must be between 0s and 24h, such as 50ms"},
		{"faults.delay.min=-1s", "delay.min is -1s; it must be between 0s and 24h"},
		{"faults.partitions=[{from: -1s, to: 1s, groups: [[0]]}]", "partitions[0].from is -1s; it must be between"},
		{"faults.crashes=[{node: 0, at: 2562047h}]", "crashes[0].at is 2562047h0m0s; it must be between"},
		{"faults.loss=2", "loss is 2; it must be between 0 and 1"},
		{"faults.loss=.nan", "loss is NaN"},
		{"breakers.no_progress=-1", "no_progress is -1; it must be between 0 and 1000 rounds, such as 3"},
		{"breakers.oscillation=9223372036854775807", "oscillation is 9223372036854775807; it must be between"},
		{"breakers.escalate.within=-5s", "escalate.within is -5s; it must be between 0s and 1h"},
		{"patience={spare: 1, after: 0.5x}", "after is 0.5x; it must be between 1x and 100x"},
		{"patience.spare=-1", "spare is -1; it must be between 0 and f"},
		{"hedge=p30", "it must be a percentile from p50 to p99, such as p95"},
		{"f=-1", "f is -1; it must be between 0 and"},
		{"rule.support=-1", "support is -1; it must be between 0 and"},
		{"protocol.rounds=-1", "rounds is -1; it must be between 0 and 1000"},
		{"models.m0.timeout=-1s", "timeout is -1s; it must be between 0s and 24h, such as 30s"},
		{"models.m0.timeout=2562047h", "timeout is 2562047h0m0s; it must be between"},
		{"models.m0.per_minute=-1", "per_minute is -1; it must be between 0 and 1000000 requests a minute"},
		{"models.m0.concurrency=-1", "concurrency is -1; it must be between 0 and 100000"},
		{"models.m0.attempts=101", "attempts is 101; it must be between 0 and 100"},
		{"models.m0.temperature=-1", "temperature is -1; it must be between 0 and 100"},
		{"models.m0.temperature=.inf", "temperature is +Inf"},
		{"models.m0.top_p=1.5", "top_p is 1.5; it must be between 0 and 1"},
		{"models.m0.max_tokens=9223372036854775807", "max_tokens is 9223372036854775807; it must be between 1 and"},
	} {
		set, err := plan.Set("--set", []string{x.set})
		if err != nil {
			t.Fatal(err)
		}
		spec, _, err := plan.Merge(plan.Layer{Name: "file", Text: []byte(file)}, set)
		if err == nil {
			_, err = plan.New(spec)
		}
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.set, err, x.want)
		}
	}
}
