package managed

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A pool is shared files in memory.
type pool struct {
	all  []File
	fail error
}

func (p *pool) Put(all ...File) error {
	if p.fail != nil {
		return p.fail
	}
	for _, f := range all {
		p.all = slices.DeleteFunc(p.all, func(o File) bool { return o.Name == f.Name })
		if f.Data != nil {
			p.all = append(p.all, File{Name: f.Name, Data: bytes.Clone(f.Data)})
		}
	}
	return nil
}

func (p *pool) Each(pass func(File) error) error {
	for _, f := range p.all {
		if err := pass(f); err != nil {
			return err
		}
	}
	return nil
}

func (p *pool) Get(name string) ([]byte, error) {
	for _, f := range p.all {
		if f.Name == name {
			return f.Data, nil
		}
	}
	return nil, nil
}

func openShared(t *testing.T, p *pool) *Dir {
	t.Helper()
	fs := vfs.NewMem()
	if err := fs.MkdirAll("managed", 0o700); err != nil {
		t.Fatal(err)
	}
	return OpenOn(fs, "managed", func() time.Time { return time.Unix(1e9, 0) }, p)
}

// What is changed on one machine, and its history, is what another takes, which keeps beside it what it had.
func TestTake(t *testing.T) {
	t.Parallel()
	p := &pool{}
	a, b := openShared(t, p), openShared(t, p)
	replace(t, a, acme, "one")
	replace(t, a, acme, "two")
	replace(t, a, "lists/stops.txt", "4670\n")
	other := openMem(t, b.fs)
	replace(t, other, acme, "of b alone")
	replace(t, other, "routes/old.yaml", "of b alone")
	if n, err := b.Take(); err != nil || n != 5 { // two files, two changes (both made acme first), and the route
		t.Errorf("%d, %v", n, err)
	}
	wants(t, b, acme, "two")
	wants(t, b, "lists/stops.txt", "4670\n")
	wants(t, b, "routes/old.yaml", "")
	wants(t, b, "accounts/.acme.yaml.before", "of b alone")
	wants(t, b, "routes/.old.yaml.before", "of b alone")
	if n, err := b.Take(); err != nil || n != 0 {
		t.Errorf("again: %d, %v", n, err)
	}
	if all, err := b.History("", 0, 10); err != nil || len(all) != 3 || all[0].Number != 3 || all[0].File != "lists/stops.txt" {
		t.Errorf("%+v, %v", all, err)
	}
	if c := replace(t, b, acme, "three"); c.Number != 4 || string(c.Before) != "two" {
		t.Errorf("%+v", c)
	}
	if n, err := a.Take(); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	wants(t, a, acme, "three")
	replace(t, a, acme, "four")
	replace(t, a, "routes/new.yaml", "four")
	if _, err := a.Replace(Change{File: "lists/stops.txt"}, nil, fine); err != nil {
		t.Fatal(err)
	}
	if n, err := b.TakeOnly([]string{acme, "lists/stops.txt", "accounts/none.yaml", "../escape"}); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	wants(t, b, acme, "four")
	wants(t, b, "lists/stops.txt", "")
	wants(t, b, "routes/new.yaml", "")
}

// What was edited by hand is given to the others, also what was removed.
func TestGive(t *testing.T) {
	t.Parallel()
	p := &pool{}
	a, b := openShared(t, p), openShared(t, p)
	replace(t, a, acme, "one")
	replace(t, a, "accounts/bank.yaml", "one")
	if n, err := a.Give(); err != nil || n != 0 {
		t.Errorf("nothing was edited: %d, %v", n, err)
	}
	if err := errors.Join(a.writeOnly(a.Path(acme), []byte("edited")), a.fs.Remove(a.Path("accounts/bank.yaml"))); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Give(); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := b.Take(); err != nil {
		t.Fatal(err)
	}
	wants(t, b, acme, "edited")
	wants(t, b, "accounts/bank.yaml", "")
}

// A change that cannot be stored for others, or not be put in force, is in no place.
func TestShareFails(t *testing.T) {
	t.Parallel()
	p := &pool{}
	a := openShared(t, p)
	replace(t, a, acme, "one")
	if _, err := a.Replace(Change{File: acme}, []byte("two"), func() error { return errUse }); !errors.Is(err, errUse) {
		t.Errorf("%v", err)
	}
	p.fail = errors.New("no room")
	used := false
	_, err := a.Replace(Change{File: acme}, []byte("two"), func() error { used = true; return nil })
	if !errors.Is(err, p.fail) || used {
		t.Errorf("%v, used %t", err, used)
	}
	p.fail = nil
	wants(t, a, acme, "one")
	if n, err := a.Give(); err != nil || n != 0 {
		t.Errorf("the others have something else: %d, %v", n, err)
	}
}
