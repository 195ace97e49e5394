package tlsfiles

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// issued returns a directory with an authority's certificate (ca), and two that it has issued.
func issued(t *testing.T) (file func(string) string) {
	t.Helper()
	dir := t.TempDir()
	file = func(name string) string { return filepath.Join(dir, name) }
	a, err := NewAuthority("try", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		a.Write(file("ca")), a.Issue(file("one"), file("one-key"), time.Hour, "one.test"), a.Issue(file("two"), file("two-key"), 2*time.Hour, "two.test", "127.0.0.1"),
		os.WriteFile(file("text"), []byte("no certificate"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return file
}

func TestLoad(t *testing.T) {
	file := issued(t)
	for _, test := range []struct {
		name, option, want string
		server             bool
		o                  Options
	}{
		{name: "none", server: true, option: "certificate", want: "is required"},
		{name: "no key", server: true, option: "key", want: "as many files", o: Options{Certificates: []string{file("one")}}},
		{name: "another key", server: true, option: "key", want: "does not match", o: Options{Certificates: []string{file("one")}, Keys: []string{file("two-key")}}},
		{name: "missing", server: true, option: "certificate", want: "no such file", o: Options{Certificates: []string{file("three")}, Keys: []string{file("one-key")}}},
		{name: "no certificate", server: true, option: "certificate", want: "has no certificate", o: Options{Certificates: []string{file("text")}, Keys: []string{file("one-key")}}},
		{name: "a key for a certificate", server: true, option: "certificate", want: "has no certificate", o: Options{Certificates: []string{file("one-key")}, Keys: []string{file("one-key")}}},
		{name: "no authority", option: "ca", want: "has no certificate", o: Options{Authorities: file("text")}},
		{name: "no pin", option: "pin", want: "SHA-256", o: Options{Pins: []string{"abc"}}},
	} {
		_, _, err := Load(&test.o, test.server)
		at := (*OptionError)(nil)
		if !errors.As(err, &at) || at.Option != test.option || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q of the option %s", test.name, err, test.want, test.option)
		}
	}
	_, expires, err := Load(&Options{Certificates: []string{file("two"), file("one")}, Keys: []string{file("two-key"), file("one-key")}}, true)
	if left := time.Until(expires); err != nil || left < 50*time.Minute || left > time.Hour {
		t.Errorf("the first of two expires in %s, %v", left, err)
	}
}

// A change of a file is taken over; one that cannot be read leaves what was read before in force.
func TestLook(t *testing.T) {
	file := issued(t)
	f, err := Open(Options{Certificates: []string{file("one")}, Keys: []string{file("one-key")}}, true)
	if err != nil {
		t.Fatal(err)
	}
	shown := func() string { return f.Config("").Certificates[0].Leaf.DNSNames[0] }
	if changed, err := f.Look(); changed || err != nil {
		t.Errorf("nothing has changed: %t %v", changed, err)
	}
	if err := os.Rename(file("two"), file("one")); err != nil {
		t.Fatal(err)
	}
	if changed, err := f.Look(); !changed || err == nil || shown() != "one.test" {
		t.Errorf("a certificate without its key: %t %v, %s in force", changed, err, shown())
	}
	if changed, err := f.Look(); changed || err != nil {
		t.Errorf("the same is told twice: %t %v", changed, err)
	}
	if err := os.Rename(file("two-key"), file("one-key")); err != nil {
		t.Fatal(err)
	}
	if changed, err := f.Look(); !changed || err != nil || shown() != "two.test" {
		t.Errorf("the other pair: %t %v, %s in force", changed, err, shown())
	}
}

// A client's configuration has the name of the host that it connects to, unless another is given.
func TestServerName(t *testing.T) {
	file := issued(t)
	for want, name := range map[string]string{"host.test": "", "other.test": "other.test"} {
		f, err := Open(Options{Authorities: file("ca"), ServerName: name}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Config("host.test").ServerName; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Operators hear of a certificate three weeks before it expires, and that it has.
func TestExpiry(t *testing.T) {
	t.Parallel()
	for want, left := range map[string]time.Duration{"": 22 * 24 * time.Hour, "expires in 20 days": 21*24*time.Hour - time.Minute, "expires in 0 days": time.Hour, "has expired: peers refuse it": -time.Second} {
		if got := Expiry(time.Now().Add(left)); got != want {
			t.Errorf("%s: %q, not %q", left, got, want)
		}
	}
	if got := Expiry(time.Time{}); got != "" {
		t.Errorf("never: %q", got)
	}
}
