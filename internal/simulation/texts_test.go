package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pmg/sms"
)

// A text is what a peer submits, once. Its key is in the text of the message, over and over.
type text struct {
	key        string
	from       *station
	dest       string
	priority   uint8
	delay      time.Duration // until its delivery time
	validity   time.Duration
	registered byte
	size       int     // octets that it has at least
	header     string  // it is a part that its client has cut
	group      []*text // with the others of those

	lane     string   // that it was accepted for
	id       uint64   // of the message that was made of it last; 0: none
	answer   sms.Code // to the submit
	answered bool
	stored   bool // it has been on the disk
	deleted  bool
	taken    int // how often a peer has taken it
	may      int // how often it may be sent once more, because what came of a request is not known
	failed   int // how often it was sent in vain
	refused  bool

	parts []*text // messages that the gateway has made of it
	whole *text   // of which it is such a part
	part  int

	known       string   // the id by which its client knows it
	got         []string // receipts
	submissions []*submission

	withdrawn int    // how often it may have been cancelled or deleted
	cancelled bool   // a client or an operator knows that it has been
	changing  bool   // an operation is under way
	versions  int    // that the client has replaced it by
	by        int    // the conversation that has accepted it
	must      string // the version that is to be sent
	moved     bool   // by an operator
}

// name returns the key, and which part it is.
func (t *text) name() string {
	if t.whole != nil {
		return fmt.Sprintf("%s, part %d", t.key, t.part)
	}
	return t.key
}

// top returns what the client has submitted.
func (t *text) top() *text {
	if t.whole != nil {
		return t.whole
	}
	return t
}

// body returns the text of the message.
func (t *text) body() string {
	one := ";" + t.key + ";"
	return one + strings.Repeat(one[1:], t.size/len(one))
}

// sender is the address that everybody sends from.
const sender = "100"

// newTexts makes what a station submits next: a message, or the parts of a long one.
func (o *oracle) newTexts(s *station) []*text {
	t := o.newText(s)
	if !s.client {
		return []*text{t}
	}
	switch w := o.w; {
	case w.chance(w.plan.long):
		t.size = 200 + w.rng.IntN(300)
		for slices.ContainsFunc([]int{152, 153, 160}, func(room int) bool { return len(t.body())%room < 40 }) {
			t.size += 5 // so that there is a whole key in the last part
		}
	case w.chance(w.plan.cut):
		s.together++
		all := []*text{t}
		for range 1 + w.rng.IntN(2) {
			next := o.newText(s)
			next.dest, next.priority, next.delay, next.validity = t.dest, t.priority, 0, 0
			all = append(all, next)
		}
		t.delay, t.validity = 0, 0
		for i, one := range all {
			one.group, one.size = all, 60
			one.header = octets(5, 0, 3, byte(s.together), byte(len(all)), byte(i+1))
		}
		w.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return slices.Clone(all)
	}
	return []*text{t}
}

func (o *oracle) newText(s *station) *text {
	w := o.w
	t := &text{key: fmt.Sprintf("%s-%d", s.name, len(o.keys)), from: s, priority: uint8(w.rng.IntN(3))}
	if !s.client {
		t.dest = fmt.Sprint(1 + w.rng.IntN(2))
	} else {
		t.dest = fmt.Sprint(49170 + w.rng.IntN(w.plan.recipients))
		t.registered = w.plan.asks[w.rng.IntN(len(w.plan.asks))]
		if w.fault(w.plan.scheduled) {
			t.delay = time.Duration(1+w.rng.IntN(90)) * time.Second
		}
		if w.fault(w.plan.validity) {
			t.validity = t.delay + time.Duration(2+w.rng.IntN(120))*time.Second
		}
	}
	o.keys[t.key] = t
	o.all = append(o.all, t)
	return t
}

// texts returns the texts that are in that of a message. part is which part of a long message it is.
func (o *oracle) texts(octets []byte, part int) (all []*text) {
	keys := strings.Split(string(octets), ";")
	for i := 1; i < len(keys)-1; i++ { // the first and the last one may be cut
		t := o.keys[keys[i]]
		if t == nil {
			continue
		}
		if len(t.parts) > 0 {
			if part < 1 || part > len(t.parts) {
				o.w.fail("%s is sent as part %d of %d", t.key, part, len(t.parts))
				return nil
			}
			t = t.parts[part-1]
		}
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

// textsOf returns those of a message of the node.
func (o *oracle) textsOf(m *sms.Message) []*text { return o.texts(m.Text(), int(m.Part)+1) }
