package sandbox

import "testing"

// A delivery that was brought while the store was read for those of earlier runs is not scheduled again by what was read.
func TestBroughtBeforeResumed(t *testing.T) {
	s := newSchedule()
	d := &delivery{due: 1, id: 7}
	bring := func() bool {
		got, _ := s.take(1)
		if got != nil {
			s.done(got)
		}
		return got != nil
	}
	s.add(d)
	if !bring() {
		t.Fatal("it is not brought")
	}
	s.add(&delivery{due: 1, id: 7})
	if bring() {
		t.Error("it is brought twice")
	}
	s.resumed()
	if len(s.known) != 0 {
		t.Errorf("%d are known still", len(s.known))
	}
	s.add(&delivery{due: 1, id: 7}) // the message came again
	if !bring() {
		t.Error("it is not brought when all was resumed")
	}
	if len(s.known) != 0 {
		t.Errorf("%d are known in the end", len(s.known))
	}
}
