package pdulog

import (
	"errors"
	"strings"
	"testing"

	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
)

// A disguised PDU has other texts, zeros for what only the peers understand, and everything else as it was.
func TestDisguised(t *testing.T) {
	t.Parallel()
	d := NewDecoder(func(command string) (protocols.Driver, error) {
		if strings.HasPrefix(command, "op") {
			return ucp.New(ucp.Options{}), nil
		}
		return smpp.New(smpp.Options{}), nil
	})
	for pdu, want := range map[string]string{
		`submit_sm seq=7 source_addr=1234 destination_addr=46700000001 short_message="Code 4711"`:                  `submit_sm seq=7 source_addr=1234 destination_addr=46700000001 short_message="Xxxx 0000"`,
		`submit_sm seq=7 destination_addr=46700000001 esm_class=64 short_message="\x05\x00\x03\xcc\x02\x01Hi"`:     `submit_sm seq=7 destination_addr=46700000001 esm_class=64 short_message="\x05\x00\x03\xcc\x02\x01Xx"`,
		`submit_sm seq=7 destination_addr=46700000001 data_coding=8 short_message="\x04\x14\x040"`:                 `submit_sm seq=7 destination_addr=46700000001 data_coding=8 short_message="\x04\x16\x046"`,
		`submit_sm seq=7 destination_addr=46700000001 data_coding=4 short_message="\xff\x01a"`:                     `submit_sm seq=7 destination_addr=46700000001 data_coding=4 short_message="\x00\x00\x00"`,
		`submit_sm seq=7 destination_addr=46700000001 message_payload="hello" tlv_0x1400=00ff12`:                   `submit_sm seq=7 destination_addr=46700000001 message_payload="xxxxx" tlv_0x1400=000000`,
		`submit_sm_resp seq=7 status=0 message_id=0006`:                                                            `submit_sm_resp seq=7 status=0 message_id=0006`,
		`op51 seq=7 AdC=46700000001 OAdC=1234 MT=3 AMsg="hello 1"`:                                                 `op51 seq=7 AdC=46700000001 OAdC=1234 MT=3 AMsg="xxxxx 0"`,
		`op01 seq=7 AdC=46700000001 OAdC=1234 MT=2 Msg=4711`:                                                       `op01 seq=7 AdC=46700000001 OAdC=1234 MT=2 Msg=0000`,
		`op51 seq=99 AdC=46700000001 OAdC=1234 MT=4 NB=0048 TMsg="\x04\x14\x040\x00!" XSer=01060500037F0202020108`: `op51 seq=99 AdC=46700000001 OAdC=1234 MT=4 NB=0048 TMsg="\x04\x16\x046\x00!" XSer=01060500037F0202020108`,
		`op51 seq=7 AdC=46700000001 OAdC=1234 MT=4 NB=0016 TMsg="\x01\x02" XSer=020104`:                            `op51 seq=7 AdC=46700000001 OAdC=1234 MT=4 NB=0016 TMsg="\x00\x00" XSer=020104`,
	} {
		e := mustParse(t, lineHead+pdu+" id=0006618409f86367 account=acme")
		got, err := d.AppendDisguised(nil, e)
		if err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("%s: %s, %v", pdu, got, err)
			continue
		}
		other := *e
		other.PDU = AppendNumbered(nil, got, 42)
		octets, err := d.AppendOctets(nil, &other)
		before, err2 := d.AppendOctets(nil, e)
		if err != nil || err2 != nil || len(octets) != len(before) || !strings.Contains(string(other.PDU), " seq=42") {
			t.Errorf("%s: %d octets become %d, %v, %v", pdu, len(before), len(octets), err, err2)
		}
	}
	for _, pdu := range []string{`submit_sm seq=7 malformed hex=00ff error="x"`, `submit_sm seq=7 destination_addr=46700000001 short_message=*5`} {
		if got, err := d.AppendDisguised(nil, mustParse(t, lineHead+pdu)); !errors.Is(err, protocols.ErrHidden) {
			t.Errorf("%s: %s, %v", pdu, got, err)
		}
	}
	for _, pdu := range []string{`submit_sm seq=7 short_message="secret" what=1`, `op51 seq=7 AMsg="secret" OAdC=1`, `submit_sm seq=7 malformed hex=00ff error="secret"`} {
		if _, err := d.AppendDisguised(nil, mustParse(t, lineHead+pdu)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", pdu, err) // the error is shown beside what has no texts
		}
	}
}
