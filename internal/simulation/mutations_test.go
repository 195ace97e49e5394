package simulation

import (
	"strconv"
	"testing"

	"pmg/gateway/keep"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

// The ways in which a node may be broken, to see whether the oracle notices.
const (
	answerEarly  = "messages are answered before their commit"
	ignoreErrors = "a commit that failed counts as done"
	keepAll      = "messages that have ended are not deleted"
	loseWrites   = "a kill loses what a power cut would"
	otherForm    = "the id of a receipt is looked for in another form first"
	relayOrphans = "a receipt whose message is not known goes to a client"
	forgetIDs    = "what ids stand for is not stored"
	wrongPart    = "a receipt of a part is taken for that of another one"
	leaveOrphans = "a receipt that comes before the answer is not looked at again"
	apart        = "conversations do not wait for each other's receipts"
)

// The oracle notices a broken node within the histories that the tests play.
func TestMutations(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	for _, mutation := range []string{
		answerEarly, ignoreErrors, keepAll, loseWrites, otherForm, relayOrphans, forgetIDs, wrongPart, leaveOrphans, apart,
	} {
		found, conversations := false, 1
		if mutation == apart {
			conversations = 4
		}
		each(t, *seeds, conversations, mutation, func(seed uint64, w *world) bool {
			if found = w.problem != ""; found {
				t.Logf("%s: seed %d: %.100s", mutation, seed, w.problem)
			}
			return found
		})
		if !found {
			t.Errorf("%s: no history shows it", mutation)
		}
	}
}

// mutated returns the id of a receipt as a broken node would take it.
func (c *smsc) mutated(r *report) string {
	switch {
	case c.w.mutation == otherForm:
		for _, base := range []int{10, 16} {
			n, err := strconv.ParseUint(r.id, base, 64)
			if other := strconv.FormatUint(n, 26-base); err == nil && c.accepts(other) {
				return other
			}
		}
	case c.w.mutation == wrongPart && r.of != nil && r.of.texts[0].whole != nil:
		for _, p := range r.of.texts[0].whole.parts {
			if len(p.submissions) > 0 {
				return p.submissions[0].receipt
			}
		}
	}
	return r.id
}

// accepts reports whether a message was accepted under an id.
func (c *smsc) accepts(id string) bool {
	for _, s := range c.accepted {
		if compared(s.id) == compared(id) {
			return true
		}
	}
	return false
}

// relay gives a receipt whose message is not known to a client.
func (n *node) relay(a keep.Accepted, r *request) {
	if n.w.mutation != relayOrphans || a.Share != nil || a.Message.Kind != sms.Receipt || a.Message.Parts > 1 {
		return
	}
	for _, h := range n.handles {
		if h.Account != nil {
			h.end.write(r.pdu.AppendWire(nil))
			return
		}
	}
}
