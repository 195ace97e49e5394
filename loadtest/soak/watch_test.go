package soak

import (
	"os"
	"runtime"
	"testing"
	"time"

	"pmg/gateway"
)

// usage holds the resources that must not grow.
type usage struct {
	goroutines, descriptors int
	heap                    uint64 // octets in use
	jobs                    int64
}

func take() usage {
	u := usage{goroutines: runtime.NumGoroutine()}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil { // on Linux
		u.descriptors = len(files)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u.heap = m.HeapInuse
	return u
}

// most returns the larger of each resource.
func most(a, b usage) usage {
	return usage{max(a.goroutines, b.goroutines), max(a.descriptors, b.descriptors), max(a.heap, b.heap), max(a.jobs, b.jobs)}
}

// startWatch samples the usage while the load runs, logs it now and then, and at the end
// compares the peak of the last third with that of the first.
func startWatch(t *testing.T, e gateway.Engine) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	began := time.Now()
	var first, last usage
	go func() {
		defer close(ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		told := began
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				u, part := take(), now.Sub(began)
				u.jobs = int64(e.Counters().Jobs)
				switch {
				case part < *duration/3:
					first = most(first, u)
				case part > 2*(*duration)/3:
					last = most(last, u)
				}
				if now.Sub(told) >= 10*time.Second {
					told = now
					t.Logf("%4.0f s: heap %d MiB, goroutines %d, descriptors %d, jobs %d",
						part.Seconds(), u.heap>>20, u.goroutines, u.descriptors, u.jobs)
				}
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		t.Logf("most in the first third and in the last: heap %d and %d MiB, goroutines %d and %d, descriptors %d and %d, jobs %d and %d",
			first.heap>>20, last.heap>>20, first.goroutines, last.goroutines, first.descriptors, last.descriptors, first.jobs, last.jobs)
		if *duration < time.Minute { // too short to distinguish growth from variations
			return
		}
		if last.heap > 2*first.heap+64<<20 {
			t.Errorf("heap has grown from %d MiB to %d MiB", first.heap>>20, last.heap>>20)
		}
		if last.goroutines > 2*first.goroutines+50 {
			t.Errorf("goroutines have grown from %d to %d", first.goroutines, last.goroutines)
		}
		if last.descriptors > 2*first.descriptors+50 {
			t.Errorf("descriptors have grown from %d to %d", first.descriptors, last.descriptors)
		}
		if last.jobs > 2*first.jobs+1000 {
			t.Errorf("live jobs have grown from %d to %d", first.jobs, last.jobs)
		}
	}
}
