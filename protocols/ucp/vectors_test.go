package ucp

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"pmg/protocols"
	"pmg/protocols/prototest"
)

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
	suite.ValidVectors(t, func(t *testing.T, p protocols.PDU, expect map[string]any) map[string]any {
		got := visited(t, p.(*PDU))
		if expect["text"] == nil && p.(*PDU).isType('2') {
			delete(got, "text") // some vectors leave out what shows in the digits
		}
		maps.DeleteFunc(got, func(name string, value any) bool { // nor do they name empty fields
			return expect[name] == nil && (value == "" || name == "HPLMN")
		})
		return got
	})
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

func throughLog(t testing.TB, p *PDU, in []byte) { t.Helper(); suite.ThroughLog(t, p, in) }

// canonical writes a checksum in upper case.
func canonical(in []byte) []byte {
	out := bytes.Clone(in)
	copy(out[len(out)-trailing:], bytes.ToUpper(out[len(out)-trailing:]))
	return out
}

// unhide restores secrets, which are never printed.
func unhide(to, from protocols.PDU, _, line []byte) (may, whole bool) {
	p, q := from.(*PDU), to.(*PDU)
	may = bytes.Contains(line, []byte("=***"))
	secret := func(to *Field, from Field) {
		if from.n > 0 {
			q.put(to, p.get(from))
		}
	}
	secret(&q.SM.AC, p.SM.AC)
	if !p.hasExtras {
		return may, true
	}
	x, y := p.rare(), q.rare()
	secret(&y.login.PWD, x.login.PWD)
	secret(&y.login.NPWD, x.login.NPWD)
	secret(&y.legacy.RAds, x.legacy.RAds)
	secret(&y.legacy.LRP, x.legacy.LRP)
	secret(&y.legacy.LPR, x.legacy.LPR)
	secret(&y.legacy.LUR, x.legacy.LUR)
	secret(&y.legacy.LRC, x.legacy.LRC)
	return may, true
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
	login, accepted := frameOf(1, loginLine), frameOf(0, loggedInLine)
	reactions := map[string]struct {
		Options protocols.SessionOptions
		Before  []byte
		Err     string
		Answers []string
	}{
		"len_too_big":                  {server, login, "LEN is 84 and there are 83 characters", []string{"< op51_result seq=0 status=0x2(syntax_error)"}},
		"len_too_big_checksum_stale":   {server, login, "LEN is 84 and there are 83 characters", []string{"< op51_result seq=0 status=0x2(syntax_error)"}},
		"checksum_wrong":               {server, login, `checksum is "D2" and should be D1`, []string{"< op51_result seq=0 status=0x1(checksum_error)"}},
		"checksum_lower_case":          {server, login, "", []string{"< op51_result seq=0 status=0 SM=012345:"}},
		"checksum_not_hex":             {server, login, `checksum is "G1" and should be D1`, []string{"< op51_result seq=0 status=0x1(checksum_error)"}},
		"unknown_operation_91":         {server, login, "operation 91 is not known", []string{"< op_unknown_result seq=0 OT=91 status=0x3(operation_not_supported)"}},
		"result_with_operation_fields": {client, accepted, "result begins neither with A nor with N", nil},
		"missing_etx":                  {server, login, "is no frame", nil},
		"missing_stx":                  {server, login, "is no frame", nil},
		"garbage_before_stx":           {client, nil, "is no frame", []string{"bound transceiver"}},
		"two_frames_one_read":          {client, nil, "", []string{"bound transceiver"}},
		"nested_stx":                   {client, nil, "is no frame", []string{"bound transceiver"}},
		"len_not_numeric":              {client, nil, "has no header that can be read", nil},
		"or_invalid":                   {server, nil, "has no header that can be read", nil},
		"op51_too_many_fields":         {server, login, "has 1 fields too many", []string{"< op51_result seq=5 status=0x2(syntax_error)"}},
		"op51_odd_hex":                 {server, login, "", []string{"< op51_result seq=5 status=0x2(syntax_error)"}},
		"op51_bad_mt":                  {server, login, "", []string{"< op51_result seq=5 status=0x17(message_type_not_supported)"}},
		"op51_missing_adc":             {server, login, "", []string{"< op51_result seq=5 status=0x6(adc_invalid)"}},
		"op51_xser_overrun":            {server, login, "", []string{"< op51_result seq=5 status=0x2(syntax_error)"}},
		"op51_binary_without_class":    {server, login, "", []string{"< op51_result seq=5 status=0x2(syntax_error)"}},
		"op60_wrong_version":           {server, nil, "", []string{"< op60_result seq=0 status=0x2(syntax_error)"}},
		"op60_len_off_by_one":          {server, nil, "LEN is 50 and there are 49 characters", []string{"< op60_result seq=0 status=0x2(syntax_error)"}},
		"result_without_request":       {client, accepted, "", nil},
	}
	_, others := prototest.Vectors(t, "testdata")
	for _, v := range others {
		t.Run(v.Name, func(t *testing.T) {
			r, ok := reactions[v.Name]
			if !ok {
				t.Fatal("the table does not say what to expect")
			}
			in := v.Octets(t)
			n, err := suite.Driver.Frame(in)
			if err != nil {
				t.Fatal(err)
			}
			if want := v.Name == "missing_etx"; want != (n > len(in)) {
				t.Errorf("%d octets are wanted of %d", n, len(in))
			}
			s := suite.React(t, in, r)
			if r.Before != nil && v.Name != "missing_etx" { // the session is in step
				s.Write(frameOf(42, "O/31/1/0539/"))
				s.Want(t, "< op31_result seq=42 status=0")
			}
		})
	}
}
