package testsms

import (
	"pmg/sms"
)

// An Ending is the outcome of the messages to numbers that end with a digit.
type Ending struct {
	Does    string     // the effect, in words
	Once    sms.Code   // the answer to the first attempt; OK: as Code
	Code    sms.Code   // the answer
	State   sms.State  // state in the receipt; NoState: no receipt comes
	Network sms.Report // the error of the receipt: its Err, Network and NetworkError
	Delay   int        // how many times receipt_delay the receipt waits
	Replies bool       // the mobile replies
}

// The error in the receipt of a message to ...2 is that of a mobile that cannot be reached: absent subscriber in GSM
// (3GPP TS 29.002).
const (
	gsmNetwork       = 3
	absentSubscriber = 27
)

// endings are the rules, by their digits.
var endings = [10]Ending{
	{Does: "delivered", State: sms.StateDelivered, Delay: 1},
	{Does: "delivered", State: sms.StateDelivered, Delay: 1},
	{Does: "undelivered, with the network's error 27: the mobile cannot be reached", State: sms.StateUndeliverable, Delay: 1,
		Network: sms.Report{Err: []byte("027"), Network: gsmNetwork, NetworkError: absentSubscriber}},
	{Does: "expired", State: sms.StateExpired, Delay: 1},
	{Does: "refused by the SMSC when it is submitted", Code: sms.Rejected},
	{Does: "throttled at the first attempt, then taken and delivered", Once: sms.Throttled, State: sms.StateDelivered, Delay: 1},
	{Does: "taken, and no receipt comes"},
	{Does: "delivered after 15 times `receipt_delay`", State: sms.StateDelivered, Delay: 15},
	{Does: "delivered, and the mobile replies", State: sms.StateDelivered, Delay: 1, Replies: true},
	{Does: "delivered", State: sms.StateDelivered, Delay: 1},
}

// LongestDelay is how many times receipt_delay a receipt waits at most.
const LongestDelay = 15

// EndingOf returns the outcome of the messages to a number. A message to an address without a digit at the end is delivered.
func EndingOf(dest []byte) *Ending {
	if n := len(dest); n > 0 && dest[n-1] >= '0' && dest[n-1] <= '9' {
		return &endings[dest[n-1]-'0']
	}
	return &endings[0]
}

// Endings calls f with each digit and its meaning as text.
func Endings(f func(digit int, does string)) {
	for digit := range endings {
		f(digit, endings[digit].Does)
	}
}
