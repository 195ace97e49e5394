package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
	"pmg/store/journal"
	"pmg/store/journal/journaltest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	server, n := natstest.New(t, "n1", "always", "").Start(), 0
	again := func(t *testing.T) journal.Journal { return opened(t, alone(fmt.Sprintf("J%d", n), server)) }
	journaltest.Test(t, journaltest.Implementation{
		Open:   func(t *testing.T) journal.Journal { n++; return again(t) },
		Reopen: again,
	})
}

// append appends records with the numbers from first to last, and returns their places.
func appendAll(t *testing.T, j *Journal, first, last uint64) (all []journal.Seq) {
	t.Helper()
	for n := first; n <= last; n++ {
		seq, err := j.Append(journal.ID{Node: 1, Run: 1, Number: n}, fmt.Append(nil, "record ", n))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, seq)
	}
	return all
}

// numbers returns what Follow gives.
func numbers(j *Journal, after journal.Seq) (all []uint64, err error) {
	err = j.Follow(after, func(_ journal.Seq, id journal.ID, record []byte) error {
		if string(record) != fmt.Sprint("record ", id.Number) {
			return fmt.Errorf("record %d is %q", id.Number, record)
		}
		all = append(all, id.Number)
		return nil
	})
	return all, err
}

// damage tests what Follow does with a stream of ten records that something was done to.
func damage(t *testing.T, server *natstest.Server, name string, harm func(context.Context, jetstream.Stream) error, want uint64) {
	t.Run(name, func(t *testing.T) {
		ctx, js := context.Background(), admin(t, server)
		stream, err := js.CreateStream(ctx, jetstream.StreamConfig{ // without DenyDelete
			Name: name, Subjects: []string{name}, Discard: jetstream.DiscardNew, AllowAtomicPublish: true, Replicas: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		j := opened(t, alone(name, server))
		appendAll(t, j, 1, 10)
		if err := harm(ctx, stream); err != nil {
			t.Fatal(err)
		}
		got, err := numbers(j, 0)
		var d *Damage
		if !errors.As(err, &d) || d.First != journal.Seq(want) || d.Stream != name || len(got) != int(want)-1 {
			t.Fatalf("%d records, %v; want those before %d", len(got), err, want)
		}
		if _, err := j.Append(journal.ID{Number: 99}, nil); !errors.As(err, &d) {
			t.Errorf("something is appended behind damage: %v", err)
		}
		if fault := j.Status().Fault; !errors.As(fault, &d) {
			t.Errorf("the status does not say so: %v", fault)
		}
		if _, err := numbers(j, journal.Seq(want)); want == 5 && err != nil {
			t.Errorf("what is behind the damage cannot be read: %v", err)
		}
	})
}

func TestDamage(t *testing.T) {
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	remove := func(seq uint64) func(context.Context, jetstream.Stream) error {
		return func(ctx context.Context, s jetstream.Stream) error { return s.DeleteMsg(ctx, seq) }
	}
	damage(t, server, "middle", remove(5), 5)
	damage(t, server, "end", remove(10), 10)
}

// What others publish on the stream's subject is nobody's record: text, records under another secret, copies of records and of
// parts. Records before and behind it are read, also from any place on and by a node whose secret changes.
func TestForeign(t *testing.T) {
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	ctx, js := context.Background(), admin(t, server)
	j := opened(t, alone("J", server))
	appendAll(t, j, 1, 3) // places 1 to 3
	strange := alone("J", server)
	strange.Secrets = []string{"another"}
	stranger := framer{sealer: sealerOf(t, "another")}
	own := framer{sealer: j.sealer}
	copied, err := j.message(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{ // places 4 to 9
		nil, []byte("junk"), stranger.append(nil, &frame{parts: 1, octets: []byte("a record")}), copied,
		own.append(nil, &frame{part: 1, parts: 2, id: journal.ID{Number: 2}}), copied[:len(copied)-1],
	} {
		if _, err := js.Publish(ctx, "J", b); err != nil {
			t.Fatal(err)
		}
	}
	next := alone("J", server)
	next.Secrets = []string{"new", "common"}
	after := opened(t, next)
	appendAll(t, after, 10, 11)
	next.Secrets = []string{"common", "new"}
	all := opened(t, next)
	const whole = "1 2 3 - - - 2 - - 10 11"
	for place := range 11 {
		got := ""
		if err := all.Follow(journal.Seq(place), func(at journal.Seq, id journal.ID, record []byte) error {
			if id == (journal.ID{}) {
				got += " -"
				return nil
			}
			got += fmt.Sprint(" ", id.Number)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(whole)[place:]
		if got := strings.Fields(got); !slices.Equal(got, want) {
			t.Errorf("after %d: %v, want %v", place, got, want)
		}
	}
	if err := all.Trim(8); err != nil || all.Status().First != 9 {
		t.Errorf("trimmed up to %d, %v", all.Status().First, err)
	}
}

// What others have trimmed is no damage.
func TestTrimmed(t *testing.T) {
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	j, other := opened(t, alone("J", server)), opened(t, alone("J", server))
	appendAll(t, j, 1, 10)
	n := 0
	err := j.Follow(0, func(seq journal.Seq, _ journal.ID, _ []byte) error {
		if n++; n == 1 {
			return other.Trim(7)
		}
		return nil
	})
	if err != nil && !errors.Is(err, journal.ErrTrimmed) {
		t.Errorf("%v", err)
	}
	if _, err := numbers(j, 6); !errors.Is(err, journal.ErrTrimmed) {
		t.Errorf("%v", err)
	}
	if got, err := numbers(j, 7); len(got) != 3 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, upTo := range []journal.Seq{3, 1 << 60} { // before the first, and far behind the last
		if err := j.Trim(upTo); err != nil {
			t.Error(err)
		}
	}
	if s := j.Status(); s.First != 0 || s.Last != 10 {
		t.Errorf("%+v", s)
	}
	if seq, err := j.Append(journal.ID{}, nil); seq != 11 || err != nil {
		t.Errorf("%d, %v", seq, err)
	}
}

// A stream that was made anew has lost all, and a new record shows it.
func TestLost(t *testing.T) {
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	j := opened(t, alone("J", server))
	appendAll(t, j, 1, 10)
	if err := admin(t, server).DeleteStream(context.Background(), "J"); err != nil {
		t.Fatal(err)
	}
	opened(t, alone("J", server))
	var d *Damage
	if _, err := j.Append(journal.ID{Number: 11}, nil); !errors.As(err, &d) || d.First != 1 {
		t.Errorf("%v", err)
	}
}

// A reader that has read more than there is now waits for the rest, which may be with another server, and then says that it is lost.
func TestLostEnd(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	j := opened(t, alone("J", natstest.New(t, "n1", "always", "").Start()))
	appendAll(t, j, 1, 3)
	follow := map[string]func(journal.Seq, func(journal.Seq, journal.ID, []byte) error) error{
		"Follow": j.Follow,
		"FollowOn": func(after journal.Seq, f func(journal.Seq, journal.ID, []byte) error) error {
			return j.FollowOn(context.Background(), after, f)
		},
	}
	for name, follow := range follow {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d *Damage
			if err := follow(10, nil); !errors.As(err, &d) || d.First != 4 {
				t.Errorf("%v", err)
			}
		})
	}
}

// A new leader of the stream may not have all yet that a reader has read from the one before. Nothing is read twice then.
func TestBehind(t *testing.T) {
	t.Parallel()
	j := opened(t, alone("J", natstest.New(t, "n1", "always", "").Start()))
	appendAll(t, j, 1, 3)
	got, done := make(chan uint64, 10), make(chan error)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		done <- j.FollowOn(ctx, 5, func(_ journal.Seq, id journal.ID, _ []byte) error {
			got <- id.Number
			return nil
		})
	}()
	eventually(t, "it reads", func() bool {
		s, err := j.state(j.waits.ask)
		return err == nil && s.Consumers > 0
	})
	appendAll(t, j, 4, 7)
	for want := uint64(6); want <= 7; want++ {
		if n := <-got; n != want {
			t.Errorf("record %d comes, not %d", n, want)
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A record of the largest size is in the stream as a whole. It is neither trimmed nor read in part.
func TestLarge(t *testing.T) {
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	j := opened(t, alone("J", server))
	large := make([]byte, journal.MaxRecord)
	for i := range large {
		large[i] = byte(i >> 10)
	}
	first := appendAll(t, j, 1, 1)[0]
	second, err := j.Append(journal.ID{Number: 2}, large)
	if err != nil || second < first+32 {
		t.Fatalf("place %d, %v", second, err)
	}
	third := appendAll(t, j, 3, 3)[0]
	for _, after := range []journal.Seq{first, first + 1, second - 1} {
		if err := j.Trim(after); err != nil {
			t.Fatal(err)
		}
		var got []journal.Seq
		err := j.Follow(after, func(seq journal.Seq, id journal.ID, record []byte) error {
			if got = append(got, seq); id.Number == 2 && string(record) != string(large) {
				return errors.New("it is not as it was appended")
			}
			return nil
		})
		if err != nil || len(got) != 2 || got[0] != second || got[1] != third {
			t.Errorf("behind %d: %v, %v", after, got, err)
		}
	}
	if err := j.Trim(second); err != nil {
		t.Fatal(err)
	}
	if s := j.Status(); s.First != third {
		t.Errorf("%+v", s)
	}
}

// While the server stands still, a record is neither acknowledged nor refused. Afterwards it is there, maybe twice, and in order.
func TestUnknown(t *testing.T) {
	t.Parallel()
	for name, octets := range map[string]int{"small": 10, "large": 3 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := natstest.New(t, "n1", "always", "").Start()
			j := opened(t, hasty("J", server))
			record := make([]byte, octets)
			if _, err := j.Append(journal.ID{Number: 1}, record); err != nil {
				t.Fatal(err)
			}
			server.Signal(syscall.SIGSTOP) // which may take a while
			done, going, last := make(chan error), atomic.Bool{}, uint64(1)
			going.Store(true)
			go func() {
				var err error
				for going.Load() && err == nil {
					last++
					_, err = j.Append(journal.ID{Number: last}, record)
				}
				done <- err
			}()
			eventually(t, "an attempt is late", func() bool { return j.Delay() != nil })
			going.Store(false)
			server.Signal(syscall.SIGCONT)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if err := j.Delay(); err != nil {
				t.Errorf("it still waits: %v", err)
			}
			if _, err := j.Append(journal.ID{Number: last + 1}, record); err != nil {
				t.Fatal(err)
			}
			var above uint64
			err := j.Follow(0, func(_ journal.Seq, id journal.ID, value []byte) error {
				if len(value) != octets || id.Number > above+1 {
					return fmt.Errorf("record %d has %d octets, and comes behind %d", id.Number, len(value), above)
				}
				above = max(above, id.Number)
				return nil
			})
			if err != nil || above != last+1 {
				t.Errorf("%d of %d records, %v", above, last+1, err)
			}
		})
	}
}

func TestAway(t *testing.T) {
	t.Parallel()
	server := natstest.New(t, "n1", "always", "")
	ctx, cancel := context.WithTimeout(context.Background(), 3*restWait)
	defer cancel()
	if j, err := Open(ctx, hasty("J", server)); err == nil || errors.Is(err, ErrRefused) {
		t.Fatalf("%v, %v", j, err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	begun := make(chan *Journal)
	go func() {
		j, err := Open(ctx, hasty("J", server))
		if err != nil {
			t.Error(err)
		}
		begun <- j
	}()
	time.Sleep(restWait) // most likely it has begun; both orders are right
	server.Start()
	j := <-begun
	if j == nil {
		return
	}
	appendAll(t, j, 1, 3)
	server.Kill()
	waiting, done := make(chan error), make(chan error)
	go func() {
		_, err := j.Append(journal.ID{Number: 4}, nil)
		waiting <- err
	}()
	eventually(t, "an attempt fails", func() bool { return j.Delay() != nil })
	go func() {
		_, err := j.Append(journal.ID{Number: 5}, nil)
		done <- err
	}()
	if s := j.Status(); s.Last != 3 || s.Fault != nil {
		t.Errorf("%+v", s)
	}
	if err := j.Trim(1); err == nil {
		t.Error("trimmed without a server")
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range []chan error{waiting, done} {
		if err := <-c; !errors.Is(err, journal.ErrClosed) {
			t.Errorf("%v", err)
		}
	}
}

func TestFull(t *testing.T) {
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	o := alone("J", server)
	o.MaxOctets = 100 << 10
	j := opened(t, o)
	var last journal.Seq
	for n := uint64(1); ; n++ {
		seq, err := j.Append(journal.ID{Number: n}, make([]byte, 10<<10))
		if errors.Is(err, journal.ErrFull) {
			break
		}
		if last = seq; err != nil || n > 10 {
			t.Fatalf("record %d: %v", n, err)
		}
	}
	if seq, err := j.Append(journal.ID{Number: 19}, make([]byte, 3<<20)); !errors.Is(err, journal.ErrFull) {
		t.Errorf("a large record: %d, %v", seq, err)
	}
	if err := j.Trim(last); err != nil {
		t.Fatal(err)
	}
	if seq, err := j.Append(journal.ID{Number: 20}, nil); seq != last+1 || err != nil {
		t.Errorf("%d behind %d, %v", seq, last, err)
	}
}

// What goes on follows what is appended, also while the server is away.
func TestFollowOn(t *testing.T) {
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	j := opened(t, hasty("J", server))
	appendAll(t, j, 1, 5)
	ctx, cancel := context.WithCancel(context.Background())
	got, done := make(chan uint64), make(chan error)
	go func() {
		last := uint64(0)
		done <- j.FollowOn(ctx, 2, func(_ journal.Seq, id journal.ID, _ []byte) error {
			if id.Number != last { // otherwise its acknowledgement was late, and it is there twice
				last = id.Number
				got <- last
			}
			return nil
		})
	}()
	for n := uint64(3); n <= 8; n++ {
		switch n {
		case 6:
			appendAll(t, j, 6, 7)
		case 8:
			server.Kill()
			server.Start()
			appendAll(t, j, 8, 8)
		}
		if one := <-got; one != n {
			t.Fatalf("record %d comes, not %d", one, n)
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	go func() { done <- j.FollowOn(context.Background(), 8, nil) }()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, journal.ErrClosed) {
		t.Errorf("%v", err)
	}
}
