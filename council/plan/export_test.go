package plan

// Searches returns how often this process has searched for the robustness of a graph.
func Searches() int64 { return searches.Load() }
