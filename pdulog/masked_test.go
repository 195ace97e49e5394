package pdulog

import (
	"regexp"
	"strings"
	"testing"

	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
)

// Somebody who may not see texts sees no part of one, whatever the protocol and however the line has it, and finds no line by it. The rest
// of the line is there.
func TestMasked(t *testing.T) {
	t.Parallel()
	d := NewDecoder(func(command string) (protocols.Driver, error) {
		switch {
		case strings.HasPrefix(command, "op"):
			return ucp.New(ucp.Options{}), nil
		case strings.HasPrefix(command, "http"):
			return httpsms.New(), nil
		}
		return smpp.New(smpp.Options{}), nil
	})
	const about = ` id=1a1fb0c12c230d41 account="<b>"`
	for pdu, want := range map[string]string{
		`submit_sm seq=7 source_addr=46 short_message="secret" tlv_0x1400=736563726574`: `submit_sm seq=7 source_addr=46 short_message=*6 tlv_0x1400=*6`,
		`submit_sm seq=7 source_addr=46 short_message="*secret*"`:                       `submit_sm seq=7 source_addr=46 short_message=*8`,
		`submit_sm seq=7 source_addr=46 message_payload="secret"`:                       `submit_sm seq=7 source_addr=46 message_payload=*6`,
		`submit_sm seq=7 source_addr=46 short_message=*5`:                               `submit_sm seq=7 source_addr=46 short_message=*5`,
		`submit_sm seq=7 malformed hex=736563726574 error="service_type does not end"`:  `submit_sm seq=7 malformed hex=*6 error="service_type does not end"`,
		`submit_sm seq=7 source_addr=46 tlv_0x1400=00ff*62`:                             `submit_sm seq=7 source_addr=46 tlv_0x1400=*62`,
		`bind_transceiver seq=1 system_id=acme password=*** interface_version=52`:       `bind_transceiver seq=1 system_id=acme password=*** interface_version=52`,
		`submit_sm_resp seq=7 status=0x58(ESME_RTHROTTLED)`:                             `submit_sm_resp seq=7 status=0x58(ESME_RTHROTTLED)`,
		`op51 seq=18 AdC=012345 OAdC=09876 MT=3 AMsg="secret"`:                          `op51 seq=18 AdC=012345 OAdC=09876 MT=3 AMsg=*6`,
		`http_submit seq=7 path="/v1/messages" from=Shop text="secret"`:                 `http_submit seq=7 path="/v1/messages" from=Shop text=*6`,
		`http_submit seq=7 text=*6 from=Shop`:                                           `http_submit seq=7 text=*6 from=Shop`,
		`http_call_resp seq=7 status=429(429-Too-Many-Requests) answer="secret"`:        `http_call_resp seq=7 status=429(429-Too-Many-Requests) answer=*6`,
		`http_submit_resp seq=7 status=0(202-Accepted)`:                                 `http_submit_resp seq=7 status=0(202-Accepted)`,
		`submit_sm seq=x secret="secret"`:                                               `submit_sm (cannot be read)`,
		`invented "secret"`:                                                             `invented (cannot be read)`,
	} {
		e := mustParse(t, lineHead+pdu+about)
		if got := string(d.AppendMasked(nil, e)); strings.Contains(got, "secret") || !strings.HasPrefix(want, "submit_sm (") && !strings.HasPrefix(want, "inv") && !strings.HasSuffix(got, about) || strings.TrimSuffix(got, about) != lineHead+want {
			t.Errorf("%s\n\t%s", pdu, got)
		}
		for pattern, finds := range map[string]bool{"secret": false, "^2026.*clients": true, "736563": false} {
			if f := (&Filter{Grep: regexp.MustCompile(pattern), Decoder: d, Masked: true}); f.Match(e) != finds {
				t.Errorf("%s: %s: %t", pdu, pattern, !finds)
			}
		}
	}
}

// No more of each log is read than the octets that are asked for, over rotated files, but for those that are compressed.
func TestOctets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	line := func(n int) string { return lineHead + "submit_sm seq=" + string(rune('0'+n)) + "\n" }
	mustWrite(t, dir+"/clients-20261120T190000.000000.log", line(1)+line(2)+line(3))
	mustWrite(t, dir+"/clients.log", line(4)+line(5))
	one := int64(len(line(1)))
	for octets, want := range map[int64][]int{1: {}, one - 1: {}, one: {5}, one + 1: {5}, 2 * one: {4, 5}, 3*one + 5: {3, 4, 5}, 5 * one: {1, 2, 3, 4, 5}, 1 << 40: {1, 2, 3, 4, 5}, 0: {1, 2, 3, 4, 5}} {
		wantNumbers(t, readAll(t, dir, Query{Octets: octets}), want)
		if len(want) > 2 {
			want = want[len(want)-2:]
		}
		wantNumbers(t, readAll(t, dir, Query{Octets: octets, Last: 2}), want)
	}
}
