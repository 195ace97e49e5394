package lists

import (
	"bytes"
	"slices"
	"time"

	"pmg/config"
	"pmg/internal/smstext"
	"pmg/sms"
	"pmg/sms/number"
	"pmg/sms/numbers"
)

// words are the texts with which mobiles change a list.
type words struct {
	list                  *list
	to                    []number.Number // numbers and short codes to which the words are sent; empty: any
	stop, start           []string        // the words, as smstext.Word returns them
	stopReply, startReply string
}

func wordsOf(c *config.List, l *list) *words {
	w := &words{list: l, stop: wordsIn(c.Stop), start: wordsIn(c.Start), stopReply: c.StopReply, startReply: c.StartReply}
	for _, text := range c.OptOutTo {
		w.to = append(w.to, number.Read(text))
	}
	return w
}

func wordsIn(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, smstext.Word(text))
	}
	return all
}

// A Change is the change of lists that the text of a message from a mobile requests: the sender is
// added to lists or removed from them. Only one goroutine may use it at a time.
type Change struct {
	Mobile, Service sms.Address // the sender and the recipient of the message

	by    string // the connector that brought the message
	lists *Lists
	all   []change
	due   *change // the change whose reply must be sent; nil: none
}

// A change is the change of one list.
type change struct {
	list  *list
	stop  bool
	reply string // text of the reply; empty: no reply
}

// Asked returns the change of lists that the text of a message requests, or nil if it requests no
// change. If count is true, each list whose words are searched for counts the message.
func (l *Lists) Asked(m *sms.Message, count bool) *Change {
	all := l.inUse.Load().words[m.Origin.Connector]
	for _, w := range all {
		if count {
			w.list.counts.messages.Add(1)
		}
	}
	if len(all) == 0 || len(m.Text()) > smstext.MostTyped {
		return nil
	}
	text := smstext.Word(smstext.Typed(m.Alphabet, m.Flags&sms.HasHeader != 0, m.Text()))
	if text == "" {
		return nil
	}
	to := number.Of(m.Dest())
	var changes []change
	for _, w := range all {
		switch {
		case len(w.to) > 0 && !slices.ContainsFunc(w.to, to.Equal):
		case slices.Contains(w.start, text):
			changes = append(changes, change{w.list, false, w.startReply})
		case slices.Contains(w.stop, text):
			changes = append(changes, change{w.list, true, w.stopReply})
		}
	}
	if changes == nil { // the usual case
		return nil
	}
	return &Change{Mobile: copied(m.Source()), Service: copied(m.Dest()), by: m.Origin.Connector, lists: l, all: changes}
}

func copied(a sms.Address) sms.Address {
	a.Addr = bytes.Clone(a.Addr)
	return a
}

// Make changes the lists because of the message with an id. Afterwards the message may be answered. Make returns
// sms.TemporaryFailure if the change could not be written to disk.
func (c *Change) Make(id uint64) sms.Code {
	mobile := number.Of(c.Mobile)
	from := numbers.Origin{At: time.Unix(0, c.lists.node.Clock.WallNow()), Who: c.by, ID: sms.FormatID(id)}
	for i := range c.all {
		one := &c.all[i]
		now := c.lists.node.Clock.Now()
		on := one.list.numbers.Has(mobile)
		n, err := one.set(from, mobile)
		if err != nil {
			if c.lists.node.Repeats.First("opt out") {
				c.lists.node.Log.Error().Err(err).Msg("cannot store an opt-out; the SMSC is asked to send it again")
			}
			return sms.TemporaryFailure
		}
		c.lists.share(one.list)
		key := replyKey{mobile.Key(), one.stop}
		if c.due == nil && one.mayReply(c) && c.lists.replies.claim(now, key, n > 0 && on != one.stop) {
			c.due = one
		}
	}
	return sms.OK
}

// set changes the list, and returns how many entries have changed.
func (one *change) set(from numbers.Origin, mobile number.Number) (int, error) {
	if one.stop {
		from.Source = numbers.Stop
		return one.list.numbers.Add(from, mobile.String())
	}
	from.Source = numbers.Start
	return one.list.numbers.Remove(from, mobile.String(), string(mobile.Octets())) // also as an SMSC has written the number
}

// mayReply reports whether the list has a reply and the mobile has a number.
func (one *change) mayReply(c *Change) bool {
	return one.reply != "" && len(number.Of(c.Mobile).Digits()) > 0
}

// Reply returns the text of the reply that is due after Make, or "" if no reply is due.
func (c *Change) Reply() string {
	if c == nil || c.due == nil {
		return ""
	}
	return c.due.reply
}

// Replied counts the reply as sent.
func (c *Change) Replied() {
	c.due.list.counts.replies.Add(1)
	c.due = nil
}

// Refused records that the message was refused. If the SMSC sends the message again, the reply is
// due, although the list has already changed.
func (c *Change) Refused() {
	if c == nil || c.due == nil {
		return
	}
	c.lists.replies.giveBack(c.lists.node.Clock.Now(), replyKey{number.Of(c.Mobile).Key(), c.due.stop})
	c.due = nil
}

// Preview returns a description of what Make would do, one sentence for each list.
func (c *Change) Preview() (says []string) {
	replied := false
	mobile := number.Of(c.Mobile)
	for i := range c.all {
		one := &c.all[i]
		text, on := mobile.String(), one.list.numbers.Has(mobile)
		var s string
		switch {
		case on == one.stop && on:
			s = text + " is on list " + one.list.name + " already"
		case on == one.stop:
			s = text + " is not on list " + one.list.name
		case one.stop:
			s = "it adds " + text + " to list " + one.list.name
		default:
			s = "it removes " + text + " from list " + one.list.name
		}
		if on != one.stop && one.mayReply(c) && !replied {
			s += ", and is answered " + `"` + one.reply + `"`
			replied = true
		}
		says = append(says, s)
	}
	return says
}
