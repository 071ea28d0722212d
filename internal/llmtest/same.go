package llmtest

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

var (
	comparedAnswer = regexp.MustCompile(`(?m)^Answer (\d+):\n<<\w+\n(.*)\n\w+>>$`)
	comparedPair   = regexp.MustCompile(`(?m)^(pair_\d+): answer (\d+) and answer (\d+)$`)
)

// Compare replies to a call that asks which answers mean the same; ok is false for other calls.
func Compare(c Call, same func(a, b string) bool) (reply string, ok bool) {
	if !strings.Contains(string(c.Schema)+c.System, `"pair_1"`) {
		return "", false
	}
	text, verdicts := map[int]string{}, map[string]string{}
	for _, m := range comparedAnswer.FindAllStringSubmatch(c.User, -1) {
		i, _ := strconv.Atoi(m[1]) // digits
		text[i] = m[2]
	}
	for _, m := range comparedPair.FindAllStringSubmatch(c.User, -1) {
		i, _ := strconv.Atoi(m[2]) // digits
		k, _ := strconv.Atoi(m[3])
		verdicts[m[1]] = "different"
		if same(text[i], text[k]) {
			verdicts[m[1]] = "same"
		}
	}
	b, _ := json.Marshal(verdicts) // texts
	return string(b), true
}
