package smpp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"pmg/protocols/prototest"
)

// A PDU that is cut off at any place does not decode.
func TestPrefixesAreRejected(t *testing.T) {
	suite.Prefixes(t, func(n, want int) bool { return want > n })
}

// A PDU that is cut off but has a matching command_length ends inside a field, unless only
// optional parts are missing.
func TestShortBodies(t *testing.T) {
	valid, _ := prototest.Vectors(t, "testdata")
	for _, v := range valid {
		in := v.Octets(t)
		var p PDU
		if err := p.Decode(in); err != nil {
			t.Fatal(err)
		}
		optional := len(p.Parameters()) + len(p.withExtras().rest)
		mandatory := len(in) - optional
		for n := HeaderLen; n < mandatory; n++ {
			cut := bytes.Clone(in[:n])
			binary.BigEndian.PutUint32(cut, uint32(n))
			err := p.Decode(cut)
			if noBody := n == HeaderLen && p.ID.IsResponse(); (err == nil) != noBody {
				t.Fatalf("%s: %d of %d octets: %v", v.Name, n, len(in), err)
			}
			var e *Error
			if err != nil && (!errors.As(err, &e) || e.Status == 0 || e.Lost || p.Err() != e) {
				t.Fatalf("%s: %d octets: %#v", v.Name, n, err)
			}
		}
	}
}

// Each field that is too long or missing leads to its status in §5.1.3.
func TestFieldStatus(t *testing.T) {
	long := strings.Repeat("1", 70)
	f := func(line string, want uint32) {
		t.Helper()
		var p PDU
		err := p.Decode(wireOf(t, line))
		var e *Error
		if !errors.As(err, &e) || e.Status != want {
			t.Errorf("%s: got %v, want status %#x", line, err, want)
		}
	}
	f("submit_sm seq=1 service_type="+long, StatusInvSerTyp)
	f("submit_sm seq=1 source_addr="+long, StatusInvSrcAdr)
	f("submit_sm seq=1 destination_addr="+long, StatusInvDstAdr)
	f("submit_sm seq=1 schedule_delivery_time="+long, StatusInvSched)
	f("submit_sm seq=1 validity_period="+long, StatusInvExpiry)
	f("submit_sm_resp seq=1 status=0 message_id="+long, StatusInvMsgID)
	f("bind_receiver seq=1 system_id="+long, StatusInvSysID)
	f("bind_receiver seq=1 password="+long, StatusInvPaswd)
	f("bind_receiver seq=1 system_type="+long, StatusInvSysTyp)
	f("bind_receiver seq=1 address_range="+long, StatusBindFail)
}

// Fields of any content are the same after decoding from wire format and from the log.
func TestRandomPDUs(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	octets := func(most int, from byte) []byte {
		b := make([]byte, r.IntN(most+1))
		for i := range b {
			b[i] = from + byte(r.IntN(256-int(from)))
		}
		return b
	}
	u8 := func() uint8 { return uint8(r.Uint32() * (r.Uint32() & 1)) }
	tlvs := func() (b []byte) {
		for range r.IntN(4) {
			tag := uint16(r.Uint32())
			if r.IntN(2) == 0 {
				tag = parameters[r.IntN(len(parameters))].tag
			}
			b = AppendTLV(b, tag, octets(5, 0))
		}
		return b
	}
	for range 3000 {
		p := PDU{SequenceNumber: r.Uint32(), CommandStatus: r.Uint32() & 0x7F}
		p.ID = commands[1+r.IntN(len(commands)-1)].id
		p.SM = SM{
			ServiceType: octets(5, 1), SourceTON: u8(), SourceNPI: u8(), SourceAddr: octets(20, 1),
			DestTON: u8(), DestNPI: u8(), DestAddr: octets(20, 1), ESMClass: u8(), ProtocolID: u8(),
			PriorityFlag: u8(), ScheduleDeliveryTime: octets(16, 1), ValidityPeriod: octets(16, 1),
			RegisteredDelivery: u8(), ReplaceIfPresent: u8(), DataCoding: u8(), DefaultMsgID: u8(),
			ShortMessage: octets(255, 0), TLVs: tlvs(),
		}
		if p.Body = u8() != 0; p.Body {
			p.SMResp.MessageID, p.withExtras().tlvs = octets(64, 1), tlvs()
			*p.BindResp() = BindResp{SystemID: octets(15, 1), TLVs: tlvs()}
		}
		*p.Bind() = Bind{SystemID: octets(15, 1), Password: octets(8, 1), SystemType: octets(12, 1),
			InterfaceVersion: u8(), AddrTON: u8(), AddrNPI: u8(), AddressRange: octets(40, 1)}
		*p.Dests() = randomList(r, new(Destination))
		if other := p.Other(); other != nil {
			randomize(r, reflect.ValueOf(other).Elem())
			p.withExtras().tlvs = tlvs()
		}
		in := p.AppendWire(nil)
		var q PDU
		if err := q.Decode(in); err != nil {
			t.Fatalf("%x: %v", in, err)
		}
		throughLog(t, &q, in)
	}
}

