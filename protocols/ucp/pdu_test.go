package ucp

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"pmg/protocols"
	"pmg/protocols/prototest"
)

// The hot PDUs, as they come in bulk.
var hot = []prototest.Sample{
	{Name: "op51", Hex: hex.EncodeToString(frameOf(18, "O/51/0046700000001/1234//1//3/////////////3//"+
		"48656C6C6F2C20776F726C643A20612074657874206F662066696674792063686172616374657273206F7220736F2E2E2E2E206F6B/////////////"))},
	{Name: "op51_result", Hex: hex.EncodeToString(frameOf(18, "R/51/A//0046700000001:310726235959/"))},
	{Name: "op52", Hex: hex.EncodeToString(frameOf(42, "O/52/321/46700000001/////////////010226040506////4/0048/041404300021////////1139//01060500037F0202020108///"))},
	{Name: "op52_result", Hex: hex.EncodeToString(frameOf(42, "R/52/A///"))},
	{Name: "op53", Hex: hex.EncodeToString(frameOf(1, "O/53/1234/0041791234567/////////////310726235959/2/107/020826000000/3///////////////"))},
}

// A frame that is cut off anywhere is not a frame, and as many octets more are waited for.
func TestPrefixesAreRejected(t *testing.T) {
	suite.Prefixes(t, func(n, want int) bool { return want == n+1 })
}

// Every octet that is changed is noticed, but for the case of a digit of the checksum
// and for two changes that cancel out.
func TestDamageIsNoticed(t *testing.T) {
	valid, _ := prototest.Vectors(t, "testdata")
	for _, v := range valid {
		in := v.Octets(t)
		for i := range in {
			damaged := bytes.Clone(in)
			damaged[i] ^= 0x40
			var p PDU
			if err := p.Decode(damaged); err == nil {
				t.Fatalf("%s: octet %d is damaged: %q", v.Name, i, damaged)
			}
		}
	}
}

// Fields that are missing or too many are a syntax error, and one that is too long has
// its own.
func TestFieldErrors(t *testing.T) {
	f := func(data string, ec uint8) {
		t.Helper()
		var p PDU
		if err := p.Decode(frameOf(1, data)); err == nil || p.Err().EC != ec || p.Err().Silent {
			t.Errorf("%s: got %v, %+v, want error code %d", data, err, p.Err(), ec)
		}
	}
	long := strings.Repeat("1", 1300)
	f("O/51/"+strings.Repeat("/", 32), ecSyntax)
	f("O/51/"+strings.Repeat("/", 34), ecSyntax)
	f("O/51/"+long[:17]+strings.Repeat("/", 33), ecAdC)
	f("O/51/1/2"+strings.Repeat("/", 19)+long[:1281]+strings.Repeat("/", 13), ecTooLong)
	f("O/51/1/2"+strings.Repeat("/", 11)+long[:11]+strings.Repeat("/", 22), ecPeriod)
	f("O/51/1/2"+strings.Repeat("/", 17)+"33"+strings.Repeat("/", 15), ecMessageType)
	f("O/60/"+strings.Repeat("/", 11), ecSyntax)
	f("O/60/"+strings.Repeat("/", 13), ecSyntax)
	f("O/31/1/", ecSyntax)
	f("O/31/1/2/3/", ecSyntax)
	f("O/01/1/2/3/", ecSyntax)
	f("O/02/0/1/2//3/41/", ecSyntax)
	f("O/02/21/1/2//3/41/", ecNotAllowed)
	f("O/03/1/2//0//////3/41/", ecSyntax)
	f("O/99/", ecNotSupported)
	f("R/51/", ecSyntax)
	f("R/51/X//", ecSyntax)
	f("R/51/A/1/2/3/", ecSyntax)
	f("R/51/N/", ecSyntax)
	f("R/51/N/00//", ecSyntax)
	f("R/51/N/1//", ecSyntax)
	f("R/51/N/01/x/y/", ecSyntax)
	f("O/31/1/2", ecSyntax) // no slash before the checksum
}

