package journal

import "testing"

func TestFence(t *testing.T) {
	f := Fence{}
	for i, step := range []struct {
		id   ID
		want Verdict
	}{
		{ID{1, 1, 2}, Forged}, // an epoch begins with its first record
		{ID{1, 1, 1}, Counts},
		{ID{1, 1, 2}, Counts},
		{ID{1, 1, 2}, Repeated},
		{ID{1, 1, 1}, Repeated},
		{ID{1, 1, 4}, Forged}, // one is missing
		{ID{2, 1, 3}, Forged}, // of another node
		{ID{1, 1, 3}, Counts},
		{ID{2, 3, 1}, Counts}, // nobody has appended under epoch 2
		{ID{1, 1, 4}, Void},
		{ID{3, 2, 1}, Void},
		{ID{2, 3, 1}, Repeated},
		{ID{1, 4, 1}, Counts},
		{ID{2, 3, 2}, Void},
	} {
		before := f
		if got := f.Judge(step.id); got != step.want || got != Counts && f != before {
			t.Errorf("%d: %v is judged %d, want %d", i, step.id, got, step.want)
		}
	}
}
