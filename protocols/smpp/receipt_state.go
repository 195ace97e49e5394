package smpp

import (
	"strings"

	"pmg/sms"
)

// A stateRow is one row of the table of states.
type stateRow struct {
	state  sms.State
	number uint8
	word   string
}

// receiptStates are the states of messages (§5.2.28) with their message_state and their word in the
// text of a receipt (appendix B). SMPP 3.3 and 3.4 have no number for the first and the last one.
// No version has a word for them, so they share the word of the state that means the same to a
// client.
var receiptStates = [...]stateRow{
	{sms.StateEnroute, 1, "ENROUTE"},
	{sms.StateDelivered, 2, "DELIVRD"},
	{sms.StateExpired, 3, "EXPIRED"},
	{sms.StateDeleted, 4, "DELETED"},
	{sms.StateUndeliverable, 5, "UNDELIV"},
	{sms.StateAccepted, 6, "ACCEPTD"},
	{sms.StateUnknown, 7, "UNKNOWN"},
	{sms.StateRejected, 8, "REJECTD"},
	{sms.StateScheduled, 0, "ENROUTE"},
	{sms.StateSkipped, 9, "UNDELIV"},
}

// otherWords are words for states that peers send although no document has them. SMPP 3.3
// calls a message invalid that is unknown. The names of sms.State are known as well. A word
// that may mean the end of a message at one peer and not at another is not among them.
var otherWords = [...]struct {
	word  string
	state sms.State
}{
	{"UNDELIVERED", sms.StateUndeliverable},
	{"UNDELIVRD", sms.StateUndeliverable},
	{"FAILED", sms.StateUndeliverable},
	{"DELIVERD", sms.StateDelivered},
	{"INVALID", sms.StateUnknown},
	{"BLOCKED", sms.StateRejected},
	{"QUEUED", sms.StateEnroute},
	{"BUFFERED", sms.StateEnroute},
	{"BUFFERD", sms.StateEnroute},
	{"BUFFRED", sms.StateEnroute},
	{"ACKED", sms.StateEnroute},
	{"SENT", sms.StateEnroute},
	{"TRANSIT", sms.StateEnroute},
	{"SUBMITD", sms.StateEnroute},
}

// A ReceiptState says what a word in the receipts of an SMSC means. Package config describes
// the tags.
type ReceiptState struct {
	Word string `yaml:"word" required:"yes" live:"rebind" doc:"The word behind stat: in the receipt's text, in any letter case; without a text, the word of its message_state."`
	Is   string `yaml:"is" required:"yes" enum:"enroute|delivered|expired|deleted|undeliverable|accepted|unknown|rejected" live:"rebind" doc:"What it means, also for clients. enroute and accepted do not end the message's story; the others do."`
}

// stateOf returns the state that a receipt reports by the connector's options, which may assign a state to the word in
// the receipt, or to the state that was read from the receipt.
func (o *ConnectorOptions) stateOf(word []byte, read sms.State) sms.State {
	for i := range o.ReceiptStates {
		r := &o.ReceiptStates[i]
		if !equalFold(word, r.Word) && (read == sms.NoState || !strings.EqualFold(WordOfState(read), r.Word)) {
			continue
		}
		for _, s := range sms.States() {
			if s.String() == r.Is {
				return s
			}
		}
	}
	return read
}

// StateOfNumber returns the state with that message_state, or sms.NoState if there is none.
func StateOfNumber(number uint8) sms.State {
	for i := range receiptStates {
		if receiptStates[i].number == number {
			return receiptStates[i].state
		}
	}
	return sms.NoState
}

// NumberOfState returns the message_state of a state. That of sms.NoState is ENROUTE, because
// a word that is not known must not end the story of a message.
func NumberOfState(s sms.State) uint8 { return rowOf(s).number }

// StateOfWord returns the state with that word in the text of a receipt, in any letter case,
// or sms.NoState if there is none.
func StateOfWord(word []byte) sms.State {
	for i := range receiptStates {
		if equalFold(word, receiptStates[i].word) {
			return receiptStates[i].state
		}
	}
	for i := range receiptStates {
		if s := receiptStates[i].state; equalFold(word, s.String()) {
			return s
		}
	}
	for i := range otherWords {
		if equalFold(word, otherWords[i].word) {
			return otherWords[i].state
		}
	}
	return sms.NoState
}

// WordOfState returns the word for a state in the text of a receipt, ENROUTE for sms.NoState.
func WordOfState(s sms.State) string { return rowOf(s).word }

func rowOf(s sms.State) stateRow {
	for _, row := range receiptStates {
		if row.state == s {
			return row
		}
	}
	return rowOf(sms.StateEnroute)
}

// equalFold reports whether a word is the same but for the letter case.
func equalFold(word []byte, want string) bool {
	return len(word) == len(want) && strings.EqualFold(string(word), want)
}
