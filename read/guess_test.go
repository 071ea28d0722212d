package read

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
)

func TestGuess(t *testing.T) {
	for _, c := range []struct {
		text string
		want synod.Form
	}{
		{"What is the capital of France?", synod.Text},
		{"Who wrote Hamlet?", synod.Text},
		{"Which planet is the largest?", synod.Text},
		{"When did the war end?", synod.Text},
		{"Name the author of Dracula.", synod.Text},
		{"Why is the sky blue?", synod.Text},
		{"Is the sky blue or green?", synod.Text},
		{"Would you rather have tea or coffee?", synod.Text},
		{"Could you tell me who wrote Hamlet?", synod.Text},
		{"Translate 'cat' into German.", synod.Text},
		{"What colour is a $5 note, and what colour a $10 note?", synod.Text},
		{"What is X-ray crystallography?", synod.Text},
		{"What does A) mean in a list?", synod.Text},
		{"Hello", synod.Text},
		{"", synod.Text},
		{"What is 17 + 25?", synod.Number},
		{"What's 3*4", synod.Number},
		{"17+25", synod.Number},
		{"what is 12 divided by 4?", synod.Number},
		{"What is 7 times 8?", synod.Number},
		{"Compute 2^10.", synod.Number},
		{"Can you compute 12 - 5?", synod.Number},
		{"Calculate the average of 3, 4 and 5.", synod.Number},
		{"How many legs does a spider have?", synod.Number},
		{"How much does she make every day at the farmers' market?", synod.Number},
		{"How old was he when he died?", synod.Number},
		{"How far is the moon?", synod.Number},
		{"Janet sells 16 eggs a day at $2 each and eats three. How much does she make?", synod.Number},
		{"What is the sum of the first ten primes?", synod.Number},
		{"What is the total cost in dollars?", synod.Number},
		{"In what year did the Berlin wall fall?", synod.Number},
		{"What percentage of 80 is 20?", synod.Number},
		{"What is the square root of 144?", synod.Number},
		{"How many positive integers $n$ less than 100 are prime?", synod.Number},
		{"Is 7 a prime number?", synod.Bool},
		{"Is Paris in France?", synod.Bool},
		{"Does the earth go round the sun?", synod.Bool},
		{"Can penguins fly?", synod.Bool},
		{"True or false: the moon is made of cheese.", synod.Bool},
		{"Are there more stars than grains of sand or not?", synod.Bool},
		{"He dropped it. Did it break?", synod.Bool},
		{"In France, is it legal to park here?", synod.Bool},
		{"Can you tell me if water boils at 90 degrees?", synod.Bool},
		{"Isn't it late?", synod.Bool},
		{`Compute $\frac{1}{2} + \frac{1}{3}$.`, synod.Math},
		{`Simplify (x^2 - 1)/(x - 1).`, synod.Math},
		{"Solve for x: 2x + 3 = 7", synod.Math},
		{"What is the derivative of x^3?", synod.Math},
		{`Find $f(3)$.`, synod.Math},
		{`Evaluate \(\sqrt{2}\).`, synod.Math},
		{"Express the area in terms of r.", synod.Math},
		{"Factor x^2+5x+6.", synod.Math},
	} {
		if ask, got, options := Guess(c.text); got != c.want || options != nil || ask != c.text {
			t.Errorf("Guess(%q) = %s %v; want %s", c.text, got, options, c.want)
		}
	}
}

func TestGuessChoices(t *testing.T) {
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
		ask, form, options := Guess(c.text)
		if got := fmt.Sprint(options); got != c.want || ask != c.ask || (form == synod.Choice) != (options != nil) {
			t.Errorf("Guess(%q) = %q %s %v; want %q %v", c.text, ask, form, got, c.ask, c.want)
		}
	}
}

// Every option that is found can be chosen by its label and by its text.
func FuzzGuess(f *testing.F) {
	for _, s := range []string{"A) x\nB) y", "(1) x (2) y", "What is 1+1?", "Can you tell me if it is?",
		"Option1: a Option2: b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ask, form, options := Guess(text)
		if strings.TrimSpace(ask) == "" && strings.TrimSpace(text) != "" || len(ask) > len(text)+2 ||
			options == nil && ask != text {
			t.Fatalf("%q asks %q with %v", text, ask, options)
		}
		if (form == synod.Choice) != (len(options) > 1) {
			t.Fatalf("%q is %s with %v", text, form, options)
		}
		q := &synod.Question{Form: form, Options: options}
		for _, o := range options {
			if a, ok := Canonical(q, o.Label); !ok || string(a) != o.Label {
				t.Fatalf("%q: label %q reads as %q", text, o.Label, a)
			}
		}
	})
}

// A question that wants more than a few words is told from one that wants a name.
func TestWantsProse(t *testing.T) {
	for _, s := range []string{"Explain why the sky is blue.", "Why do cats purr?", "How does a heat pump work?",
		"Please describe the water cycle", "Can you explain what a monad is?", "Write a short poem about rain",
		"Write a Python function that sorts a list.", "What are the main differences between TCP and UDP?",
		"Compare Rust and Go", "Tell me about the French Revolution", "Give me a short summary of Hamlet",
		"What happens if I mix bleach and vinegar?", "How do I boil an egg?", "Draft an email to my landlord"} {
		if !WantsProse(s) {
			t.Errorf("%q wants no prose", s)
		}
	}
	for _, s := range []string{"What is the capital of France?", "Who wrote Emma?", "Name the largest ocean.",
		"Which planet is the red one?", "What is the French word for house?", "Translate 'house' into French",
		"Where is Lake Titicaca?", "When did the war end?", "What does HTTP stand for?", "The author of Emma?",
		"Write the name of the capital of Spain"} {
		if WantsProse(s) {
			t.Errorf("%q wants prose", s)
		}
	}
}
