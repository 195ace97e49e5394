package intake

import (
	"strings"
	"testing"

	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/sms"
	"pmg/store"
)

// message makes one of the client, for the operator's lane.
func (p *place) message(text string) keep.Accepted {
	m := p.node.Messages.Get()
	m.Origin = p.node.Origins.Of("client", "clients")
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte(text))
	return keep.Accepted{Message: m, Share: shareOf(p.Checker, "client")}
}

// Messages of one PDU have ids in a row, by which their receipts come together; each part of a text that is too long takes a
// place of its own, which its account pays for.
func TestEnter(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 40) // three parts
	for name, c := range map[string]struct {
		texts  []string
		parked bool // the last one waits in no lane
		want   int  // messages
		places int64
	}{
		"one":                  {[]string{"a"}, false, 1, 1},
		"one that is parked":   {[]string{"a"}, true, 1, 0},
		"two":                  {[]string{"a", "b"}, false, 2, 2},
		"two, one is parked":   {[]string{"a", "b"}, true, 2, 1},
		"a long one":           {[]string{long}, false, 3, 3},
		"two, the second long": {[]string{"a", long}, false, 4, 4},
		"two, both long":       {[]string{long, long}, false, 6, 6},
		"a long one is parked": {[]string{"a", long}, true, 2, 1},
	} {
		p := newPlace(t, "", "", "long_messages: split8", toOperator)
		var all []keep.Accepted
		for i, text := range c.texts {
			a := p.message(text)
			if len(text) > 160 {
				a.Message.Parts = 3
			}
			if c.parked && i == len(c.texts)-1 {
				a.Share = nil
			}
			all = append(all, a)
		}
		share := shareOf(p.Checker, "client")
		var more []keep.Accepted
		if len(all) > 1 {
			more = all[1:]
		}
		in := p.NewIntake(2)
		in.Enter(now, p.message("before"), nil) // so that a block is in use
		in.Flush()
		first, more, aside := in.Enter(now, all[0], more)
		in.Flush()
		if len(more)+1 != c.want || aside != c.parked || share.Queued() != c.places+1 {
			t.Errorf("%s: %d messages, aside %t, %d places", name, len(more)+1, aside, share.Queued()-1)
		}
		text := ""
		for i, a := range append([]keep.Accepted{first}, more...) {
			if a.Message.ID != first.Message.ID+uint64(i) || int(a.Message.Offset) != i {
				t.Errorf("%s: message %d has id %d and offset %d after %d", name, i, a.Message.ID, a.Message.Offset, first.Message.ID)
			}
			_, piece, _ := p.table.PartOf(a.Message)
			text += string(piece)
		}
		if want := strings.Join(c.texts, ""); text != want {
			t.Errorf("%s: the texts are %q, want %q", name, text, want)
		}
		if c.parked && all[len(all)-1].Message.Parts != 0 {
			t.Errorf("%s: what is parked is in %d parts", name, all[len(all)-1].Message.Parts)
		}
	}
}

// A text that waited for room stays whole when the options say so by then, although it was to be cut.
func TestEnterWhole(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "", "long_messages: pass", toOperator)
	a := p.message(strings.Repeat("x", 400))
	a.Message.Parts = 3
	first, more, aside := p.NewIntake(1).Enter(now, a, nil)
	if first.Message != a.Message || first.Message.Parts != 0 || len(more) != 0 || aside || first.Share.Queued() != 1 {
		t.Errorf("%d parts, %d more, %d places", first.Message.Parts, len(more), first.Share.Queued())
	}
}

// The parts of a text follow the keyword that it begins with when they leave by another route.
func TestEnterRemembersKeywords(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "", "long_messages: split8", `[{keyword: stop, to: beside}, {to: operator}]`)
	text := strings.Repeat("x", 300)
	both := []keep.Accepted{p.message("STOP " + text), p.message("GO " + text)}
	for _, a := range both {
		a.Message.Parts = 2
	}
	first, more, _ := p.NewIntake(1).Enter(now, both[1], both[:1])
	for i, a := range append([]keep.Accepted{first}, more...) {
		want := []string{"operator", "operator", "beside", "beside"}[i]
		if p.table.LacksFirst(a.Message) {
			t.Errorf("message %d: nobody knows its keyword", i)
		} else if l := p.table.Route(a.Message); l == nil || l.Home().Name != want {
			t.Errorf("message %d does not go to %s", i, want)
		}
	}
}

