package ucp

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/protocols"
	"pmg/protocols/prototest"
)

// A vector is one of testdata/vectors.json, which comes from the samples of the
// specification and the tests of other implementations.
type vector struct {
	Name   string         `json:"name"`
	Hex    string         `json:"hex"`
	Expect map[string]any `json:"expect"`
	Valid  bool           `json:"valid"`
}

func vectors(tb testing.TB) []vector {
	b, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		tb.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(b, &all); err != nil {
		tb.Fatal(err)
	}
	return all
}

// valid returns the valid vectors: all of them.
func valid(tb testing.TB) (some []vector) {
	for _, v := range vectors(tb) {
		if v.Valid {
			some = append(some, v)
		}
	}
	if len(some) != 58 {
		tb.Fatalf("%d valid vectors, want 58", len(some))
	}
	return some
}

func octetsOf(tb testing.TB, s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// frameOf returns a frame around what stands between its header and its checksum:
// "O/51/..." with the last slash.
func frameOf(trn uint8, data string) []byte {
	b := append(appendTwo([]byte{stx}, trn), "/00000/"...)
	b = append(b, data...)
	n := len(b) - 1 + 2
	for i := atLEN + 4; n > 0; i-- {
		b[i] = '0' + byte(n%10)
		n /= 10
	}
	sum := checksum(b[1:])
	return append(b, upper[sum>>4], upper[sum&15], etx)
}

func TestValidVectors(t *testing.T) {
	for _, v := range valid(t) {
		t.Run(v.Name, func(t *testing.T) {
			var p PDU
			in := octetsOf(t, v.Hex)
			if err := p.Decode(in); err != nil {
				t.Fatal(err)
			}
			got := visited(t, &p)
			if v.Expect["text"] == nil && p.isType('2') {
				delete(got, "text") // some vectors leave out what shows in the digits
			}
			for name, want := range v.Expect {
				if !equalJSON(t, got[name], want) {
					t.Errorf("%s: got %v, want %v", name, got[name], want)
				}
				delete(got, name)
			}
			for name, value := range got { // what is expected names no empty fields
				if value != "" && name != "HPLMN" {
					t.Errorf("field too many: %s=%v", name, value)
				}
			}
			throughLog(t, &p, in)
		})
	}
}

// visited returns the fields by name, and what the vectors count besides.
func visited(t *testing.T, p *PDU) map[string]any {
	got := map[string]any{}
	fields, empty := 0, 0
	p.Visit(func(name string, value any) {
		if _, twice := got[name]; twice {
			t.Errorf("%s twice", name)
		}
		got[name] = value
		switch name {
		case "TRN", "LEN", "OR", "OT", "checksum", "result", "text", "originator", "password", "new_password":
		case "RP", "LRP", "PR", "LPR", "UR", "LUR", "RC", "LRC":
			if fields++; value == "" {
				empty++
			}
		default:
			fields++
		}
	})
	switch {
	case p.OT == MultipleCall && !p.Result:
		got["NPL"] = digits(p.get(p.rare().legacy.NPL))
	case p.OT == Supplementary && !p.Result:
		got["empty_slots"] = empty
	case !p.Nack:
		got["field_count"] = fields
	}
	for name := range got {
		if strings.HasSuffix(name, "SM") && got[name] == nil {
			delete(got, name)
		}
	}
	return got
}

func equalJSON(t *testing.T, a, b any) bool {
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(x, &v); err != nil {
		t.Fatal(err)
	}
	x, _ = json.Marshal(v)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// throughLog checks wire -> log -> PDU -> wire. Secrets, which are never printed, are
// put back. A line that hides octets is never read as a PDU that has others.
func throughLog(t *testing.T, p *PDU, in []byte) {
	t.Helper()
	want := canonical(in)
	if out := p.AppendWire(nil); !bytes.Equal(out, want) {
		t.Fatalf("encoded again:\ngot  %q\nwant %q", out, want)
	}
	line := p.AppendLog(nil, true)
	if bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Fatalf("not one printable line: %q", line)
	}
	var q PDU
	err := q.ParseLog(line)
	if hidden := errors.Is(err, protocols.ErrHidden); !hidden && err != nil || hidden && !bytes.Contains(line, []byte("=***")) {
		t.Fatalf("%s: %v", line, err)
	}
	if errors.Is(err, protocols.ErrHidden) {
		putBack(p, &q)
	}
	if out := q.AppendWire(nil); !bytes.Equal(out, want) {
		t.Fatalf("%s\ngot  %q\nwant %q", line, out, want)
	}
	err = q.ParseLog(p.AppendLog(nil, false))
	if err != nil && !errors.Is(err, protocols.ErrHidden) {
		t.Fatalf("with hidden octets: %v", err)
	}
	if out := q.AppendWire(nil); err == nil && !bytes.Equal(out, want) {
		t.Fatalf("hidden octets are read as others:\ngot  %q\nwant %q", out, want)
	}
}

// canonical writes a checksum in upper case.
func canonical(in []byte) []byte {
	out := bytes.Clone(in)
	copy(out[len(out)-trailing:], bytes.ToUpper(out[len(out)-trailing:]))
	return out
}

// putBack gives q the fields that the log hides.
func putBack(p, q *PDU) {
	secret := func(to *Field, from Field) {
		if from.n > 0 {
			q.put(to, p.get(from))
		}
	}
	secret(&q.SM.AC, p.SM.AC)
	if !p.hasExtras {
		return
	}
	x, y := p.rare(), q.rare()
	secret(&y.login.PWD, x.login.PWD)
	secret(&y.login.NPWD, x.login.NPWD)
	secret(&y.legacy.RAds, x.legacy.RAds)
	secret(&y.legacy.LRP, x.legacy.LRP)
	secret(&y.legacy.LPR, x.legacy.LPR)
	secret(&y.legacy.LUR, x.legacy.LUR)
	secret(&y.legacy.LRC, x.legacy.LRC)
}

// What a peer logs in to a server and to a client with.
const (
	loginLine    = "O/60/acme/6/5/1/733363726574//0100//////"
	loggedInLine = "R/60/A//"
)

// What becomes of the vectors that are malformed or odd: how the first piece decodes,
// and what a session answers.
func TestMalformedVectors(t *testing.T) {
	client := protocols.SessionOptions{Role: protocols.Client, SystemID: "pmg"}
	server := protocols.SessionOptions{Name: "PMG"}
	reactions := map[string]struct {
		options protocols.SessionOptions
		open    bool // the session is not logged in
		err     string
		answers []string
	}{
		"len_too_big":                  {server, false, "LEN is 84 and there are 83 characters", []string{"< op51_result seq=0 status=0x2(syntax_error)"}},
		"len_too_big_checksum_stale":   {server, false, "LEN is 84 and there are 83 characters", []string{"< op51_result seq=0 status=0x2(syntax_error)"}},
		"checksum_wrong":               {server, false, `checksum is "D2" and should be D1`, []string{"< op51_result seq=0 status=0x1(checksum_error)"}},
		"checksum_lower_case":          {server, false, "", []string{"< op51_result seq=0 status=0 SM=012345:"}},
		"checksum_not_hex":             {server, false, `checksum is "G1" and should be D1`, []string{"< op51_result seq=0 status=0x1(checksum_error)"}},
		"unknown_operation_91":         {server, false, "operation 91 is not known", []string{"< op_unknown_result seq=0 OT=91 status=0x3(operation_not_supported)"}},
		"result_with_operation_fields": {client, false, "result begins neither with A nor with N", nil},
		"missing_etx":                  {server, false, "is no frame", nil},
		"missing_stx":                  {server, false, "is no frame", nil},
		"garbage_before_stx":           {client, true, "is no frame", []string{"bound transceiver"}},
		"two_frames_one_read":          {client, true, "", []string{"bound transceiver"}},
		"nested_stx":                   {client, true, "is no frame", []string{"bound transceiver"}},
		"len_not_numeric":              {client, true, "has no header that can be read", nil},
		"or_invalid":                   {server, true, "has no header that can be read", nil},
		"op51_too_many_fields":         {server, false, "has 1 fields too many", []string{"< op51_result seq=5 status=0x2(syntax_error)"}},
		"op51_odd_hex":                 {server, false, "", []string{"< op51_result seq=5 status=0x2(syntax_error)"}},
		"op51_bad_mt":                  {server, false, "", []string{"< op51_result seq=5 status=0x17(message_type_not_supported)"}},
		"op51_missing_adc":             {server, false, "", []string{"< op51_result seq=5 status=0x6(adc_invalid)"}},
		"op51_xser_overrun":            {server, false, "", []string{"< op51_result seq=5 status=0x2(syntax_error)"}},
		"op51_binary_without_class":    {server, false, "", []string{"< op51_result seq=5 status=0x2(syntax_error)"}},
		"op60_wrong_version":           {server, true, "", []string{"< op60_result seq=0 status=0x2(syntax_error)"}},
		"op60_len_off_by_one":          {server, true, "LEN is 50 and there are 49 characters", []string{"< op60_result seq=0 status=0x2(syntax_error)"}},
		"result_without_request":       {client, false, "", nil},
	}
	d := New(Options{})
	for _, v := range vectors(t) {
		if v.Valid {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			r, ok := reactions[v.Name]
			if !ok {
				t.Fatal("the table does not say what to expect")
			}
			in := octetsOf(t, v.Hex)
			n, err := d.Frame(in)
			if err != nil {
				t.Fatal(err)
			}
			if want := v.Name == "missing_etx"; want != (n > len(in)) {
				t.Errorf("%d octets are wanted of %d", n, len(in))
			}
			var p PDU
			text := ""
			if err := p.Decode(in[:min(n, len(in))]); err != nil {
				text = err.Error()
			}
			if text != r.err {
				t.Errorf("got error %q, want %q", text, r.err)
			}
			s := prototest.NewSession(d, r.options)
			if s.Read(); !r.open && r.options.Role == protocols.Server {
				s.Write(frameOf(1, loginLine))
			} else if !r.open {
				s.Write(frameOf(0, loggedInLine))
			}
			s.Read()
			s.Events()
			s.Write(in)
			s.Wait(time.Second)
			checkOutcome(t, s, r.answers)
			if !r.open && v.Name != "missing_etx" { // the session is in step
				s.Write(frameOf(42, "O/31/1/0539/"))
				checkOutcome(t, s, []string{"< op31_result seq=42 status=0"})
			}
		})
	}
}

// checkOutcome looks for each line in what came out, whatever else it says.
func checkOutcome(t *testing.T, s *prototest.Session, want []string) {
	t.Helper()
	got := append(sentLines(t, s.Read()), s.Events()...)
	for _, w := range want {
		i := slices.IndexFunc(got, func(g string) bool { return strings.HasPrefix(g, w) })
		if i < 0 {
			t.Fatalf("%q is not in what is left of %q", w, got)
		}
		got = slices.Delete(got, i, i+1)
	}
	for _, g := range got {
		t.Errorf("%q came, too", g)
	}
}

// sentLines returns the frames in b as the pdu log prints them.
func sentLines(t *testing.T, b []byte) (lines []string) {
	t.Helper()
	d := New(Options{})
	var p PDU
	for len(b) > 0 {
		n, err := d.Frame(b)
		if err != nil || n > len(b) {
			t.Fatalf("%q: %v", b, err)
		}
		if err := p.Decode(b[:n]); err != nil {
			t.Fatalf("%q: %v", b[:n], err)
		}
		lines = append(lines, "< "+string(p.AppendLog(nil, true)))
		b = b[n:]
	}
	return lines
}
