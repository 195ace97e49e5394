package problems

import "time"

// Facts are what the rules look at. Counters are since the start of the gateway.
type Facts struct {
	Started, Time time.Time
	Stopping      bool     // the gateway ends: that is all that matters
	NotReady      []string // the reasons why it is not ready
	Down          []string // the gateway's own problems, such as routes none of whose targets works

	AdminCertificateExpires *time.Time // nil: the admin address is plain

	Unrouted, Parked, Quarantined int64 // messages
	Receipts                      Receipts
	EventsWaiting                 uint64 // lines for billing that are in no file yet
	EventsErrors, SpansDropped    int64
	Store                         *Store // nil: messages are in memory

	Connectors []Connector
	Accounts   []Account
	Webhooks   []Webhook
	Stages     []Stage
}

// Receipts counts receipts of SMSCs.
type Receipts struct{ Matched, Unmatched, Homeless int64 }

// A Connector is what the rules look at of a connector.
type Connector struct {
	Name    string
	Out     bool     // it leads to an SMSC
	Trouble *Trouble // the reason why it has no session, or fewer than it should
	Held    *Held    // an operator keeps messages from leaving

	CertificateExpires *time.Time // the first of those that it shows; nil: it shows none

	Instances, SessionsBound, SessionsReady int

	Queued        int64
	OldestSeconds float64
	Fullest       int64 // messages in its fullest queue
	MaxQueue      int

	Sent, Failed, Expired, Late int64 // messages, and late answers
	Answers, SlowAnswers        int64 // to messages; those that took longer than SlowAnswer
	PDULogLost, PDULogEarly     int64
	Refusals                    []Refusal
}

// SlowAnswer is the time, in seconds, in which 95 of 100 answers should come.
const SlowAnswer = 5

// Trouble is why sessions of a connector are missing.
type Trouble struct {
	Reason      string
	Since, Next time.Time // Next is the time of the next attempt
	Down        time.Time // since when there is no session, whatever the reasons were; zero: since Since
}

// Held is who keeps the messages of a connector from leaving.
type Held struct {
	Since, Until time.Time // Until is zero if it is until it is released
	By           string
}

// A Refusal is how often the peer of a connector has answered with a status that is no success, or how often an account's
// messages were refused for a reason.
type Refusal struct {
	Status string // or the reason
	Count  int64
}

// An Account is what the rules look at of an account.
type Account struct {
	Name     string
	Sessions int
	Late     float64 // seconds for which the oldest receipt or message for its sessions has waited

	Accepted, Refused, Failed int64     // messages of its clients
	Refusals                  []Refusal // those refused, by their reasons
}

// A Webhook is what the rules look at of the servers of an account.
type Webhook struct {
	Account     string
	Waiting     int64
	Oldest      float64 // seconds
	LastError   string
	Resting     int // servers that are not called for a while
	Failures    int // in a row, of the server that has the most
	DeadLetters int64
}

// A Stage is what the rules look at of a stage.
type Stage struct {
	Name   string
	Panics int64
}

// A Store is the figures of the store that the rules need.
type Store struct {
	Failed, Low, Stalled, Recovered bool

	Problem, Refuses string // what is wrong with it, and why no message is accepted

	MinFree, Free, FreeInodes int64
	CurrentSeconds            float64 // for which the commit under way has lasted
	CommitsFailed, Slow       int64
}
