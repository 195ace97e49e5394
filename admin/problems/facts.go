package problems

import "time"

// Facts are the input of the rules. Counters are since the start of the gateway.
type Facts struct {
	Started, Time time.Time
	Stopping      bool     // the gateway is stopping: other problems do not matter
	NotReady      []string // the reasons why the gateway is not ready
	Down          []string // the gateway's own problems, such as a route without a working target

	AdminCertificateExpires *time.Time // nil: the admin address is plain

	Unrouted, Parked, Quarantined int64 // numbers of messages
	Receipts                      Receipts
	EventsWaiting                 uint64 // lines for billing that are not yet written to a file
	EventsErrors, SpansDropped    int64
	Store                         *Store // nil: messages are in memory

	Connectors []Connector
	Accounts   []Account
	Webhooks   []Webhook
	Stages     []Stage
}

// Receipts counts receipts of SMSCs.
type Receipts struct{ Matched, Unmatched, Homeless int64 }

// A Connector is the rules' input about a connector.
type Connector struct {
	Name    string
	Out     bool     // the connector leads to an SMSC
	Trouble *Trouble // the reason why the connector has no session, or fewer sessions than configured
	Held    *Held    // an operator keeps messages from leaving

	CertificateExpires *time.Time // expiry of the first of the connector's certificates; nil: the connector has none

	Instances, SessionsBound, SessionsReady int

	Queued        int64
	OldestSeconds float64
	Fullest       int64 // messages in the connector's fullest queue
	MaxQueue      int

	Sent, Failed, Expired, Late int64 // messages, and late answers
	Answers, SlowAnswers        int64 // number of answers to messages; number of those that took longer than SlowAnswer
	PDULogLost, PDULogEarly     int64
	Refusals                    []Refusal
}

// SlowAnswer is the time, in seconds, in which 95 of 100 answers should come.
const SlowAnswer = 5

// Trouble is the reason why sessions of a connector are missing.
type Trouble struct {
	Reason      string
	Since, Next time.Time // Next is the time of the next attempt
	Down        time.Time // start of the time without a session, whatever the reasons were; zero: Since is the start
}

// Held is the hold of a connector, with its operator.
type Held struct {
	Since, Until time.Time // period of the hold; a zero Until: the hold lasts until an operator releases it
	By           string
}

// A Refusal counts a peer's answers with a status that is no success, or the messages of an account that were
// refused for one reason.
type Refusal struct {
	Status string // the status or the reason
	Count  int64
}

// An Account is the rules' input about an account.
type Account struct {
	Name     string
	Sessions int
	Late     float64 // age in seconds of the oldest receipt or message that waits for the account's sessions

	Accepted, Refused, Failed int64     // numbers of messages of the account's clients
	Refusals                  []Refusal // refused messages, by reason

	Price, Cost int64 // sums in millionths: charged for messages whose SMSC's charge is known, and that charge
}

// A Webhook is the rules' input about the servers of an account.
type Webhook struct {
	Account     string
	Waiting     int64
	Oldest      float64 // age of the oldest event in seconds
	LastError   string
	Resting     int // number of servers that are not called for a while
	Failures    int // consecutive failures of the server that has the most
	DeadLetters int64
}

// A Stage is the rules' input about a stage.
type Stage struct {
	Name   string
	Panics int64
}

// A Store is the figures of the store that the rules need.
type Store struct {
	Failed, Low, Stalled, Recovered bool

	Problem, Refuses string // the store's problem; the reason why no message is accepted

	MinFree, Free, FreeInodes int64
	CurrentSeconds            float64 // duration so far of the commit that is running
	CommitsFailed, Slow       int64
}
