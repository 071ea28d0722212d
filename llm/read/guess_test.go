package read

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
)

func TestGuess(t *testing.T) {
	for want, texts := range map[synod.Form][]string{
		synod.Prose: {"Hello", "", "Why is the sky blue?", "What is X-ray crystallography?",
			"What does A) mean in a list?",
			"What is the difference between TCP and UDP?", "The blue one. It leaks.", "42", "2024-11-24", "555-1234",
			"How far is the moon?", "How much water should I drink?", "What is 2+2, and why?", "Can you help me?",
			"Is it safe?", "Should I sell my house?", "Are there any good books about rain?",
			"How many legs has a spider? Why?",
			"What is the fastest way to lose weight?", "Find the bug: for(i=0;i<10;i++) a[i]=i", "What's up?",
			"Write a function that checks whether x = y.", "Translate 'cat' into German.",
			"Would you rather have tea or coffee?",
			"1. buy milk\n2. call mum\n3. pay rent\nTurn this into a schedule.",
			"a) Explain entropy.\nb) Why does it grow?",
			"What is the capital of Australia and why is it not Sydney?", "Pick.\nB) x\nC) y", "Only\nA) one",
			"Which one is right, and why?\nA) one\nB) two"},
		synod.Number: {"What is 17 + 25?", "What's 3*4", "17+25", "what is 12 divided by 4?", "What is 7 times 8?",
			"Compute 2^10.", "Can you compute 12 - 5?", "How many legs does a spider have?",
			"Hi! How many days has May?",
			"Janet sells 16 eggs a day at $2 each and eats three. How much does she make?",
			"What is the square root of 144?",
			"How many positive integers $n$ less than 100 are prime?", "In what year did the Berlin wall fall?",
			"What is 15% of 80?", "Calculate the average of 3, 4 and 5."},
		synod.Bool: {"Is 7 a prime number?", "Is Paris in France?", "Can penguins fly?", "Did the Romans have zero?",
			"True or false: the moon is made of cheese.", "Does the earth go round the sun?"},
		synod.Math: {`Compute $\frac{1}{2} + \frac{1}{3}$.`, `Simplify (x^2 - 1)/(x - 1).`, "Solve for x: 2x + 3 = 7",
			"What is the derivative of x^3?", `Find $f(3)$ if $f(x) = 2x$.`, `Evaluate \(\sqrt{2}\).`, "Factor x^2+5x+6."},
		synod.Text: {"What is the capital of France?", "Who wrote Hamlet?", "Which planet is the largest?",
			"Name the author of Dracula.", "Is the sky blue or green?", "Could you tell me who wrote Hamlet?"},
		synod.Choice: {"What is the capital of France?\nA) London\nB) Paris", "Pick: (a) red (b) blue",
			"Pick.\n1. red\n2. blue\n3. green"},
	} {
		for _, text := range texts {
			if got, options := Guess(text); got != want || (got == synod.Choice) != (options != nil) {
				t.Errorf("Guess(%q) = %s %v; want %s", text, got, options, want)
			}
		}
	}
}

// What was said before counts: a turn that answers is prose, and so is a question to which the program that asks has
// said what a reply looks like.
func TestGuessIn(t *testing.T) {
	system := func(text string) []synod.Turn { return []synod.Turn{{Role: synod.BySystem, Text: text}} }
	talk := []synod.Turn{{Role: synod.ByUser, Text: "Hi"}, {Role: synod.ByAssistant, Text: "Hello"}}
	const sum = "What is 17 + 25?"
	for _, x := range []struct {
		before []synod.Turn
		text   string
		want   synod.Form
	}{
		{nil, sum, synod.Number}, {talk, sum, synod.Number}, {talk, "17+25", synod.Prose},
		{talk, "How many legs has a spider?", synod.Number}, {talk, "And how many of those are red?", synod.Prose},
		{talk, "A) the red one\nB) the blue one", synod.Prose},
		{system("Be brief."), sum, synod.Number}, {system("You are a helpful assistant."), sum, synod.Number},
		{system("You are a helpful assistant. Answer briefly and politely."), sum, synod.Number},
		{system("Always reply with a JSON object."), sum, synod.Prose},
		{system("You are a helpful assistant. Reply with only a Python code block."), sum, synod.Prose},
		{system("Antworte in einem ganzen deutschen Satz."), sum, synod.Prose},
		{system("You are a pirate who answers in rhymes."), sum, synod.Prose},
	} {
		if got, _ := GuessIn(x.before, x.text); got != x.want {
			t.Errorf("%q after %v: %s, want %s", x.text, x.before, got, x.want)
		}
	}
}

