package lists

import (
	"slices"
	"strings"

	"pmg/config"
	"pmg/internal/smstext"
	"pmg/sms"
)

// longestWord is how many octets a text has at most that is looked up as a word.
const longestWord = 80

// words are the texts by which mobiles change a list.
type words struct {
	list        *list
	to          []string // numbers and short codes; empty: any
	stop, start []string // in capitals
}

func wordsOf(c *config.List, l *list) *words {
	w := &words{list: l, stop: capitals(c.Stop), start: capitals(c.Start)}
	for _, number := range c.OptOutTo {
		w.to = append(w.to, strings.TrimPrefix(number, "+"))
	}
	return w
}

func capitals(words []string) (all []string) {
	for _, w := range words {
		all = append(all, strings.ToUpper(strings.TrimSpace(w)))
	}
	return all
}

// Asked returns the work by which lists change because the text of a message from a mobile asks for it, nil if it does
// not. The message may be answered after it. The work returns sms.TemporaryFailure if the change is not on the disk.
func (l *Lists) Asked(m *sms.Message) func() sms.Code {
	all := l.inUse.Load().words[m.Origin.Connector]
	if len(all) == 0 || len(m.Text()) > longestWord {
		return nil
	}
	text, _ := smstext.Decode(m.Alphabet, m.Flags&sms.HasHeader != 0, m.Text())
	text = strings.ToUpper(strings.Trim(text, " \t\r\n.!\"'"))
	var changes []func() error
	from, to := string(m.Source().Addr), string(m.Dest().Addr)
	for _, w := range all {
		change := w.list.numbers.Add
		switch {
		case len(w.to) > 0 && !slices.Contains(w.to, to):
			continue
		case slices.Contains(w.start, text):
			change = w.list.numbers.Remove
		case !slices.Contains(w.stop, text):
			continue
		}
		changes = append(changes, func() error { _, err := change(from); return err })
	}
	if changes == nil {
		return nil
	}
	return func() sms.Code {
		for _, change := range changes {
			if err := change(); err != nil {
				if l.node.Repeats.First("opt out") {
					l.node.Log.Error().Err(err).Msg("cannot store an opt-out; the SMSC is asked to send it again")
				}
				return sms.TemporaryFailure
			}
		}
		return sms.OK
	}
}
