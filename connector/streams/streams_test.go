package streams

import "testing"

// A stream ends once, with the first reason; its login is asked about until then, and none begins behind Close.
func TestTable(t *testing.T) {
	t.Parallel()
	var table Table
	cuts, may := 0, true
	begin := func() *Stream {
		s := &Stream{May: func() bool { return may }, Cut: func() { cuts++ }}
		if !table.Begin(s) {
			t.Fatal("it may not begin")
		}
		return s
	}
	one, two, three := begin(), begin(), begin()
	if table.Check(); one.Reason() != 0 || len(table.All()) != 3 {
		t.Errorf("%d is over though its login holds", one.Reason())
	}
	one.Stop(Kicked)
	table.End(one)
	may = false
	table.Check()
	table.End(three)
	table.Close()
	for s, want := range map[*Stream]Reason{one: Kicked, two: Revoked, three: Revoked} {
		if s.Reason() != want {
			t.Errorf("it ends for reason %d, want %d", s.Reason(), want)
		}
		<-s.Over()
	}
	if cuts != 3 || len(table.All()) != 1 {
		t.Errorf("%d were cut, %d are left", cuts, len(table.All()))
	}
	if table.Begin(&Stream{}) {
		t.Error("one begins behind the end")
	}
}
