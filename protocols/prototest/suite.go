package prototest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// A Suite is the tests that every driver passes. They run in the directory of the driver.
type Suite struct {
	Driver  protocols.SessionDriver
	Options func() protocols.Options // the defaults
	Hot     []Sample                 // the most frequent PDUs

	// Canonical returns the octets as the codec encodes them, if they may differ from in.
	Canonical func(in []byte) []byte
	// Unhide copies to `to` the fields of from that line hides. It reports whether line may hide something, and whether `to`
	// is complete afterwards.
	Unhide func(to, from protocols.PDU, in, line []byte) (may, whole bool)
}

// A Sample is a PDU.
type Sample struct{ Name, Hex string }

// Octets returns the sample's octets.
func (s *Sample) Octets(t testing.TB) []byte { return Octets(t, s.Hex) }

// RunSessions plays the transcripts of testdata to sessions alone.
func (s *Suite) RunSessions(t *testing.T) {
	Run(t, s.Driver, s.Options, Transcripts(t), func(_ *testing.T, o protocols.SessionOptions) Subject {
		return NewSession(s.Driver, o)
	})
}

// Transcripts returns the paths of the transcripts in testdata.
func Transcripts(t testing.TB) []string {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no transcripts", err)
	}
	return paths
}

// CodecDoesNotAllocate reads and writes the most frequent PDUs.
func (s *Suite) CodecDoesNotAllocate(t *testing.T) {
	for _, h := range s.Hot {
		in, p, out := h.Octets(t), s.Driver.NewPDU(), make([]byte, 0, 1024)
		n := testing.AllocsPerRun(100, func() {
			if n, err := s.Driver.Frame(in); err != nil || n != len(in) {
				t.Fatal(n, err)
			}
			if err := s.Driver.Decode(p, in); err != nil {
				t.Fatal(err)
			}
			out = p.AppendWire(out[:0])
			out = p.AppendLog(out[:0], true)
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", h.Name, n)
		}
	}
}

// SessionDoesNotAllocate receives a message on a session, and sends one on another. answered makes an answer to the request
// that was sent; out is the answer to the message that was received.
func (s *Suite) SessionDoesNotAllocate(
	t *testing.T, name string, from, to protocols.Session, in []byte, answered func(request protocols.PDU, out []byte),
) {
	t.Helper()
	const now = 2
	p, q, out := s.Driver.NewPDU(), s.Driver.NewPDU(), make([]byte, 0, 1024)
	var m sms.Message
	n := testing.AllocsPerRun(100, func() {
		if s.Driver.Decode(p, in) != nil || from.Receive(now, p).Kind != protocols.Message || from.Message(now, p, &m) != sms.OK {
			t.Fatal("not a message")
		}
		to.Encode(now, q, &m, to.NextSequence())
		out = q.AppendWire(out[:0])
		from.Answer(p, sms.OK, 1)
		out = p.AppendWire(out[:0])
		if answered(q, out); to.Receive(now, q).Kind != protocols.Answered {
			t.Fatal("not an answer")
		}
	})
	if n != 0 {
		t.Errorf("%s: %v allocations", name, n)
	}
}

// Times checks the delivery time and the expiry of a message that has arrived now; zero: no time.
func Times(t *testing.T, what string, now int64, m *sms.Message, code sms.Code, deliver, expires time.Duration, want sms.Code) {
	t.Helper()
	at := func(d time.Duration) int64 {
		if d == 0 {
			return 0
		}
		return now + int64(d)
	}
	if code != want || code == sms.OK && (m.DeliverAt != at(deliver) || m.Expires != at(expires)) {
		t.Errorf("%s: got %s, deliver at %d, expires %d", what, code, m.DeliverAt-now, m.Expires-now)
	}
}

// A SpecRow is a row of spec.txt. Done is yes, partial or no.
type SpecRow struct{ Item, Title, Done, Tests, Remark string }

// Spec returns the rows of spec.txt. It checks that each row that is "done" names tests and
// transcripts that exist.
func Spec(t *testing.T) (rows []SpecRow) {
	exist := map[string]bool{}
	for name := range Files(t, "testdata/*.txt") {
		exist[name] = true
	}
	for _, text := range Files(t, "*_test.go") {
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(text, -1) {
			exist[m[1]] = true
		}
	}
	for line := range strings.Lines(Files(t, "spec.txt")["spec.txt"]) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 || f[2] != "yes" && f[2] != "partial" && f[2] != "no" {
			t.Fatalf("%q is not a row", line)
		}
		r := SpecRow{f[0], f[1], f[2], f[3], f[4]}
		if r.Done == "no" != (r.Tests == "") {
			t.Errorf("%s %s is done: %s, and shown by %q", r.Item, r.Title, r.Done, r.Tests)
		}
		for _, name := range strings.Split(r.Tests, ", ") {
			if r.Tests != "" && !exist[name] {
				t.Errorf("%s %s names %q, which does not exist", r.Item, r.Title, name)
			}
		}
		if slices.ContainsFunc(rows, func(o SpecRow) bool { return o.Item == r.Item && o.Title == r.Title }) {
			t.Errorf("%s %s has two rows", r.Item, r.Title)
		}
		rows = append(rows, r)
	}
	return rows
}

// Limits returns the remark of a row, after what is missing if it is not done.
func (r SpecRow) Limits() string {
	if r.Done == "yes" || r.Done == "" {
		return r.Remark
	}
	return strings.TrimSuffix(r.Done+": "+r.Remark, ": ")
}

// Limited returns the rows with limits. Rows with the same limits become one row.
func Limited(rows []SpecRow) (limited []SpecRow) {
	for _, r := range rows {
		i := slices.IndexFunc(limited, func(o SpecRow) bool { return o.Limits() == r.Limits() })
		switch {
		case r.Limits() == "":
		case i < 0:
			limited = append(limited, r)
		default:
			o := &limited[i]
			o.Title += ", " + r.Title
			if !strings.HasSuffix(o.Item, r.Item) {
				o.Item += ", " + r.Item
			}
		}
	}
	return limited
}

// Files returns the texts of the files that match a pattern, by name.
func Files(t *testing.T, pattern string) map[string]string {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(b)
	}
	return files
}

// equalJSON reports whether two values have the same JSON.
func equalJSON(t *testing.T, a, b any) bool {
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(x, &v); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(v, b)
}
