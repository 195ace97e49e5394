package smpp

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// The answer to a login counts by its status. What is wrong with its body is in front of what we need, or behind it.
func TestBindRespBody(t *testing.T) {
	t.Parallel()
	version := "\x02\x10\x00\x01\x34"
	for name, c := range map[string]struct {
		body, id string
		version  bool
		fails    bool
	}{
		"16 octets":           {body: "0123456789abcdef\x00" + version, id: "0123456789abcdef", version: true},
		"20 octets":           {body: "0123456789abcdef0123\x00", id: "0123456789abcdef0123"},
		"no NUL":              {body: "SMSC", id: "SMSC"},
		"16 octets, no NUL":   {body: "0123456789abcdef", id: "0123456789abcdef"},
		"a NUL too many":      {body: "SMSC\x00\x00", id: "SMSC"},
		"NULs and a version":  {body: "SMSC\x00\x00\x00" + version, id: "SMSC", version: true},
		"a parameter is cut":  {body: "SMSC\x00" + version + "\x02\x10\x00\x05\x34", id: "SMSC", version: true},
		"half a head":         {body: "SMSC\x00" + version + "\x02", id: "SMSC", version: true},
		"octets of something": {body: string(bytes.Repeat([]byte{'x'}, 100)), fails: true},
	} {
		b := append(make([]byte, HeaderLen), c.body...)
		binary.BigEndian.PutUint32(b, uint32(len(b)))
		binary.BigEndian.PutUint32(b[4:], uint32(BindTransceiverResp))
		p := &PDU{}
		err := p.Decode(b)
		if c.fails {
			if err == nil || p.Err().Behind {
				t.Errorf("%s: it can be read: %v", name, err)
			}
			continue
		}
		if err != nil && !p.Err().Behind {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := p.BindResp(); string(got.SystemID) != c.id {
			t.Errorf("%s: %q", name, got.SystemID)
		} else if v, ok := FindTLV(got.TLVs, TagVersion); ok != c.version || ok && (len(v) != 1 || v[0] != 0x34) {
			t.Errorf("%s: version %x, %t", name, v, ok)
		}
	}
}