// What was stored leaves, waits for the parts that it is to be joined with, or waits in no lane.
func TestLeaves(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "", "", toOperator)
	in := p.NewIntake(10)
	a := p.message("text")
	if in.Accept(now, a.Message, a.Share); !in.Leaves(now, a) {
		t.Error("a message does not leave")
	}
	a = p.message("text")
	a.Share = nil
	if in.Accept(now, a.Message, nil); in.Leaves(now, a) {
		t.Error("one that is parked leaves")
	}

	p = newPlace(t, "", "", "long_messages: join", toOperator)
	in = p.NewIntake(10)
	for number := range byte(2) {
		a := p.message("\x05\x00\x03\x07\x02" + string(rune(number+1)) + "x")
		a.Message.Flags |= sms.HasHeader
		in.Accept(now, a.Message, a.Share)
		if in.Leaves(now, a) {
			t.Errorf("part %d leaves", number+1)
		}
		if number == 0 && a.Share.Queued() != 1 {
			t.Errorf("a part that waits has %d places", a.Share.Queued())
		}
	}
	if made, _ := p.keep.Outgoing.Waiting(); len(made) != 1 || string(made[0].Message.Text()) != "xx" {
		t.Errorf("joined are %+v", made)
	}
	a = p.message("text")
	if in.Accept(now, a.Message, a.Share); !in.Leaves(now, a) {
		t.Error("a whole message does not leave")
	}
}

// A message that could not be stored gives its place back, and is counted as refused: its client sends it again.
func TestUndo(t *testing.T) {
	t.Parallel()
	for _, parked := range []bool{false, true} {
		p := newPlace(t, "", "", "", toOperator)
		clients, in := p.table.Connector("clients"), p.NewIntake(10)
		a := p.message("text")
		share, tally := a.Share, a.Message.Origin.Tally
		if parked {
			a.Share = nil
			p.keep.CountAside(a.Message.Origin, store.Parked, 1)
		}
		in.Accept(now, a.Message, a.Share)
		in.Undo(&connector.Source{Connector: clients}, a, sms.SystemError)
		refused := map[sms.Code]int64{}
		tally.RefusedBy(func(why sms.Code, n int64) { refused[why] = n })
		if share.Queued() != 0 || p.node.Memory.Used() != 0 || p.keep.Aside(store.Parked) != 0 || tally.Parked.Load() != 0 {
			t.Errorf("parked %t: %d places, %d octets, %d parked",
				parked, share.Queued(), p.node.Memory.Used(), p.keep.Aside(store.Parked))
		}
		if clients.Stats.Refused.Load() != 1 || len(refused) != 1 || refused[sms.SystemError] != 1 {
			t.Errorf("parked %t: refused are %v", parked, refused)
		}
	}
}

// An operator reads why messages are refused or wait, the first of a minute on each connector, and that a client should log in.
func TestLog(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "", "", `[{from: operator, to: {account: client}}, {to: operator}]`)
	s := p.submission(Submitted, sms.Submit, nil)
	p.LogWaits(now, s.From, shareOf(p.Checker, "client"))
	p.LogWaits(now, s.From, shareOf(p.Checker, "client"))
	login(p, s)
	p.LogRefused(now, s.From, &p.node.LogLimits.Invalid, "message refused: reason")
	lines := strings.Split(strings.TrimSpace(p.log.String()), "\n")
	if len(lines) < 2 || !strings.Contains(lines[0], "message answered late: the queue for connector operator is full") {
		t.Errorf("the log says %q", lines)
	}
	last := lines[len(lines)-1]
	if !strings.Contains(last, `"account":"client"`) || !strings.Contains(last, "message refused: reason") {
		t.Errorf("the log says %s", last)
	}
}

// A client that does not log in while its messages wait is named in the log before SMSCs are refused.
func TestNearlyFull(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "", "", `[{from: operator, to: {account: client}}, {to: operator}]`)
	s := p.submission(Delivered, sms.MO, nil)
	if v := p.Take(now, s); v != Pass || s.Share == nil || p.log.String() != "" {
		t.Fatalf("verdict %d, %s; the log says %q", v, s.Code, p.log.String())
	}
	p.WarnNearlyFull(nil)
	s.Share.Lane.Queued.Store(int64(s.Share.Lane.Config().MaxQueue))
	for range 2 {
		p.Take(now, p.submission(Delivered, sms.MO, nil))
	}
	if n := strings.Count(p.log.String(), "nearly as many receipts and messages wait"); n != 1 {
		t.Errorf("it is logged %d times: %s", n, p.log.String())
	}
}

// The share of a source follows its lane, and is looked up once.
func TestSharesFollowLanes(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "", "", `[{destination: "1", to: beside}, {to: operator}]`)
	p.Use(p.steps[1:])
	from := p.submission(Submitted, sms.Submit, nil).From
	for _, dest := range []string{"46", "1", "46"} {
		s := p.submission(Submitted, sms.Submit, func(m *sms.Message) { m.SetAddresses(m.Source(), sms.Address{Addr: []byte(dest)}) })
		s.From = from
		if v := p.Take(now, s); v != Pass || s.Share.Lane != s.Lane || from.LastShare != s.Share {
			t.Errorf("to %s: verdict %d, %s", dest, v, s.Code)
		}
	}
}
