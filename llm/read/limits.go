package read

const (
	maxSurface = 120 // bytes of a member's own spelling that are kept
	maxLine    = 200 // bytes of a reply that may be an answer as a whole
	maxWords   = 10  // words of such a reply if the answer is free text
)

// The keys of an object under which an answer and its reasoning stand.
const (
	answerKey    = "answer"
	reasoningKey = "reasoning"
)

const (
	maxRaw    = 4096 // the longest answer that is read, in bytes
	maxCanon  = 512  // the longest canonical answer, in bytes
	maxDigits = 256  // characters of a number
)

// maxRead is how many bytes of a reply are read: the end of it, where the answer is.
const maxRead = 256 << 10