// Fields of any content come back from the wire and from the log.
func TestRandomPDUs(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	characters := func(most int) []byte {
		b := make([]byte, r.IntN(2)*r.IntN(most+1))
		for i := range b {
			if b[i] = byte(4 + r.IntN(252)); b[i] == '/' {
				b[i] = ' '
			}
		}
		return b
	}
	for range 3000 {
		var p PDU
		p.TRN = uint8(r.IntN(trns))
		o := &operations[1+r.IntN(len(operations)-1)]
		p.OT, p.Result = o.ot, r.IntN(2) == 0
		w := Walk{p: &p, mode: visit, call: func(string, any) {}}
		p.fields(&w)
		data := "O/"
		if p.Result {
			data = "R/" + string(appendTwo(nil, p.OT)) + "/" + []string{"A/", "A/x/", "A/1/y/", "N/07/", "N/99/text/"}[r.IntN(5)]
		} else {
			data += string(appendTwo(nil, p.OT)) + "/"
			w.call = func(name string, _ any) {
				if p.OT == MultipleCall && name == "NPL" {
					data += "2/"
				} else if name == "RAd" && p.OT == MultipleCall {
					data += string(characters(16)) + "/" + string(characters(16)) + "/"
				} else {
					data += string(characters(fieldSize(name))) + "/"
				}
			}
			p.fields(&w)
		}
		in := frameOf(p.TRN, data)
		var q PDU
		if err := q.Decode(in); err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		throughLog(t, &q, in)
	}
}

// fieldSize is no more than any field of the name takes.
func fieldSize(name string) int {
	switch name {
	case "AdC", "OAdC", "AC", "RAd", "NAdC", "LRAd", "HPLMN", "LAdC":
		return 16
	case "DDT", "VP", "SCTS", "DSCTS":
		return 10
	case "Msg", "AMsg", "XSer":
		return 100
	case "NPID", "RPID", "NB", "PID", "OTOA", "VERS":
		return 4
	}
	return 1
}

func TestCodecDoesNotAllocate(t *testing.T) { suite.CodecDoesNotAllocate(t) }

// A PDU used again has nothing of what it was before.
func TestReuse(t *testing.T) {
	var p PDU
	all, _ := prototest.Vectors(t, "testdata")
	for _, before := range all {
		for _, v := range all {
			_ = p.Decode(before.Octets(t))
			if err := p.Decode(v.Octets(t)); err != nil {
				t.Fatal(err)
			}
			throughLog(t, &p, v.Octets(t))
			visited(t, &p)
		}
	}
	if p.Decode([]byte("\x02x\x03")) == nil || p.Sequence() != 0 || p.Command() != noiseCommand || p.IsAnswer() {
		t.Error("noise has something of what was before")
	}
	p.Reset()
	if p.Err() != nil || p.text != nil {
		t.Error("the old error is still there")
	}
}

// Many PDUs must fit into the processor's cache.
func TestSize(t *testing.T) {
	if size := unsafe.Sizeof(PDU{}); size > 216 {
		t.Errorf("a PDU takes %d octets, want at most 216", size)
	}
}

// A PDU that is kept for its next use does not keep much memory.
func TestResetKeepsLittle(t *testing.T) {
	p := PDU{buf: make([]byte, 2*keepOwn), text: make([]byte, 10)}
	if p.Reset(); p.buf != nil || p.text != nil {
		t.Error("it is kept")
	}
}

