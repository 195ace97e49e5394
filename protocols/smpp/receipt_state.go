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

// receiptStates are the states of messages (§5.2.28) with their message_state and their word
// in the text of a receipt (appendix B). SMPP 3.3 and 3.4 have no number for the first and
// the last one, and no version has a word, so that they share a word with the state that
// tells a client the same.
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
// calls a message invalid that is unknown. The names of sms.State are known as well.
var otherWords = [...]struct {
	word  string
	state sms.State
}{
	{"UNDELIVERED", sms.StateUndeliverable},
	{"FAILED", sms.StateUndeliverable},
	{"DELIVERD", sms.StateDelivered},
	{"INVALID", sms.StateUnknown},
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

// NumberOfState returns the message_state of a state, that of UNKNOWN for sms.NoState.
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

// WordOfState returns the word for a state in the text of a receipt, UNKNOWN for sms.NoState.
func WordOfState(s sms.State) string { return rowOf(s).word }

func rowOf(s sms.State) stateRow {
	for _, row := range receiptStates {
		if row.state == s {
			return row
		}
	}
	return rowOf(sms.StateUnknown)
}

// equalFold reports whether a word is the same but for the letter case.
func equalFold(word []byte, want string) bool {
	return len(word) == len(want) && strings.EqualFold(string(word), want)
}