// randomize fills the fields of a body. Strings are short enough for every field.
func randomize(r *rand.Rand, v reflect.Value) {
	lists := map[string]Fields{"Dests": new(Destination), "Unsuccess": new(Unsuccessful), "MessageIDs": new(oldID)}
	for i := range v.NumField() {
		f := v.Field(i)
		switch {
		case f.Kind() == reflect.Struct:
			randomize(r, f)
		case f.Kind() == reflect.Slice && lists[v.Type().Field(i).Name] != nil:
			f.SetBytes(randomList(r, lists[v.Type().Field(i).Name]))
		case f.Kind() == reflect.Slice:
			f.SetBytes(bytes.Repeat([]byte{byte(1 + r.IntN(255))}, r.IntN(6)))
		case f.CanUint():
			f.SetUint(uint64(r.IntN(256)))
		}
	}
}

// randomList returns a list in wire format.
func randomList(r *rand.Rand, item Fields) []byte {
	n := r.IntN(4)
	w := Walk{mode: write, b: []byte{byte(n)}}
	for range n {
		if v := reflect.ValueOf(item).Elem(); v.Kind() == reflect.Struct {
			randomize(r, v)
		} else {
			v.SetBytes([]byte("1a2b"))
		}
		if d, ok := item.(*Destination); ok {
			d.Flag = uint8(flagAddress + r.IntN(2))
		}
		item.walk(&w)
	}
	return w.b
}

func TestCodecDoesNotAllocate(t *testing.T) { suite.CodecDoesNotAllocate(t) }

// A PDU that is used again after an error keeps nothing from before.
func TestReuse(t *testing.T) {
	var p PDU
	if err := p.Decode(hot[0].Octets(t)); err != nil {
		t.Fatal(err)
	}
	bad := bytes.Clone(hot[0].Octets(t)[:20])
	bad[3] = 20
	if p.Decode(bad) == nil {
		t.Fatal("a short PDU decodes")
	}
	if p.SM.ShortMessage != nil || p.SM.SourceAddr != nil {
		t.Error("the old text is still there")
	}
	if err := p.Decode(hot[1].Octets(t)); err != nil || p.Err() != nil {
		t.Error("the old error is still there")
	}
	for _, before := range hot {
		for _, h := range hot {
			for _, octets := range []string{before.Hex, h.Hex} {
				p.Reset()
				if err := p.Decode(prototest.Octets(t, octets)); err != nil {
					t.Fatal(err)
				}
			}
			if got := p.AppendWire(nil); !bytes.Equal(got, h.Octets(t)) {
				t.Errorf("%s after %s: %x", h.Name, before.Name, got)
			}
		}
	}
}

// S14: many PDUs must fit in the processor's cache. An answer needs only the first cache line
// of its PDU.
func TestSize(t *testing.T) {
	if size := unsafe.Sizeof(PDU{}); size > 272 {
		t.Errorf("a PDU takes %d octets, want at most 272", size)
	}
	if end := unsafe.Offsetof(PDU{}.scratch); end > 64 {
		t.Errorf("the fields of an answer take %d octets, want at most 64", end)
	}
}

// The extras of a PDU are allocated once. A PDU that is used again for another bind, and then
// for a malformed PDU, does not allocate.
func TestExtrasAreKept(t *testing.T) {
	bind := wireOf(t, "bind_transceiver seq=1 system_id=acme password=s3cret interface_version=0x34")
	rest := wireOf(t, "enquire_link seq=1 rest=0a0b")
	var p PDU
	n := testing.AllocsPerRun(100, func() {
		for _, in := range [][]byte{bind, rest} {
			if err := p.Decode(in); err != nil {
				t.Fatal(err)
			}
			p.Reset()
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
	if err := p.Decode(hot[1].Octets(t)); err != nil || p.hasExtras {
		t.Errorf("a submit_sm_resp has extras (%v)", err)
	}
}

// A PDU after Reset does not keep a long text in memory.
func TestResetKeepsLittle(t *testing.T) {
	for _, n := range []int{10, 2 * keepOwn} {
		p := PDU{ID: SubmitSM, SM: SM{SourceAddr: []byte("1"), TLVs: make([]byte, n)}}
		p.Reset()
		if kept := p.SM.TLVs != nil || p.SM.SourceAddr != nil; kept != (n <= keepOwn) {
			t.Errorf("%d octets are kept: %t", n, kept)
		}
	}
}