// The form of the pdu log is a contract: people cut it with awk.
func TestLogForm(t *testing.T) {
	f := func(data string, full bool, want string) {
		t.Helper()
		var p PDU
		_ = p.Decode(frameOf(7, data))
		if got := string(p.AppendLog(nil, full)); got != want {
			t.Errorf("\ngot  %s\nwant %s", got, want)
		}
	}
	const sm = "O/51/012345/09876/1234/1//1/////////////3//%s/////////////"
	with := func(msg string) string { return strings.Replace(sm, "%s", msg, 1) }
	f(with("4D657373616765203531"), true, `op51 seq=7 AdC=012345 OAdC=09876 AC=*** NRq=1 NT=1 MT=3 AMsg="Message 51"`)
	f(with("4D657373616765203531"), false, `op51 seq=7 AdC=012345 OAdC=09876 AC=*** NRq=1 NT=1 MT=3 AMsg=*10`)
	f(with("4d"), true, `op51 seq=7 AdC=012345 OAdC=09876 AC=*** NRq=1 NT=1 MT=3 Msg=4d`)
	f(with("4d"), false, `op51 seq=7 AdC=012345 OAdC=09876 AC=*** NRq=1 NT=1 MT=3 Msg=*2`)
	f("O/30/1///////////"[:len("O/30/1///////////")-1]+"4d/", true, `op30 seq=7 malformed hex=`+hex.EncodeToString(frameOf(7, "O/30/1//////////4d/"))+` error="has 1 fields too many"`)
	f("O/30/1/////////4d/", true, `op30 seq=7 AdC=1 AMsg_raw=4d`)
	f("O/30/1/////////4D/", true, `op30 seq=7 AdC=1 AMsg="M"`)
	f("O/02/2/1,99/2/3//3/4D/", true, `op02 seq=7 NPL=2 RAd=*** RAd=2 OAdC=3 MT=3 AMsg="M"`)
	f("O/60/acme/6/5/1/733363726574//0100//////", true, `op60 seq=7 OAdC=acme OTON=6 ONPI=5 STYP=1 PWD=*** VERS=0100`)
	f("O/60/acme/6/5/1/733363726574//0100/////", true, `op60 seq=7 malformed hex=*52 error="RES1 is missing"`)
	f("R/51/A//1:010126000000/", true, `op51_result seq=7 status=0 SM=1:010126000000`)
	f("R/51/A/1:010126000000/", true, `op51_result seq=7 status=0 elements=1 SM=1:010126000000`)
	f("R/51/N/04/why not/", true, `op51_result seq=7 status=0x4(operation_not_allowed) SM="why not"`)
	f("R/51/N/99/", true, `op51_result seq=7 status=0x63 elements=1`)
	f("R/40/N/03//", true, `op_unknown_result seq=7 OT=40 status=0x3(operation_not_supported)`)
	var p PDU
	_ = p.Decode([]byte("\r\n"))
	if got := string(p.AppendLog(nil, true)); got != `noise malformed hex=0d0a error="is no frame"` {
		t.Error(got)
	}
	_ = p.Decode([]byte("00/00059/O/60/acme/6/5/1/733363726574"))
	if got := string(p.AppendLog(nil, true)); strings.Contains(got, "7333") {
		t.Error(got)
	}
}

// A PDU says what it is in a login.
func TestLoginStep(t *testing.T) {
	f := func(data string, want protocols.LoginStep) {
		t.Helper()
		var p PDU
		_ = p.Decode(frameOf(7, data))
		if got := p.LoginStep(); got != want {
			t.Errorf("%s: %d, want %d", data, got, want)
		}
	}
	f(loginLine, protocols.LoginRequest)
	f("O/60/", protocols.NoLogin)
	f("R/60/A//", protocols.LoginAccepted)
	f("R/60/N/07//", protocols.NoLogin)
	f("R/60/X//", protocols.NoLogin)
	f("O/61/1//1////0100/1///", protocols.NoLogin)
	f("R/31/A//", protocols.NoLogin)
}

func BenchmarkCodec(b *testing.B) {
	for _, h := range hot {
		in := h.Octets(b)
		var p PDU
		b.Run("decode/"+h.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Decode(in); err != nil {
					b.Fatal(err)
				}
			}
		})
		var out []byte
		b.Run("encode/"+h.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out = p.AppendWire(out[:0])
			}
		})
		b.Run("log/"+h.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out = p.AppendLog(out[:0], true)
			}
		})
	}
}

// The checksum is the sum, whatever its length.
func TestChecksum(t *testing.T) {
	b := bytes.Repeat([]byte{0xFF, 0x80, 7, 'Z'}, maxFrame/4)
	var sum byte
	for n := range b {
		if got := checksum(b[:n]); got != sum {
			t.Fatalf("%d octets: %02X, want %02X", n, got, sum)
		}
		sum += b[n]
	}
}
