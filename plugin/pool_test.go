package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A fake is a plugin that does what a test says.
type fake func(ctx context.Context, m *Message) (Verdict, error)

func (f fake) Ask(ctx context.Context, m *Message) (Verdict, error) { return f(ctx, m) }
func (f fake) Close()                                               {}

var bounds = Options{Name: "p", Workers: 2, Queue: 3, Deadline: time.Second, OnFailure: Hold}

// hangs answers nothing until its context ends.
func hangs(ctx context.Context, _ *Message) (Verdict, error) {
	<-ctx.Done()
	return Verdict{}, ctx.Err()
}

// A plugin that hangs keeps as many messages as workers until the deadline. As many as queue wait as long for a place. Those without
// one were not asked about, and are refused for now.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var most, now atomic.Int64
		p := NewPool(fake(func(ctx context.Context, m *Message) (Verdict, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			return hangs(ctx, m)
		}), bounds)
		var all sync.WaitGroup
		var late, crowded atomic.Int64
		for range 8 {
			all.Go(func() {
				switch d := p.Ask(&Message{}); {
				case d.Crowded && errors.Is(d.Failure, errFull) && d.Do == Refuse && d.Status == "throttled" && d.Why != "":
					crowded.Add(1)
				case !d.Crowded && errors.Is(d.Failure, errLate) && d.Do == Hold && d.Why != "":
					late.Add(1)
				default:
					t.Errorf("%+v", d)
				}
			})
		}
		synctest.Wait()
		if f := p.Figures(); f.InFlight != 2 || f.Waiting != 3 || f.Asked != 2 || f.Failed != 0 || f.Crowded != 3 {
			t.Errorf("%+v", f)
		}
		all.Wait()
		f := p.Figures()
		if f.InFlight+f.Waiting != 0 || f.Asked != late.Load() || f.Failed != late.Load() || f.Crowded != crowded.Load() {
			t.Errorf("%+v, %d late, %d crowded", f, late.Load(), crowded.Load())
		}
		if most.Load() != 2 || late.Load() < 2 || late.Load()+crowded.Load() != 8 {
			t.Errorf("%d together, %d late, %d crowded", most.Load(), late.Load(), crowded.Load())
		}
	})
}

// An account with 150 sessions neither makes a slow plugin rest, nor takes the places of others, nor passes it unseen.
func TestShares(t *testing.T) {
	for _, onFailure := range []string{Pass, Refuse, Hold} {
		for _, queue := range []int{100, 10_000} {
			synctest.Test(t, func(t *testing.T) {
				p := NewPool(fake(func(_ context.Context, m *Message) (Verdict, error) {
					time.Sleep(10 * time.Millisecond)
					if m.Text == "bad" {
						return Verdict{Do: Refuse, Status: "rejected"}, nil
					}
					return Verdict{}, nil
				}), Options{Name: "p", Workers: 1, Queue: queue, Deadline: time.Second, OnFailure: onFailure})
				stop := make(chan struct{})
				var load sync.WaitGroup
				for range 150 * 5 {
					load.Go(func() {
						for {
							d := p.Ask(&Message{Account: "load", Text: "bad"})
							if d.Do != Refuse || d.Crowded != (d.Status == "throttled") {
								t.Errorf("one that is to be refused: %+v", d)
							}
							select {
							case <-stop:
								return
							case <-time.After(100 * time.Millisecond):
							}
						}
					})
				}
				time.Sleep(3 * time.Second)
				for range 20 {
					began := time.Now()
					if d := p.Ask(&Message{Account: "good", Text: "good"}); d.Failure != nil || d.Do != "" {
						t.Errorf("an honest one: %+v", d)
					}
					if took := time.Since(began); took > 50*time.Millisecond {
						t.Errorf("an honest one waits %v", took)
					}
				}
				if f := p.Figures(); !f.RestsUntil.IsZero() || f.Failed != 0 || f.Crowded == 0 {
					t.Errorf("%+v", f)
				}
				close(stop)
				load.Wait()
			})
		}
	}
}

