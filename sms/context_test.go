package sms

import (
	"bytes"
	"testing"
)

// The endpoint of a URL is its server, whatever escapes a dialect has in the rest.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://h:8080/d?x=1": "http://h:8080", "https://h": "https://h", "http://h/%d/%p?%": "http://h", "http://h?%d": "http://h", "http://h#%": "http://h",
		"": "", "h/d": "", "http:///d": "", "http://%d/": "", "http://h:x/": "", "://h": "",
	} {
		if got := Endpoint(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzContext reads contexts that nobody has written.
func FuzzContext(f *testing.F) {
	f.Add((&Context{Dialect: 2, URL: "http://h/", Fields: []Field{{1, "3"}}}).Append(nil))
	f.Add((&Context{Reference: "7", Parent: "123456781234567812345678"}).Append(nil))
	f.Add((&Context{Reference: "7", Quote: Quote{45_000, "EUR"}}).Append(nil))
	f.Add([]byte{1, 0, 9, 0, 3, 'a'})
	f.Fuzz(func(t *testing.T, b []byte) {
		parent := string(ParentOf(b))
		c, ok := ReadContext(b)
		if !ok {
			return
		}
		if parent != c.Parent && bytes.Count(b, []byte{numberParent}) < 2 {
			t.Errorf("%x: the parent is %q and %q", b, parent, c.Parent)
		}
		if again, ok := ReadContext(c.Append(nil)); !ok || again.URL != c.URL && len(c.URL) <= MaxContext {
			t.Errorf("%x: %+v, then %+v", b, c, again)
		}
	})
}
