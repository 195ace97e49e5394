package sample

import "testing"

func TestClamp(t *testing.T) {
	for in, want := range map[int]int{0: 0, 1: 1, 9: 9, 10: 10, 11: 10} {
		if got, err := Clamp(in); got != want || err != nil {
			t.Errorf("%d: %d, %v", in, got, err)
		}
	}
	if _, err := Clamp(-1); err == nil {
		t.Error("no error")
	}
}

// Nothing looks at calls, nor says odd.
func TestAdd(t *testing.T) {
	var c Counter
	if !c.Add(2, false, false) || c.Add(3, true, false) || c.n != 2 {
		t.Error(c.n)
	}
}
