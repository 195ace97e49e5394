package webhook

import "testing"

// The last ends are remembered, and not many more.
func TestEnded(t *testing.T) {
	t.Parallel()
	var e ended
	const n = 5 * mostEnded
	for id := range uint64(n) {
		e.add(id)
		e.add(id)
	}
	for id := uint64(n - mostEnded); id < n; id++ {
		if !e.has(id) {
			t.Fatalf("%d is not known", id)
		}
	}
	if e.has(0) || len(e.latest)+len(e.before) > 2*mostEnded {
		t.Errorf("%d are remembered", len(e.latest)+len(e.before))
	}
}
