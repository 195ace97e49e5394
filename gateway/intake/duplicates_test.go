package intake

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pmg/gateway/keep"
	"pmg/sms"
)

// submit takes a message of the client through the steps.
func (p *place) submit(now int64, change func(*sms.Message)) *Submission {
	s := p.submission(Submitted, sms.Submit, change)
	login(p, s)
	p.Take(now, s)
	return s
}

// A message is refused that comes once more within the time, and not one that differs from it.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	text := func(text string) func(*sms.Message) { return func(m *sms.Message) { m.SetText([]byte(text)) } }
	to := func(dest string) func(*sms.Message) {
		return func(m *sms.Message) { m.Set(m.Source(), sms.Address{Addr: []byte(dest)}, []byte("text")) }
	}
	part := func(reference, number byte) func(*sms.Message) {
		return func(m *sms.Message) {
			m.SetText([]byte{5, 0, 3, reference, 2, number, 'a'})
			m.Flags |= sms.HasHeader
		}
	}
	const options = `duplicates: {within: 10s}, rewrite: [{in: destination, prefixes: ["0=46"]}]`
	for name, c := range map[string]struct {
		account       string
		first, second func(*sms.Message)
		after         int64
		refused       bool
	}{
		"the same":              {options, nil, nil, 0, true},
		"just within the time":  {options, nil, nil, 10*second - 1, true},
		"behind the time":       {options, nil, nil, 10 * second, false},
		"without the option":    {"", nil, nil, 0, false},
		"another text":          {options, nil, text("texts"), 0, false},
		"another recipient":     {options, nil, to("46700000002"), 0, false},
		"written otherwise":     {options, nil, to("0700000001"), 0, true},
		"a part":                {options, part(1, 1), part(1, 1), 0, true},
		"the next part":         {options, part(1, 1), part(1, 2), 0, false},
		"a part of another one": {options, part(1, 1), part(2, 1), 0, false},
	} {
		p := newPlace(t, "", c.account, "", toOperator)
		if s := p.submit(now, c.first); s.Code != sms.OK {
			t.Errorf("%s: the first is refused as %s by %s", name, s.Code, s.Refuser(p.Checker))
		}
		for range 2 {
			s := p.submit(now+c.after, c.second)
			if refused := s.Code == sms.Rejected && s.Refuser(p.Checker) == "duplicates"; refused != c.refused || !refused && s.Code != sms.OK {
				t.Errorf("%s: the second: %s by %q", name, s.Code, s.Refuser(p.Checker))
			}
			if c.refused != strings.Contains(p.log.String(), "(duplicates)") {
				t.Errorf("%s: the log says %q", name, p.log)
			}
			if s.Drop(); !c.refused {
				break
			}
		}
	}
}

// A message that a later step refuses, that could not be stored, or whose session is gone, can be submitted again.
func TestDuplicatesAreTakenBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "duplicates: {within: 10s}, max_parts: 3", "long_messages: split8", toOperator)
	long := func(m *sms.Message) { m.SetText([]byte(strings.Repeat("x", 400))) }
	in := p.NewIntake(10)
	accept := func(s *Submission) (keep.Accepted, []keep.Accepted) {
		first, more, _ := in.Enter(now, s.Accepted(), nil)
		return first, more
	}
	for name, end := range map[string]func(s *Submission){
		"refused": func(s *Submission) { s.Drop() },
		"one of many": func(s *Submission) {
			v := &Several{}
			v.Add(s.Accepted())
			v.Drop(s.From)
		},
		"not stored": func(s *Submission) {
			first, more := accept(s)
			for _, a := range append(more, first) {
				in.Undo(s.From, a, sms.SystemError)
			}
		},
	} {
		for _, change := range []func(*sms.Message){nil, long} {
			s := p.submit(now, change)
			if s.Code != sms.OK {
				t.Fatalf("%s: %s by %s", name, s.Code, s.Refuser(p.Checker))
			}
			end(s)
		}
	}
	s := p.submission(Submitted, sms.Submit, nil)
	login(p, s)
	s.Room = full{}
	if p.Take(now, s); s.Refuser(p.Checker) != "room" {
		t.Errorf("%s by %s", s.Code, s.Refuser(p.Checker))
	}
	s.Drop()
	s = p.submit(now, nil)
	first, _ := accept(s)
	if first.Message.Claim == 0 {
		t.Error("it has no claim")
	}
	if s = p.submit(now, nil); s.Refuser(p.Checker) != "duplicates" {
		t.Errorf("after one that was accepted: %s by %q", s.Code, s.Refuser(p.Checker))
	}
	s.Drop() // which does not give back the claim of the first
	if s = p.submit(now, nil); s.Refuser(p.Checker) != "duplicates" {
		t.Errorf("after a duplicate: %s by %q", s.Code, s.Refuser(p.Checker))
	}
	if n := s.From.Account.Duplicates().Len(now); n != 1 {
		t.Errorf("%d are remembered", n)
	}
}

