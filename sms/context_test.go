package sms

import "testing"

// FuzzContext reads contexts that nobody has written.
func FuzzContext(f *testing.F) {
	f.Add((&Context{Dialect: 2, URL: "http://h/", Fields: []Field{{1, "3"}}}).Append(nil))
	f.Add([]byte{1, 0, 9, 0, 3, 'a'})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, ok := ReadContext(b)
		if !ok {
			return
		}
		if again, ok := ReadContext(c.Append(nil)); !ok || again.URL != c.URL && len(c.URL) <= MaxContext {
			t.Errorf("%x: %+v, then %+v", b, c, again)
		}
	})
}
