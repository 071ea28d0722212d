package council_test

import (
	"strings"
	"testing"

	"synod.dev/synod/council"
	"synod.dev/synod/internal/llmtest"
)

// A member whose replies could not be read was asked: the message says so, and names neither
// silence nor a failure.
func TestAdviceOnUnreadableAnswers(t *testing.T) {
	server := llmtest.Start(t, func(llmtest.Call) string { return "I would rather not say which number it is." })
	text := strings.NewReplacer("{name: sac, rounds: 6}", "{name: majority}", "f: 3", "f: 1").
		Replace(seven(server.URL, "s1", "s2", "s3"))
	o := decide(t, convene(t, text), council.Ask{})
	a := o.Advice()
	message := a.Err.Error() + a.Next
	if strings.Contains(message, "was not asked") || !strings.Contains(message, "none of its answers could be read") {
		t.Errorf("the message is %s", message)
	}
}
