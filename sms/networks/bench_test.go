package networks

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

// tenMillion writes a file of 10,000,000 rows in random order, as row says: prefixes of several lengths in each other, or ranges
// with gaps.
func tenMillion(b *testing.B, head string, row func(line []byte, i uint64) (longer, number []byte)) (path string, some [][]byte) {
	b.Helper()
	path = b.TempDir() + "/networks.csv"
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	_, _ = w.WriteString(head)
	line := make([]byte, 0, 64)
	for i := range uint64(MaxRows) {
		at := i * 9_999_991 % MaxRows
		longer, number := row(line[:0], at)
		longer = append(longer, ',')
		longer = append(strconv.AppendUint(longer, 20000+at*7919%800*100+at%60, 10), '\n')
		_, _ = w.Write(longer)
		if i%1000 == 0 {
			some = append(some, slices.Clone(number))
		}
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

// prefixes are numbers of 8 digits, of each 100 of which one row is one of 6 digits that has them.
func prefixes(line []byte, i uint64) (row, number []byte) {
	n := uint64(46_000_000) + i
	if i%100 == 99 {
		row = strconv.AppendUint(line, n/100, 10)
	} else {
		row = strconv.AppendUint(line, n, 10)
	}
	return row, strconv.AppendUint(nil, n*10_000+i%10_000, 10)
}

// ranges are of 1,000 numbers, with a gap behind each.
func ranges(line []byte, i uint64) (row, number []byte) {
	n := uint64(46_000_000_000) + i*2_000
	row = strconv.AppendUint(line, n, 10)
	row = append(row, ',')
	return strconv.AppendUint(row, n+999, 10), strconv.AppendUint(nil, n+i%1000, 10)
}

// Tables of 10,000,000 rows: the start, the memory that stays and the most that the start takes, a look-up, and the longest that a
// look-up takes while the file is read again.
//
//	go test ./sms/networks -run '^$' -bench TenMillion -benchtime 5000000x
func BenchmarkTenMillion(b *testing.B) {
	for _, c := range []struct {
		name, head string
		row        func([]byte, uint64) (row, number []byte)
	}{{"prefixes", "prefix,network\n", prefixes}, {"ranges", "from,to,network\n", ranges}} {
		b.Run(c.name, func(b *testing.B) {
			path, some := tenMillion(b, c.head, c.row)
			runtime.GC()
			before, stop := inUse(), make(chan struct{})
			most := peak(stop)
			began := time.Now()
			f, err := Open(path, Options{})
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
				if f.Table().Of(number.Of(sms.Address{Addr: some[i%len(some)]})) == 0 {
					b.Fatal("a number has no network")
				}
			}
			b.StopTimer()
			usual := idle(f, some)
			median, p9999, longest := reloading(b, f, some)
			b.ReportMetric(start.Seconds(), "start-s")
			b.ReportMetric(float64(stays)/1e6, "MB")
			b.ReportMetric(float64(most()-before)/1e6, "peak-MB")
			b.ReportMetric(median, "reload-p50-ns")
			b.ReportMetric(p9999, "reload-p99.99-ns")
			b.ReportMetric(longest/1e6, "reload-max-ms")
			b.ReportMetric(usual/1e6, "idle-max-ms")
			runtime.KeepAlive(f)
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

// reloading looks numbers up while the table is read again, one in 20 µs or more, and returns how long that took in nanoseconds.
func reloading(b *testing.B, f *File, some [][]byte) (median, p9999, longest float64) {
	b.Helper()
	now := time.Now()
	if err := os.Chtimes(f.file.Path(), now, now.Add(-time.Hour)); err != nil {
		b.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, _ = f.Refresh(now)
		reloaded, err := f.Refresh(now.Add(2 * time.Second))
		if err == nil && !reloaded {
			err = fmt.Errorf("%s was not read again", f.file.Path())
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
		took = append(took, lookUp(f, some[i%len(some)]))
	}
}

// idle returns the longest that a look-up takes in two seconds without a reload, in nanoseconds: what the machine adds.
func idle(f *File, some [][]byte) float64 {
	longest, began := time.Duration(0), time.Now()
	for i := 0; time.Since(began) < 2*time.Second; i++ {
		longest = max(longest, lookUp(f, some[i%len(some)]))
	}
	return float64(longest)
}

// lookUp looks a number up, and returns how long that took. It sleeps afterwards, as those do that wait for messages.
func lookUp(f *File, digits []byte) time.Duration {
	began := time.Now()
	if f.Table().Of(number.Of(sms.Address{Addr: digits})) == 0 {
		panic("a number has no network")
	}
	took := time.Since(began)
	time.Sleep(20 * time.Microsecond)
	return took
}
