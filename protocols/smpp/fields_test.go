package smpp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"pmg/sms"
)

// A layout is a field of a request as the specification lays it out: a number of so many octets, or a string of at
// most so many with its NUL. status answers a request in which the string is longer.
type layout struct {
	octets, most int
	status       uint32
}

// layouts are the bodies of requests of SMPP 3.4, with the statuses that it names, written down from the specification.
var layouts = map[uint32][]layout{
	0x00000003: {{0, 65, 0x0C}, {1, 0, 0x48}, {1, 0, 0x49}, {0, 21, 0x0A}},                                                          // query_sm
	0x00000008: {{0, 6, 0x15}, {0, 65, 0x0C}, {1, 0, 0x48}, {1, 0, 0x49}, {0, 21, 0x0A}, {1, 0, 0x50}, {1, 0, 0x51}, {0, 21, 0x0B}}, // cancel_sm
	0x00000007: {{0, 65, 0x0C}, {1, 0, 0x48}, {1, 0, 0x49}, {0, 21, 0x0A}, {0, 17, 0x61}, {0, 17, 0x62}},                            // replace_sm
	0x00000004: {{0, 6, 0x15}, {1, 0, 0x48}, {1, 0, 0x49}, {0, 21, 0x0A}, {1, 0, 0x50}, {1, 0, 0x51}, {0, 21, 0x0B},
		{1, 0, 0x43}, {1, 0, 0}, {1, 0, 0x06}, {0, 17, 0x61}, {0, 17, 0x62}, {1, 0, 0x07}}, // submit_sm
}

// A string that is longer than its field has the status of that field, and one of the whole
// length has not.
func TestStatusOfLongFields(t *testing.T) {
	for command, fields := range layouts {
		for i, f := range fields {
			if f.most == 0 {
				continue
			}
			for _, n := range []int{f.most - 1, f.most} {
				var body []byte
				for j := range fields {
					if j == i {
						body = append(body, bytes.Repeat([]byte("1"), n)...)
					}
					body = append(body, 0)
				}
				body = append(body, make([]byte, 8)...)
				b := binary.BigEndian.AppendUint32(nil, uint32(16+len(body)))
				b = binary.BigEndian.AppendUint32(b, command)
				b = append(binary.BigEndian.AppendUint64(b, 1), body...)
				p := new(PDU)
				err := p.Decode(b)
				if got := statusIn(p); n == f.most && (err == nil || got != f.status) || n < f.most && got == f.status {
					t.Errorf("command %#x, field %d of %d characters: %v, status %#x, want %#x", command, i, n, err, got, f.status)
				}
			}
		}
	}
}

// statusIn returns the status that a PDU is refused with, 0 if it can be read.
func statusIn(p *PDU) uint32 {
	if p.Err() == nil {
		return 0
	}
	return p.Err().Status
}

// A text that was converted leaves with the data_coding of what it is now, and one that was
// not with that which it came with.
func TestDataCodingOfConverted(t *testing.T) {
	for _, row := range []struct {
		native, want uint8
		a            sms.Alphabet
		flags        sms.Flags
	}{
		{3, 3, sms.Latin1, 0}, {3, 8, sms.UCS2, sms.Converted}, {3, 0, sms.Default, sms.Converted}, {0xF5, 0xF5, sms.Binary, 0},
		{0, 8, sms.UCS2, 0}, {13, 13, sms.Other, 0}, {1, 0, sms.DefaultUTF8, sms.Converted},
	} {
		m := &sms.Message{Alphabet: row.a, Flags: row.flags}
		if got := dataCoding(m, row.native); got != row.want {
			t.Errorf("%d, %d: data_coding %d, want %d", row.native, row.a, got, row.want)
		}
	}
}

// Every data_coding that says an alphabet and a class is written as it is read.
func TestCodings(t *testing.T) {
	for dcs, want := range map[uint8]string{
		0: "0 none", 1: "1 none", 3: "2 none", 8: "3 none", 2: "4 none", 4: "4 none", 5: "5 none", 6: "11 none", 7: "12 none", 13: "5 none", 0xBF: "5 none", 0xC0: "0 none", 0xC8: "0 none", 0xDF: "0 none", 0xE0: "3 none", 0xEF: "3 none",
		0x10: "0 0", 0x13: "0 3", 0x14: "4 0", 0x18: "3 0", 0x1B: "3 3", 0xF0: "0 0", 0xF1: "0 1", 0xF4: "4 0", 0xF7: "4 3", 0x1C: "5 none",
	} {
		a, c := codingOf(dcs)
		class := "none"
		if c != sms.NoClass {
			class = fmt.Sprint(c - sms.Class0)
		}
		if got := fmt.Sprintf("%d %s", a, class); got != want {
			t.Errorf("data_coding %#x: %s, want %s", dcs, got, want)
		}
		if again, cl := codingOf(dcsOf(a, c)); a != sms.Other && (again != a || cl != c) {
			t.Errorf("data_coding %#x is written as %#x", dcs, dcsOf(a, c))
		}
	}
}
