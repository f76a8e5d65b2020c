package translate

import (
	"testing"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/types"
)

// TestAnswersBounded: answers that were not asked for for the longest time go when there are too many, and all go with their plans.
func TestAnswersBounded(t *testing.T) {
	t.Parallel()
	cols := []exec.Column{{Type: types.T{OID: types.TextOID}}}
	large := make([]byte, maxAnswer-100)
	rows := func() (k *exec.Kept) {
		it := exec.Keep(&exec.SliceIter{Items: []exec.Row{{{B: large, Valid: true}}}}, cols, maxAnswer, func(done *exec.Kept) { k = done })
		for {
			if _, err := it.Next(); err != nil {
				return k
			}
		}
	}
	p := newPlanCaches(3)
	plans := make([]*cachedPlan, 4)
	for i := range plans {
		plans[i] = &cachedPlan{at: planHash{hash: uint64(i)}}
	}
	has := func(i int) bool { return p.answer(plans[i], store.Descriptors{}, nil) != nil }
	for i := range 3 {
		p.add(plans[i])
		p.setAnswer(plans[i], &answer{rows: rows()})
		if i == 1 && !has(0) {
			t.Error("two do not fit")
		}
	}
	if !has(0) || has(1) || !has(2) {
		t.Error("not the one that was asked for last but one is forgotten")
	}
	p.setAnswer(plans[2], &answer{rows: rows()})
	if !has(0) || !has(2) || len(p.answered) != 2 {
		t.Error("a plan has two answers")
	}
	p.used(plans[1])
	p.used(plans[2])
	p.add(plans[3]) // the plan of the first goes
	if has(0) || !has(2) || p.answerBytes != plans[2].answer.rows.Bytes() {
		t.Errorf("an answer is left behind: %d bytes", p.answerBytes)
	}
	p.setAnswer(plans[0], &answer{rows: rows()})
	if has(0) {
		t.Error("the answer of a plan that is gone is kept")
	}
}
