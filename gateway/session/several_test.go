package session_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/peerid"
	"pmg/store"
)

// The numbers of conversations that tests have.
var crowds = []int{2, 4}

// Sessions of several conversations submit at the same time, wait for room in one queue, are kicked, and lose their account's
// options by reloads. The messages of a session stay in order, each answer has an id of its own, and nothing is left.
func TestSeveralSubmits(t *testing.T) {
	t.Parallel()
	const messages, sessions = 60, 3
	for _, n := range crowds {
		for _, disk := range []bool{false, true} {
			w := newCrowd(t, n, disk, "max_queue: 20, queue_wait: 10m")
			var wg sync.WaitGroup
			for i, p := range w.groups {
				for j := range sessions {
					name := []string{"client", "other"}[j%2]
					l, code := p.login(name, "192.0.2.1:1")
					if code != sms.OK {
						t.Fatal(code)
					}
					wg.Go(func() {
						for k := range messages {
							r := p.submit(l, func(r *call) { r.Content = fmt.Appendf(nil, "%d/%d %d", i, j, k) })
							if k%5 == 4 {
								<-r.over
							}
						}
					})
				}
			}
			wg.Go(func() {
				for k := range 20 {
					w.configure(func(a *config.Account) { a.MaxScheduled = k })
				}
			})
			kicked, _ := w.groups[0].login("client", "192.0.2.2:1")
			w.Logout(func(l *connector.Link) bool { return l == kicked })
			wg.Wait()
			w.settle()
			w.wantInOrder(n*sessions, messages)
			if kicked.LeavingAt == 0 {
				t.Error("the session was not logged out")
			}
		}
	}
}

// wantInOrder checks that the dispatcher has got all messages, those of each session in order.
func (w *crowd) wantInOrder(sessions, messages int) {
	w.t.Helper()
	last, ids := map[string]int{}, map[uint64]bool{}
	for _, m := range w.taken() {
		name, number, _ := strings.Cut(m.text, " ")
		if number != fmt.Sprint(last[name]) || ids[m.id] {
			w.t.Errorf("session %s: %q behind %d, id %d", name, m.text, last[name], m.id)
		}
		last[name]++
		ids[m.id] = true
	}
	if len(last) != sessions || len(ids) != sessions*messages {
		w.t.Errorf("%d messages of %d sessions", len(ids), len(last))
	}
}

// The parts of a long message that come by sessions of different conversations are joined, once.
func TestSeveralJoin(t *testing.T) {
	t.Parallel()
	for _, n := range crowds {
		w := newCrowd(t, n, true, "long_messages: join")
		const messages = 100
		var wg sync.WaitGroup
		for i, p := range w.groups {
			l, _ := p.login("client", "192.0.2.1:1")
			wg.Go(func() {
				var last *call
				for k := range messages {
					last = p.submit(l, func(r *call) {
						r.Header, r.Content = true, append([]byte{5, 0, 3, byte(k), byte(n), byte(i + 1)}, fmt.Sprintf("<%d.%d>", k, i)...)
					})
				}
				<-last.over
			})
		}
		wg.Wait()
		want := map[string]int{}
		for k := range messages {
			var text string
			for i := range n {
				text += fmt.Sprintf("<%d.%d>", k, i)
			}
			want[text] = 1
		}
		w.settle()
		for len(w.taken()) < messages {
			w.settle()
		}
		for _, m := range w.taken() {
			want[m.text]--
		}
		for text, missing := range want {
			if missing != 0 {
				t.Errorf("%d conversations: %q is missing %d times", n, text, missing)
			}
		}
	}
}

// knows records that the SMSC has accepted message id under an id of its own; without recent, the store alone has it.
func (w *crowd) knows(id uint64, recent bool) {
	v := store.Mapping{
		ID: id, Notify: sms.NotifySuccess | sms.NotifyFailure | sms.NotifyProgress, Account: []byte("client"),
		Connector: []byte("clients"), Source: sms.Address{Addr: []byte("1234")}, Dest: sms.Address{Addr: []byte("46700000001")},
	}
	o, name := w.g.Receipts.Of(w.operator.Config()), fmt.Appendf(nil, "m%d", id)
	w.g.Keeper.Batches.Write(func(b *store.Batch) {
		if recent {
			w.g.Receipts.RecordMapping(b, o, &v, name, now, false)
			return
		}
		key, _ := peerid.AppendKey(nil, name, peerid.Same)
		b.Note(store.IDsOf("operator"), key, v.Append(nil), store.DayOf(now))
	})
}

// The receipts of a message reach its client in the order in which they came, whichever conversations their sessions belong to:
// among the latest, looked up in the store, and with those whose message is not known yet. In the lane they have that order, too.
func TestSeveralReceipts(t *testing.T) {
	t.Parallel()
	for _, n := range crowds {
		for _, disk := range []bool{false, true} {
			testSeveralReceipts(t, n, disk)
		}
	}
}

