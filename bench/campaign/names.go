package campaign

// The names of subjects that are no protocols.
const (
	broadcastName = "broadcast" // signed Byzantine broadcast by itself, without a protocol around it
	ledgerName    = "ledger-disk"
	journalName   = "journal-disk"
	callersName   = "certificate" // callers are hostile

	// pieces of what protocols rest on
	graphName    = "graphs"
	judgeName    = "judge"
	mergeName    = "merges"
	logName      = "logs"
	fieldName    = "certificate-fields"
	agentName    = "agents"
	diaryName    = "journals"
	readerName   = "readers"
	signName     = "signatures"
	evidenceName = "evidence"
)

// hashText adds a text to a hash (FNV-1a).
func hashText[T ~string](h uint64, s T) uint64 {
	h ^= 0xcbf29ce484222325
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return h
}
