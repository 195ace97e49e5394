package pdulog

import (
	"strings"
	"testing"

	"pmg/protocols/smpp"
)

// With a key, the same text has the same hash, another text or key has another one, and a session that is not logged in shows
// none. The line can be read, and has its id. Writing it allocates nothing.
func TestTextHash(t *testing.T) {
	driver := smpp.New(smpp.Options{})
	write := func(key, text string, s Standing) string {
		t.Helper()
		p := driver.NewPDU()
		line := "submit_sm seq=1 source_addr=1 destination_addr=2"
		if text != "" {
			line += ` short_message="` + text + `"`
		}
		if err := driver.ParseLog(p, []byte(line)); err != nil {
			t.Fatal(err)
		}
		hash := newTextHash(&Options{TextKey: []byte(key)})
		f := &File{connectorLog: &connectorLog{dir: &Dir{limit: 1 << 20}}, head: newHead("clients"), hash: hash}
		f.Line(1, 1, true, p, s, About{ID: 0x1a1fb0c12c230d41, Account: "acme"})
		if n := testing.AllocsPerRun(100, func() {
			f.buf = f.buf[:0]
			f.Line(1, 1, true, p, s, About{ID: 0x1a1fb0c12c230d41, Account: "acme"})
		}); n != 0 && s == LoggedIn {
			t.Errorf("%v allocations", n)
		}
		return strings.TrimSpace(string(f.buf))
	}
	const key = "0123456789abcdef"
	line := write(key, "hello", LoggedIn)
	_, hash, ok := strings.Cut(line, " text_hash=")
	if !ok || strings.Contains(line, "hello") || len(hash) != 16+len(" id=1a1fb0c12c230d41 account=acme") {
		t.Fatal(line)
	}
	e, err := Parse([]byte(line))
	if err != nil || string(e.ID) != "1a1fb0c12c230d41" || e.AccountName() != "acme" || strings.Contains(string(e.PDU), "hash") {
		t.Errorf("%v: %+v", err, e)
	}
	if again := write(key, "hello", LoggedIn); again != line {
		t.Errorf("%s, and then %s", line, again)
	}
	for _, other := range []string{write(key, "hellp", LoggedIn), write(key+"x", "hello", LoggedIn)} {
		if strings.Contains(other, hash) {
			t.Errorf("%s has the same hash", other)
		}
	}
	for _, none := range []string{write(key, "", LoggedIn), write("", "hello", LoggedIn), write(key, "hello", Stranger)} {
		if strings.Contains(none, "hash") {
			t.Error(none)
		}
	}
	got, changed := smppDecoder().AppendRedacted(nil, []byte(line), &Redaction{Texts: true})
	if want := strings.Replace(line, " text_hash="+hash[:16], "", 1); string(got) != want || !changed {
		t.Errorf("without texts it is %s", got)
	}
}