// What Try does not decide, Ask does, in its turn; a failure of rules is of one message, and no rest follows.
func TestTry(t *testing.T) {
	t.Parallel()
	p := NewPool(long{}, bounds)
	for _, text := range []string{"short", "long"} {
		if d, ok := p.Try(&Message{Text: text}); ok != (text == "short") || ok && d.Do != Refuse {
			t.Errorf("%s: %+v, %t", text, d, ok)
		}
	}
	for range 2 * maxFailures {
		if d := p.Ask(&Message{}); d.Do != Hold || d.Failure == nil {
			t.Errorf("%+v", d)
		}
	}
	if d := p.Ask(&Message{Text: "long"}); d.Do != Refuse {
		t.Errorf("%+v", d)
	}
	if f := p.Figures(); f.Asked != 2+2*maxFailures || f.Failed != 2*maxFailures || !f.RestsUntil.IsZero() {
		t.Errorf("%+v", f)
	}
}

// long is a plugin that needs a goroutine for a long text, and fails without one.
type long struct{ quick }

func (long) Try(m *Message) (Verdict, bool, error) {
	return Verdict{Do: Refuse}, m.Text == "short", nil
}
func (long) Ask(_ context.Context, m *Message) (v Verdict, err error) {
	if m.Text == "" {
		return v, errors.New("no")
	}
	return Verdict{Do: Refuse}, nil
}

// After ten failures in a row a plugin rests for longer and longer, while one message tries it behind each rest.
func TestRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, works := 0, false
		p := NewPool(fake(func(context.Context, *Message) (Verdict, error) {
			if asked++; works {
				return Verdict{Do: Refuse}, nil
			}
			return Verdict{}, errors.New("no")
		}), bounds)
		ask := func(want int) {
			t.Helper()
			if p.Ask(&Message{}); asked != want {
				t.Errorf("asked %d times, want %d", asked, want)
			}
		}
		for i := range maxFailures {
			ask(i + 1)
		}
		n := maxFailures
		for rest := firstRest; rest < 2*longestRest; rest *= 2 {
			ask(n)
			if until := p.Figures().RestsUntil; !until.Equal(time.Now().Add(min(rest, longestRest))) {
				t.Errorf("it rests for %v, want %v", time.Until(until), rest)
			}
			time.Sleep(min(rest, longestRest) - 1)
			ask(n)
			time.Sleep(time.Nanosecond)
			n++
			ask(n)
		}
		works = true
		time.Sleep(longestRest)
		for range 20 {
			n++
			ask(n)
		}
		if f := p.Figures(); !f.RestsUntil.IsZero() || f.Refused != 20 || f.Failure != "no" {
			t.Errorf("%+v", f)
		}
	})
}

// Behind a rest one message alone tries.
func TestTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		p := NewPool(fake(func(ctx context.Context, m *Message) (Verdict, error) { asked++; return hangs(ctx, m) }), bounds)
		for range maxFailures {
			p.Ask(&Message{})
		}
		time.Sleep(firstRest)
		for range 5 {
			go p.Ask(&Message{})
		}
		synctest.Wait()
		if asked != maxFailures+1 {
			t.Errorf("%d have tried", asked-maxFailures)
		}
		time.Sleep(time.Second)
	})
}

// A full queue is no failure of the plugin: no rest follows, and a trial that meets one is followed by another.
func TestFullIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := bounds
		o.Workers, o.Queue = 1, 0
		p := NewPool(fake(hangs), o)
		go p.Ask(&Message{})
		synctest.Wait()
		for range 3 * maxFailures {
			if d := p.Ask(&Message{}); !errors.Is(d.Failure, errFull) {
				t.Error(d.Failure)
			}
		}
		if f := p.Figures(); !f.RestsUntil.IsZero() || f.Asked != 1 || f.Failed != 0 || f.Crowded != 3*maxFailures {
			t.Errorf("%+v", f)
		}
		time.Sleep(o.Deadline)
	})
	var b breaker
	now := time.Now()
	b.begin(now, firstRest)
	for range 2 {
		if ok, trial := b.may(now.Add(firstRest)); !ok || !trial {
			t.Error("it may not be tried")
		}
		b.unasked(true)
	}
}

// A question that began before a rest neither ends its trial nor prolongs it.
func TestOldQuestions(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errLate} {
		var b breaker
		now := time.Now()
		b.begin(now, firstRest)
		now = now.Add(firstRest)
		if ok, trial := b.may(now); !ok || !trial {
			t.Error("it may not be tried")
		}
		b.done(now, false, err)
		if ok, _ := b.may(now); ok || !b.until.Equal(now) {
			t.Errorf("%v: another may try, or it rests until %v", err, b.until)
		}
		b.done(now, true, nil)
		if ok, trial := b.may(now); !ok || trial {
			t.Errorf("%v: it has answered, and is not asked: %v, %v", err, ok, trial)
		}
	}
}