func testSeveralReceipts(t *testing.T, n int, disk bool) {
	const feeders, messages = 4, 40
	w := newCrowd(t, n, disk, "")
	states := []sms.State{sms.StateScheduled, sms.StateEnroute, sms.StateAccepted, sms.StateDelivered}
	links := make([][2]*connector.Link, n)
	for i, p := range w.groups {
		links[i] = [2]*connector.Link{p.smsc(), p.smsc()}
	}
	for f := range feeders {
		for k := range messages {
			w.knows(uint64(1000*(f+1)+k), k%2 == 0)
		}
	}
	if err := w.g.Keeper.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for f := range feeders {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(f), uint64(n)))
			for k := range messages {
				var calls []*call
				for _, s := range states {
					i := rng.IntN(n)
					p, l, r := w.groups[i], links[i][rng.IntN(2)], newCall(protocols.None)
					calls = append(calls, r)
					m := w.g.Node.Messages.Get()
					m.Origin = w.g.Node.Origins.Of("", "operator")
					m.SetReport(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")},
						&sms.Report{ID: fmt.Appendf(nil, "m%d", 1000*(f+1)+k), State: s})
					came := make(chan struct{})
					p.post(func(now int64) {
						p.c.Receipt(now, l, r, m)
						close(came)
					})
					<-came // the next one comes behind it, whatever has become of it
				}
				if k%4 == 3 {
					<-calls[len(calls)-1].over
				}
			}
		})
	}
	wg.Wait()
	w.settle()
	byMessage := map[uint64][]dispatched{}
	for _, m := range w.taken() {
		byMessage[m.known] = append(byMessage[m.known], m)
	}
	for id, all := range byMessage {
		var got []sms.State
		for _, m := range all {
			got = append(got, m.state)
		}
		if !slices.Equal(got, states) {
			t.Errorf("%d conversations, disk %t: message %d has %v", n, disk, id, got)
		}
		if !slices.IsSortedFunc(all, func(a, b dispatched) int { return cmp.Or(cmp.Compare(a.arrived, b.arrived), cmp.Compare(a.id, b.id)) }) {
			t.Errorf("%d conversations, disk %t: in the lane message %d has another order: %v", n, disk, id, all)
		}
	}
	if len(byMessage) != feeders*messages {
		t.Errorf("%d messages have receipts", len(byMessage))
	}
}

// decided returns how many logins since a time were decided.
func (w *crowd) decided(since int64) (all int) {
	for _, p := range w.groups {
		w.on(p, func(int64) {
			for _, l := range p.links {
				if l.Opened >= since && l.Phase >= connector.Bound {
					all++
				}
			}
		})
	}
	return all
}

// Logins of several conversations at the same time keep the limit of an account's sessions: each one beyond it replaces another
// session, or is refused.
func TestSeveralLogins(t *testing.T) {
	t.Parallel()
	const limit = 3
	for _, n := range crowds {
		w := newCrowd(t, n, false, "")
		w.configure(func(a *config.Account) { a.Sessions.Most, a.Sessions.Full = limit, config.Replace })
		for round := range 10 {
			began := w.g.Node.Clock.Now()
			var mu sync.Mutex
			codes := map[sms.Code]int{}
			var wg sync.WaitGroup
			for _, p := range w.groups {
				for range 2 {
					wg.Go(func() {
						l, code := p.login("client", "192.0.2.1:1")
						mu.Lock()
						defer mu.Unlock()
						if codes[code]++; code != sms.OK {
							p.post(func(now int64) { p.c.Over(now, l) })
						}
					})
				}
			}
			for w.decided(began) < 2*n {
				time.Sleep(time.Millisecond)
			}
			w.ahead.Add(2 * second) // refusals are late
			for _, p := range w.groups {
				p.post(func(now int64) { p.TickAt(now) })
			}
			wg.Wait()
			w.settle()
			if codes[sms.OK] != limit || codes[sms.OK]+codes[sms.BindFailed] != 2*n {
				t.Errorf("%d conversations, round %d: %v", n, round, codes)
			}
			in := 0
			for _, p := range w.groups {
				w.on(p, func(now int64) {
					for _, l := range slices.Clone(p.links) {
						switch {
						case l.Phase > connector.Bound:
							l.Instance.SetLink(nil)
							p.c.Over(now, l)
						case l.Phase == connector.Bound:
							in++
						}
					}
					p.links = slices.DeleteFunc(p.links, func(l *connector.Link) bool { return l.Phase == connector.Over })
				})
			}
			if in != limit {
				t.Errorf("%d conversations, round %d: %d sessions are logged in", n, round, in)
			}
			w.ahead.Add(11 * second)
		}
	}
}
