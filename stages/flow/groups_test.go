package flow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// groupsOf starts a table of three rows, of which the second is shared, in groups.
func groupsOf(t *testing.T, groups int, first, shared, last work) *line {
	t.Helper()
	names := []string{"first", "shared", "last"}
	works := []work{first, shared, last}
	var table []Spec[any, job]
	for i, w := range works {
		table = append(table, Spec[any, job]{
			Name: names[i], To: names, Shared: i == 1, New: func(any) (Stage[job], error) { return w, nil },
		})
	}
	pool := newPool()
	p, err := Start(table, nil, pool, Options[job]{Groups: groups})
	if err != nil {
		t.Fatal(err)
	}
	return &line{p, t, pool, p.NewInlet()}
}

// Each group has its own rows beside the shared one. Jobs go to rows of their own group, to the shared row, and to rows of
// groups that are named.
func TestGroups(t *testing.T) {
	for groups := 1; groups <= 4; groups++ {
		var mu sync.Mutex
		var seen []string
		l := groupsOf(t, groups,
			func(out *Out[job], j *job) {
				j.from = out.Group()
				out.To(1, j)
			},
			func(out *Out[job], j *job) {
				if out.Group() != 0 {
					t.Errorf("the shared row is of group %d", out.Group())
				}
				out.ToGroup(j.n, 2, j)
			},
			func(out *Out[job], j *job) {
				mu.Lock()
				seen = append(seen, fmt.Sprint(j.from, " ", out.Group()))
				mu.Unlock()
				out.Release(j)
			})
		var want []string
		for from := range groups {
			for to := range groups {
				j := l.inlet.Get()
				j.n = to
				l.inlet.SendTo(from, 0, j)
				want = append(want, fmt.Sprint(from, " ", to))
			}
		}
		l.close(0)
		slices.Sort(seen)
		if !slices.Equal(seen, want) {
			t.Errorf("%d groups: jobs went %q, want %q", groups, seen, want)
		}
		names := []string{"first", "shared", "last"}
		if groups > 1 {
			names = nil
			for _, name := range []string{"first", "shared", "last"} {
				for g := range groups {
					switch {
					case name != "shared":
						names = append(names, fmt.Sprintf("%s/%d", name, g+1))
					case g == 0:
						names = append(names, name)
					}
				}
			}
		}
		var got []string
		for _, s := range l.Stats() {
			got = append(got, s.Name)
		}
		if !slices.Equal(got, names) {
			t.Errorf("%d groups: rows %q, want %q", groups, got, names)
		}
	}
}

// A group does not wait while a shared row works, although the job there came from the group's goroutine.
func TestGroupsWait(t *testing.T) {
	release, held, finished := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var done atomic.Int32
	l := groupsOf(t, 2,
		func(out *Out[job], j *job) { out.To(j.n, j) },
		func(out *Out[job], j *job) {
			close(held)
			<-release
			out.Release(j)
		},
		func(out *Out[job], j *job) {
			out.Release(j)
			if done.Add(1) == 2 {
				close(finished)
			}
		})
	l.inject(0, 1)
	<-held // a goroutine stands in the shared row
	for g := range 2 {
		j := l.inlet.Get()
		j.n = 2
		l.inlet.SendTo(g, 0, j)
	}
	select {
	case <-finished:
	case <-time.After(10 * time.Second):
		t.Error("a group waits for the shared row")
	}
	close(release)
	l.close(0)
}

// Rows get what a stage sends them in the order of the table, shared ones too: a login is answered before its session is given
// a message.
func TestGroupsOrder(t *testing.T) {
	stage := work(drop)
	var table []Spec[any, job]
	for i, name := range []string{"a", "b", "c"} {
		table = append(table, Spec[any, job]{
			Name: name, To: []string{"a", "b"}, Shared: i == 1, New: func(any) (Stage[job], error) { return stage, nil },
		})
	}
	p, err := build(table, nil, newPool(), Options[job]{Groups: 2}) // no goroutine works on it
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := p.groups[1][0], p.groups[1][1], p.groups[1][2]
	c.out.To(1, c.out.Get())
	c.out.To(0, c.out.Get())
	b.inbox.mu.Lock() // delivery stops at the shared row
	delivered := make(chan struct{})
	go func() {
		p.deliver(c)
		close(delivered)
	}()
	late := time.Now().Add(10 * time.Second)
	for n := 0; n == 0 && time.Now().Before(late); _, n = a.inbox.stats() {
		time.Sleep(time.Millisecond)
	}
	if _, n := a.inbox.stats(); n != 1 {
		t.Error("the row of the group has nothing before the shared row")
	}
	b.inbox.mu.Unlock()
	<-delivered
	_ = p.workOnRest()
	if err := p.closeStages(); err != nil {
		t.Error(err)
	}
}

// With several groups, in a table in which every stage hands jobs to all others of its group and of other groups, waits, ticks
// and panics, no job is lost or left, and no two goroutines work on one row.
func TestGroupsStress(t *testing.T) {
	const groups, producers, each = 3, 3, 2000
	var done, lost atomic.Int64
	var doors [3][groups]turnstile
	at := func(i int) work {
		return func(out *Out[job], j *job) {
			door := &doors[i][out.Group()]
			door.enter(t)
			defer door.leave()
			to, group := rand.IntN(3), rand.IntN(groups)
			switch j.hops++; {
			case j.hops > 8:
				done.Add(1)
				out.Release(j)
			case rand.IntN(100) == 0:
				out.Go(1, j, func() {
					if rand.IntN(4) == 0 {
						panic("stress")
					}
				})
			case rand.IntN(200) == 0:
				if rand.IntN(2) == 0 {
					out.ToGroup(group, to, j)
				}
				panic("stress")
			case i != 1 && rand.IntN(2) == 0:
				out.To(to, j)
			default:
				out.TickIn(time.Duration(rand.IntN(1000)) * time.Microsecond)
				out.ToGroup(group, to, j)
			}
		}
	}
	names := []string{"a", "b", "c"}
	var table []Spec[any, job]
	for i, name := range names {
		table = append(table, Spec[any, job]{
			Name: name, To: names, Shared: i == 1,
			New: func(any) (Stage[job], error) {
				return &ticking{at(i), func(*Out[job]) time.Duration { return time.Millisecond }}, nil
			},
		})
	}
	pool := newPool()
	p, err := Start(table, nil, pool, Options[job]{
		Groups: groups, Inline: 5,
		OnPanic: func(out *Out[job], _ string, j *job, _ any, _ []byte) {
			if j != nil {
				lost.Add(1)
				out.Release(j)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l := &line{p, t, pool, p.NewInlet()}
	var wg sync.WaitGroup
	for range producers {
		wg.Go(func() {
			in := l.NewInlet()
			defer in.Close()
			for n := range each {
				in.SendTo(n%groups, n%3, in.Get())
			}
		})
	}
	wg.Wait()
	l.close(0)
	if done.Load()+lost.Load() != producers*each {
		t.Errorf("%d done and %d lost of %d jobs", done.Load(), lost.Load(), producers*each)
	}
}