// Of a plugin that does not wait one question in sampled is measured, the first of them.
func TestSampled(t *testing.T) {
	t.Parallel()
	p := NewPool(quick{}, bounds)
	for range 2*sampled + 1 {
		p.Try(&Message{})
	}
	if n := p.work.now.TotalCount(); n != 3 || p.Figures().Asked != 2*sampled+1 {
		t.Errorf("%d were measured", n)
	}
}

// quick is a plugin that does not wait.
type quick struct{}

func (quick) Ask(context.Context, *Message) (Verdict, error) { return Verdict{}, nil }
func (quick) Try(*Message) (Verdict, bool, error)            { return Verdict{}, true, nil }
func (quick) Close()                                         {}

// What there is no verdict for is decided as the options say.
func TestOnFailure(t *testing.T) {
	t.Parallel()
	for onFailure, want := range map[string]string{
		Pass: `{}`, Refuse: `{"do":"refuse","status":"temporary_failure","why":"plugin p has not answered"}`,
		Hold: `{"do":"hold","why":"plugin p has not answered"}`,
	} {
		for name, f := range map[string]fake{
			"an error": func(context.Context, *Message) (Verdict, error) { return Verdict{Do: Refuse}, errors.New("no") },
			"garbage":  func(context.Context, *Message) (Verdict, error) { return Verdict{Do: "x", Tags: []string{"a"}}, nil },
			"a panic":  func(context.Context, *Message) (Verdict, error) { panic("no") },
		} {
			o := bounds
			o.OnFailure = onFailure
			d := NewPool(f, o).Ask(&Message{})
			if b, _ := json.Marshal(d.Verdict); string(b) != want || d.Failure == nil {
				t.Errorf("%s, %s: %s, %v", onFailure, name, b, d.Failure)
			}
		}
	}
}

// As many messages as workers and queue wait for a plugin that is informed of them; those beyond count as failures, and nobody
// waits. When it answers, or is late, there is room again. Close waits a moment for it, and what comes behind that is a failure.
func TestInform(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(fake(hangs), bounds)
		var failed sync.Map // number of each failure
		note := func(err error) {
			n, _ := failed.LoadOrStore(err.Error(), new(atomic.Int64))
			n.(*atomic.Int64).Add(1)
		}
		left := 0
		inform := func(n int) {
			for i := range n {
				owner := []string{"a", "b"}[i%2]
				if err := p.Reserve(owner); err != nil {
					left++
					note(err)
					continue
				}
				p.Inform(owner, &Message{Hook: Result}, note)
			}
		}
		inform(8)
		synctest.Wait()
		if f := p.Figures(); left != 3 || f.Asked != 2 || f.Crowded != 3 || f.InFlight != 2 || f.Waiting != 3 {
			t.Errorf("%d are left out: %+v", left, f)
		}
		time.Sleep(3 * time.Second)
		inform(6)
		synctest.Wait()
		if f := p.Figures(); left != 4 || f.Asked != f.Failed+2 || f.Asked+f.Crowded+3 != 14 || f.InFlight != 2 {
			t.Errorf("%d are left out: %+v", left, f)
		}
		reserved := p.Reserve("a")
		time.Sleep(time.Minute)
		if reserved == nil || p.Reserve("a") != nil {
			t.Errorf("there was a sixth place, or there is none at the end: %v", reserved)
		}
		began := time.Now()
		p.Close()
		if took := time.Since(began); took != 0 {
			t.Errorf("it closes in %v, although nobody is informed", took)
		}
		p.Inform("a", &Message{Hook: Result}, note)
		total := int64(0)
		failed.Range(func(_, n any) bool { total += n.(*atomic.Int64).Load(); return true })
		if total != 15 {
			t.Errorf("%d have failed", total)
		}
	})
}

// An account whose messages end by the thousand leaves places for those of others.
func TestInformShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(fake(hangs), Options{Name: "crm", Workers: 2, Queue: 8, Deadline: time.Second})
		defer p.Close()
		reserve := func(owner string, n int) (got int) {
			for range n {
				if p.Reserve(owner) == nil {
					p.Inform(owner, &Message{Hook: Result, Account: owner}, func(error) {})
					got++
				}
			}
			return got
		}
		if all, few, one := reserve("loud", 1000), reserve("quiet", 1), reserve("loud", 1); all != 8 || few != 1 || one != 0 {
			t.Errorf("of ten places %d, %d and then %d more", all, few, one)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := reserve("loud", 1000); n != 8 {
			t.Errorf("%d places later", n)
		}
	})
}

