package receipts

import (
	"fmt"
	"testing"

	"pmg/sms"
)

// Where it is clear how an SMSC writes ids, most answers to messages that ask for no receipt are not looked at: a change of the
// ids' form is still seen soon, and one that asks is noted.
func TestRecordAnswerIsClear(t *testing.T) {
	t.Parallel()
	p := newRig(t)
	o, c := p.operator(), p.Matcher.table.Connector("operator").Config()
	asks, silent := p.submitted(sms.NotifySuccess), p.submitted(0)
	answer := func(m *sms.Message, n int, form string) {
		for i := range n {
			p.RecordAnswer(o, c, m, fmt.Appendf(nil, form, i+100_000))
		}
	}
	answer(silent, 2*firstAnswers, "msg-%d")
	if !o.isClear.Load() || !o.learner.HasNoNumbers() {
		t.Fatal("it is not clear that ids are as they are")
	}
	answer(asks, 1, "msg-x%d")
	var f Match
	if !p.find(o, p.receipt("46700000001", sms.Report{ID: []byte("msg-x100000")}), &f) {
		t.Error("the message of an answer that asks for a receipt is not found")
	}
	answer(silent, 20*everyAnswer, "%x")
	if o.learner.HasNoNumbers() {
		t.Error("nobody has noticed that ids are numbers now")
	}
}
