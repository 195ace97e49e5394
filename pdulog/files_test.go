package pdulog

import "testing"

// The first goroutine uses the file of a connector, unless a Shared does.
func TestFilesBesideShared(t *testing.T) {
	t.Parallel()
	f := &File{connectorLog: &connectorLog{}}
	if NewFiles(true).Of(f) != f {
		t.Error("the first goroutine has another file")
	}
	Share(f, nil)
	o := NewFiles(true)
	if o.beside[f] = new(File); o.Of(f) != o.beside[f] {
		t.Error("two goroutines use one file")
	}
	Share(nil, nil) // PDUs are not logged
}