// A preview says that it would be refused, and makes no other message a duplicate.
func TestPreviewClaimsNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "duplicates: {within: 10s}", "", toOperator)
	preview := func() *Submission {
		s := p.submission(Submitted, sms.Submit, nil)
		login(p, s)
		s.Preview = true
		p.Take(now, s)
		return s
	}
	for range 2 {
		s := preview()
		if s.Code != sms.OK {
			t.Errorf("before the message: %s", s.Code)
		}
		s.Drop()
	}
	p.submit(now, nil)
	s := preview()
	if s.Refuser(p.Checker) != "duplicates" {
		t.Errorf("behind the message: %s by %q", s.Code, s.Refuser(p.Checker))
	}
	s.Drop()
	if s = p.submit(now, nil); s.Refuser(p.Checker) != "duplicates" {
		t.Errorf("behind the preview: %s by %q", s.Code, s.Refuser(p.Checker))
	}
}

// Sessions and requests submit at the same time, each on its goroutine: of those that are alike one is accepted, even if
// others were refused for want of room before.
func TestDuplicatesOfGoroutines(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "", "duplicates: {within: 1h}", "", toOperator)
	const texts = 200
	var accepted [texts]atomic.Int32
	var group sync.WaitGroup
	for g := range 4 {
		from := p.submission(Submitted, sms.Submit, nil)
		login(p, from)
		group.Go(func() {
			for i := range texts {
				s := p.submission(Submitted, sms.Submit, func(m *sms.Message) { m.SetText(fmt.Append(nil, i)) })
				s.From = from.From
				if g%2 == 0 && i%2 == 0 {
					s.Room = full{}
				}
				if p.Take(now+int64(g), s) == Pass {
					accepted[i].Add(1)
				} else {
					s.Drop()
				}
			}
		})
	}
	group.Wait()
	s := p.submission(Submitted, sms.Submit, nil)
	login(p, s)
	for i := range accepted {
		n := accepted[i].Load()
		s := p.submit(now, func(m *sms.Message) { m.SetText(fmt.Append(nil, i)) })
		if again := s.Code == sms.OK; n > 1 || again != (n == 0) {
			t.Errorf("text %d: %d were accepted, and one more: %t", i, n, again)
		}
	}
}

// A step costs what its policy costs, and next to nothing without.
func BenchmarkDuplicates(b *testing.B) {
	for name, options := range map[string]string{"with": "duplicates: {within: 10s}", "without": ""} {
		b.Run(name, func(b *testing.B) { benchmarkStep(b, "duplicates", options) })
	}
}

// benchmarkStep passes a message through a step of the client's again and again.
func benchmarkStep(b *testing.B, name, options string) {
	b.Helper()
	p := newPlace(b, "", options, "", toOperator)
	s := p.submission(Submitted, sms.Submit, nil)
	login(p, s)
	p.Take(now, s)
	Retract(s.From, s.Message)
	var step Step
	for _, one := range p.steps {
		if one.Name == name {
			step = one
		}
	}
	at := now
	b.ReportAllocs()
	for b.Loop() {
		at += 1000
		s.Message.Arrived, s.Message.Claim = at, 0
		if step.Do(p.Checker, at, s) != Pass {
			b.Fatal(s.Code)
		}
		Retract(s.From, s.Message)
	}
}
