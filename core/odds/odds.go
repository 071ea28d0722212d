// Package odds says how likely an answer is right, from who gave it and from questions whose right answer is known.
//
// Members of a council err together, and some questions are hard for all of them, so the product of their odds promises
// too much. This package fits a conditional logit over the answers to a question (McFadden, "Conditional logit analysis
// of qualitative choice behavior", 1974). The options are the answers that members gave, and one more, "none of them is
// right". The utility of an answer grows with the accuracy and the number of those who gave it, and shrinks with how
// often these members gave the same wrong answer; that of "none" grows with the number of different answers. A strong
// prior, made from recorded votes of real models, keeps the fit sensible with few labels.
//
// A fit is for one list of members, all of whom were asked. Who asks in stages needs a fit for each stage.
//
// Where models say how likely their own answers are, an answer also gains from supporters that are surer than they
// mostly are. Only the rank of a likelihood among those of its member counts (sure.go), so that a liar gains no more by
// it than by the highest that it said when it was honest, and the fit finds how much that tells.
//
// Accuracies are pooled in part: a member's accuracy on a kind of question leans on its accuracy on all, and that on
// the mean of all members.
//
// Its rank is 0: it uses gonum and nothing of this module.
package odds

// Labelled is a question whose right answer is known, with what members said.
type Labelled struct {
	Kind    string   // of question, such as its form
	Answers []string // by member, canonical, so that equal answers are equal texts; "": none
	Right   string   // the right answer, as members write it; another text or "" if none gave it
	// Sure is how likely each member's model says that its answer is, in (0, 1]; 0: it does not say. nil: no member
	// does.
	Sure []float64
}

// Predictor predicts for one list of members. It is data: it can be written as JSON and read again.
type Predictor struct {
	Members []string `json:"members"`
	Labels  int      `json:"labels"` // questions that it was fitted to
	// Feedback is how many of Labels are feedback of users, who do not mark all answers alike. Who fits sets it.
	Feedback int                 `json:"feedback,omitempty"`
	Kinds    map[string]KindOdds `json:"kinds"` // by kind of question; "": all kinds together, for one that was not labelled
	// Same says by pair of members how often both gave the same answer when both were wrong, in [0, 1].
	Same [][]float64 `json:"same"`
	// Marks divide what each member said of its own likelihood into parts of equal size, ascending; none for a member
	// that said too little. nil: none said enough, and likelihoods do not count.
	Marks [][]float64 `json:"marks,omitempty"`
	// Coefficients of features, the shared ones first, then one for each member, then that of likelihoods if there are
	// Marks; and the inverse of the curvature at the fit, which says how uncertain they are.
	Coefficients []float64   `json:"coefficients"`
	Covariance   [][]float64 `json:"covariance"`
}

// KindOdds is what is known of a kind of question.
type KindOdds struct {
	Labels  int       `json:"labels"`
	LogOdds []float64 `json:"log_odds"` // by member: of a right answer
}

// Chance is how likely an answer is right.
type Chance struct {
	Answer      string
	Probability float64
	// Low and High are the limits of a 95 % interval. They cover the uncertainty of the fit, and not a change of the
	// questions or the members since. Both are 0 in what Votes.Chances returns.
	Low, High float64
	Given     []int // the members that gave it, ascending
	Sure      bool  // its probability rests on the likelihoods that members reported

	of     *weighed // the votes that its probability rests on
	option int      // among theirs
}
