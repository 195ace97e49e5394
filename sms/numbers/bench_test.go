package numbers

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"pmg/sms"
	"pmg/sms/number"
)

// tenMillion writes a file of 10,000,000 different numbers of 12 digits in random order.
func tenMillion(b *testing.B, suffix string) (path string, some [][]byte) {
	b.Helper()
	path = b.TempDir() + "/list.txt"
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	line := make([]byte, 0, 32)
	for i := range uint64(MaxEntries) {
		n := 461_000_000_000 + i*9_999_991%MaxEntries*9_876 + i%7 // a permutation, with gaps
		line = strconv.AppendUint(line[:0], n, 10)
		if i%1000 == 0 {
			some = append(some, slices.Clone(line))
		}
		_, _ = w.Write(append(append(line, suffix...), '\n'))
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	rand.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	return path, some
}

// Lists of 10,000,000 entries: the start, the memory that stays and the most that the start takes, a look-up, and the
// longest that a look-up takes while the file is read again.
//
//	go test ./sms/numbers -run '^$' -bench TenMillion -benchtime 5000000x
func BenchmarkTenMillion(b *testing.B) {
	for _, c := range []struct{ name, suffix string }{{"numbers", ""}, {"prefixes", "*"}} {
		b.Run(c.name, func(b *testing.B) {
			path, some := tenMillion(b, c.suffix)
			runtime.GC()
			before, stop := inUse(), make(chan struct{})
			most := peak(stop)
			began := time.Now()
			l, err := Open(path, false)
			if err != nil {
				b.Fatal(err)
			}
			start := time.Since(began)
			close(stop)
			runtime.GC()
			runtime.GC()
			stays := inUse() - before
			b.ResetTimer()
			for i := range b.N {
				if !l.Has(number.Of(sms.Address{Addr: some[i%len(some)]})) {
					b.Fatal("missing")
				}
			}
			b.StopTimer()
			usual := idle(l, some)
			median, p9999, longest := reloading(b, l, path, some)
			b.ReportMetric(start.Seconds(), "start-s")
			b.ReportMetric(float64(stays)/1e6, "MB")
			b.ReportMetric(float64(most()-before)/1e6, "peak-MB")
			b.ReportMetric(median, "reload-p50-ns")
			b.ReportMetric(p9999, "reload-p99.99-ns")
			b.ReportMetric(longest/1e6, "reload-max-ms")
			b.ReportMetric(usual/1e6, "idle-max-ms")
			runtime.KeepAlive(l)
		})
	}
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// peak measures the heap until stop. The function that it returns returns the most.
func peak(stop chan struct{}) func() uint64 {
	var most atomic.Uint64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			most.Store(max(most.Load(), inUse()))
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { <-done; return most.Load() }
}

// reloading looks numbers up while the list is read again, one in 20 µs or more, and returns how long that took in nanoseconds.
func reloading(b *testing.B, l *List, path string, some [][]byte) (median, p9999, longest float64) {
	b.Helper()
	now := time.Now()
	if err := os.Chtimes(path, now, now.Add(-time.Hour)); err != nil {
		b.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, _ = l.Refresh(now)
		reloaded, err := l.Refresh(now.Add(2 * time.Second))
		if err == nil && !reloaded {
			err = fmt.Errorf("%s was not read again", path)
		}
		done <- err
	}()
	var took []time.Duration
	for i := 0; ; i++ {
		select {
		case err := <-done:
			if err != nil {
				b.Fatal(err)
			}
			slices.Sort(took)
			at := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))]) }
			return at(0.5), at(0.9999), at(1)
		default:
		}
		took = append(took, lookUp(l, some[i%len(some)]))
	}
}

// idle returns the longest that a look-up takes in two seconds without a reload, in nanoseconds: what the machine adds.
func idle(l *List, some [][]byte) float64 {
	longest, began := time.Duration(0), time.Now()
	for i := 0; time.Since(began) < 2*time.Second; i++ {
		longest = max(longest, lookUp(l, some[i%len(some)]))
	}
	return float64(longest)
}

// lookUp looks a number up, and returns how long that took. It sleeps afterwards, as those do that wait for messages.
func lookUp(l *List, digits []byte) time.Duration {
	began := time.Now()
	if !l.Has(number.Of(sms.Address{Addr: digits})) {
		panic("a number is missing")
	}
	took := time.Since(began)
	time.Sleep(20 * time.Microsecond)
	return took
}