func TestChoices(t *testing.T) {
	for _, c := range []struct{ text, want, ask string }{
		{"What is the capital of France?\nA) London\nB) Paris\nC) Rome", "[{A London} {B Paris} {C Rome}]",
			"What is the capital of France?"},
		{"Which one?\n(A) one\n(B) two\n\nThink well.", "[{A one} {B two}]", "Which one?\n\nThink well."},
		{"Which one?\nA. one\nB. two", "[{A one} {B two}]", "Which one?"},
		{"Which one?\na) one, b) two, c) three", "[{A one} {B two} {C three}]", "Which one?"},
		{"Pick: (a) red (b) blue", "[{A red} {B blue}]", "Pick:"},
		{"Pick.\n1. red\n2. blue\n3. green", "[{1 red} {2 blue} {3 green}]", "Pick."},
		{"Pick.\n- A: red\n- B: blue", "[{A red} {B blue}]", "Pick."},
		{"The man drank it.\n\nOption1: Ann Option2: Bea Answer format: option1/option2",
			"[{option1 Ann} {option2 Bea Answer format: option1/option2}]", "The man drank it."},
		{"Is it\nA) so\nB) not so", "[{A so} {B not so}]", "Is it"},
		{"Pick.\n8) x\n9) y\n10) z", "[]", "Pick.\n8) x\n9) y\n10) z"},
		{"Pick.\nB) x\nC) y", "[]", "Pick.\nB) x\nC) y"},
		{"Only\nA) one", "[]", "Only\nA) one"},
		{"Which is largest?\nA) Mars\nB) Venus\n   and its clouds\nC) Earth\n",
			"[{A Mars} {B Venus and its clouds} {C Earth}]", "Which is largest?"},
		{"Which is largest? A) Mars B) Venus C) Earth", "[{A Mars} {B Venus} {C Earth}]", "Which is largest?"},
		{"Is the capital (A) London or (B) Paris?", "[{A London} {B Paris?}]",
			"Is the capital (A) London or (B) Paris?"},
		{"A) London\nB) Paris", "[{A London} {B Paris}]", "A) London\nB) Paris"},
	} {
		ask, options := Choices(c.text)
		if got := fmt.Sprint(options); got != c.want || ask != c.ask {
			t.Errorf("Choices(%q) = %q %v; want %q %v", c.text, ask, options, c.ask, c.want)
		}
	}
}

// Every option that is found can be chosen by its label and by its text.
func FuzzGuess(f *testing.F) {
	for _, s := range []string{"A) x\nB) y", "(1) x (2) y", "What is 1+1?", "Can you tell me if it is?",
		"Option1: a Option2: b", "Pick.\n1. x\n2. y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		form, chosen := Guess(text)
		if (form == synod.Choice) != (len(chosen) > 1) {
			t.Fatalf("%q is %s with %v", text, form, chosen)
		}
		ask, options := Choices(text)
		if strings.TrimSpace(ask) == "" && strings.TrimSpace(text) != "" || len(ask) > len(text)+2 ||
			options == nil && ask != text {
			t.Fatalf("%q asks %q with %v", text, ask, options)
		}
		q := &synod.Question{Form: synod.Choice, Options: options}
		for _, o := range options {
			if a, ok := Canonical(q, o.Label); !ok || string(a) != o.Label {
				t.Fatalf("%q: label %q reads as %q", text, o.Label, a)
			}
		}
	})
}
