package translate

import "github.com/eiderdb/eider/kv/store"

// Txn is the session's transaction, for tests that look at it from below.
func (s *Session) Txn() *store.Txn { return s.tx.txn }

// KeptAnswers are the answers that are kept, to be told apart, and what they take in bytes.
func (h *Shared) KeptAnswers() (list []any, size int) {
	p := h.plans
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.answered {
		list = append(list, c.answer)
	}
	return list, p.answerBytes
}
