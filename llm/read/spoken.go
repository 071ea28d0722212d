package read

import (
	"regexp"
	"strings"

	"synod.dev/synod/core/clean"
)

// spoken returns the part of a reply that is read: its last maxRead bytes, without what servers and models put
// around it: a byte order mark, carriage returns, thoughts, the channels of some models, and the tokens with which
// replies end. A reply that has nothing but thoughts is empty.
func spoken(reply string) string {
	s := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(reply), "\ufeff"))
	s = withoutThoughts(finalChannel(s))
	s = clean.Tail(s, maxRead)
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	return withoutEndTokens(s)
}

// withoutThoughts removes what reasoning models write before </think>. A reply that begins with <think> and
// never ends its thoughts has no other text.
func withoutThoughts(s string) string {
	for _, tag := range []string{"think", "thinking"} {
		if i := strings.LastIndex(s, "</"+tag+">"); i >= 0 {
			s = strings.TrimSpace(s[i+len(tag)+3:])
		} else if strings.HasPrefix(s, "<"+tag+">") {
			return ""
		}
	}
	return s
}

// channel matches the head of a message in a reply of several channels.
var channel = regexp.MustCompile(`<\|channel\|>[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>`)

// finalChannel returns the last message in the channel "final" of a reply that begins with a channel.
func finalChannel(s string) string {
	if !strings.HasPrefix(s, "<|channel|>") && !strings.HasPrefix(s, "<|start|>") {
		return s
	}
	last := ""
	heads := channel.FindAllStringIndex(s, -1)
	for i, h := range heads {
		if name := s[h[0]+len("<|channel|>") : h[1]]; strings.HasPrefix(strings.TrimSpace(name), "final") {
			end := len(s)
			if i+1 < len(heads) {
				end = heads[i+1][0]
			}
			last = s[h[1]:end]
		}
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(last), "<|start|>assistant"))
}

// endTokens are the tokens with which models end a reply, where their server shows them.
var endTokens = []string{"</s>", "<s>", "<eos>", "<bos>", "<pad>", "<unk>", "<|end|>", "<|return|>", "<|endoftext|>",
	"<|end_of_text|>", "<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<EOS_TOKEN>",
	"<|END_OF_TURN_TOKEN|>", "<sep>", "<|sep|>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "[/INST]", "<|user|>"}

// withoutEndTokens removes these tokens and the white space before them.
func withoutEndTokens(s string) string {
	for {
		t := strings.TrimRight(s, " \t\n")
		for _, token := range endTokens {
			t = strings.TrimSuffix(t, token)
		}
		if t == s {
			return strings.TrimSpace(s)
		}
		s = t
	}
}

// finished returns the part of a text that was cut off in which something may be complete: up to the end of its last
// object. If that has no end, a quotation mark or comma at the end of the text may be one inside a value.
func finished(s string) string {
	all := objects(s)
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	if last.whole {
		return s[:last.to]
	}
	return strings.TrimRight(s, blank+`,"`)
}
