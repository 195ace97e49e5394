package stats

import (
	"strconv"

	"pmg/sms"
)

// A figure is a value that is counted. docs/stats.md describes each figure.
type figure uint8

const (
	messages figure = iota
	accepted
	sent
	failed
	rejected
	unknown
	expired
	deleted
	joined
	delivered
	undelivered
	delayMS // sum of the delays of sent messages
	late1s  // sent messages whose delay was more than one second
	late10s
	late1m
	late1h
	mo
	moSent
	moFailed
	charged // in millionths of units of the accounts' currencies; all figures from here on are amounts
	refunded
	cost // in millionths of units of the currencies of SMSCs
	figures
)

var figureNames = [figures]string{
	"messages", "accepted", "sent", "failed", "rejected", "unknown", "expired", "deleted", "joined", "delivered", "undelivered",
	"delay_ms", "late_1s", "late_10s", "late_1m", "late_1h", "mo", "mo_sent", "mo_failed",
	"charged", "refunded", "cost",
}

// isMoney reports whether a figure is an amount of money.
func (f figure) isMoney() bool { return f >= charged }

// text returns the value of a figure as text.
func (c *Counts) text(f figure) string {
	if f.isMoney() {
		return sms.Money(c.figures[f]).String()
	}
	return strconv.FormatInt(c.figures[f], 10)
}

// Figures returns the names of all figures except those by reason, in the order in which they are shown. What SMSCs charge is
// the last.
func Figures() []string { return figureNames[:] }