// Figures say what was decided, and how long that took.
func TestFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := "x"
		answers := []Verdict{
			{}, {Do: Pass}, {Do: Refuse}, {Do: Hold}, {Do: Delay, Until: time.Now()}, {Text: &text}, {Tags: []string{"a"}},
		}
		p := NewPool(fake(func(context.Context, *Message) (v Verdict, err error) {
			time.Sleep(time.Duration(len(answers)) * 10 * time.Millisecond)
			v, answers = answers[0], answers[1:]
			return v, nil
		}), bounds)
		for range len(answers) {
			p.Ask(&Message{})
		}
		f := p.Figures()
		if f.Asked != 7 || f.Refused != 1 || f.Held != 1 || f.Changed != 3 || f.Failed != 0 {
			t.Errorf("%+v", f)
		}
		near := func(d, want time.Duration) bool { return d > want*98/100 && d < want*102/100 }
		const ms = time.Millisecond
		if w := f.Work; !near(w.Min, 10*ms) || !near(w.Max, 70*ms) || !near(w.Mean, 40*ms) || !near(w.P50, 40*ms) {
			t.Errorf("%+v", w)
		}
		time.Sleep(2 * time.Minute)
		if w := p.Figures().Work; w != (Times{}) {
			t.Errorf("after two minutes: %+v", w)
		}
	})
}

// A verdict that cannot be carried out says why.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`: "", `{"do":"pass","tags":["a"]}`: "", `{"do":"refuse","status":"throttled","why":"x"}`: "", `{"do":"hold"}`: "",
		`{"do":"delay","until":"2026-01-01T00:00:00Z"}`: "", `{"to":"+46700000001","from":"","text":""}`: "",
		`{"do":"drop"}`: "must be pass", `{"do":"PASS"}`: "must be pass", `{"status":"rejected"}`: "without being refuse",
		`{"do":"refuse","status":"ok"}`: "must be one of", `{"do":"delay"}`: "must have until",
		`{"until":"2026-01-01T00:00:00Z"}`: "must have until", `{"to":""}`: "removes the recipient", `{"to":"+"}`: "removes the recipient",
		`{"to":"4\n6"}`: "must be at most 64", `{"from":"` + strings.Repeat("1", 65) + `"}`: "must be at most 64",
		`{"why":"` + strings.Repeat("å", 101) + `"}`: "must be at most 200", `{"text":"` + strings.Repeat("x", MaxText+1) + `"}`: "must be at most 16384",
		`{"tags":[` + strings.Repeat(`"a",`, MaxTags) + `"a"]}`: "17 tags",
		`{"network":"24001"}`: "", `{"network":"240"}`: "", `{"network":"2400"}`: `its network "2400" must be MCC and MNC`,
		`{"tags":["a","A"]}`: `its tag "A" must be`, `{"tags":[""]}`: `its tag "" must be`, `{"tags":["a b"]}`: `its tag "a b"`,
		`{"tags":["` + strings.Repeat("a", 65) + `"]}`: "at most 64", `{"tags":["` + strings.Repeat("a", 64) + `",".:-_0"]}`: "",
	} {
		var v Verdict
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := v.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %s", text, err, want)
		}
	}
}

// FuzzVerdict reads what a plugin may answer.
func FuzzVerdict(f *testing.F) {
	f.Add([]byte(`{"do":"delay","until":"2026-01-01T00:00:00Z","tags":["a"],"to":"+46"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v Verdict
		if json.Unmarshal(b, &v) != nil || v.Check() != nil {
			return
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var w Verdict
		if err := json.Unmarshal(again, &w); err != nil || w.Check() != nil || fmt.Sprint(w.Do, w.Tags) != fmt.Sprint(v.Do, v.Tags) {
			t.Errorf("%s becomes %s: %v", b, again, err)
		}
	})
}

// BenchmarkPool measures what a pool adds to a plugin that does not wait.
func BenchmarkPool(b *testing.B) {
	p := NewPool(quick{}, bounds)
	var m Message
	b.ReportAllocs()
	for b.Loop() {
		p.Try(&m)
	}
}
