package sandbox

import (
	"pmg/protocols/testsms"
	"pmg/sms"
)

// A Script is what an SMSC does beside what the numbers decide.
type Script uint32

// The scripts.
const (
	Usual     Script = iota // what the numbers decide
	Late                    // receipts come as late as those of numbers that end with 7
	Twice                   // each receipt comes twice
	Mixed                   // the receipt of every second message comes before that of the message before it
	Throttled               // nothing is accepted for now
	Closed                  // there is no session: messages wait
)

// scripts are the names and the descriptions of the scripts.
var scripts = [...]struct{ name, does string }{
	{"usual", "does what the numbers decide"}, {"late", "sends receipts late"}, {"twice", "sends each receipt twice"},
	{"mixed", "sends receipts out of order"}, {"throttled", "throttles all messages"}, {"closed", "is closed: messages wait"},
}

// Scripts calls f for each script.
func Scripts(f func(s Script, name, does string)) {
	for i, one := range scripts {
		f(Script(i), one.name, one.does)
	}
}

// Script returns the script that the SMSC plays.
func (s *SMSC) Script() Script { return Script(s.script.Load()) }

// Play makes the SMSC play a script from now on. Messages that it has accepted keep their receipts.
func (s *SMSC) Play(script Script) {
	s.script.Store(uint32(script))
	s.engine.Do(s.lane, s.open)
}

// answers returns the answer to a message that would be accepted.
func (s *SMSC) answers() sms.Code {
	switch s.Script() {
	case Throttled, Closed: // closed: it was under way when the SMSC closed
		return sms.Throttled
	}
	return sms.OK
}

// receiptsOf returns the receipts of a message that was accepted.
func (s *SMSC) receiptsOf(e *testsms.Ending, id uint64) []*delivery {
	one, delay := &delivery{due: s.due(e), id: id, ending: e}, int64(s.connector.Config().Test.ReceiptDelay)
	switch s.Script() {
	case Late:
		one.due += (testsms.LongestDelay - int64(e.Delay)) * delay
	case Twice:
		second := *one
		second.again = true
		second.due += delay
		return []*delivery{one, &second}
	case Mixed:
		if s.mixed.Add(1)%2 == 1 {
			one.due += 2 * delay
		}
	}
	return []*delivery{one}
}
