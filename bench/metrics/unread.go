package metrics

// OftenUnread reports whether so many of a model's replies cannot be read that somebody should do something about it:
// more than a third, over ten questions or more.
func OftenUnread(unreadable, replies, questions int) bool {
	return questions >= 10 && 3*unreadable > replies
}
