package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pmg/protocols/prototest"
)

func TestPDUDecode(t *testing.T) {
	f := func(want, failure, stdin string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		cmd := newPDUCommand()
		cmd.SetArgs(append([]string{"decode"}, args...))
		cmd.SetIn(strings.NewReader(stdin))
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		err := cmd.Execute()
		if (err == nil) != (failure == "") || err != nil && !strings.Contains(err.Error(), failure) {
			t.Errorf("%v: got error %v, want %q", args, err, failure)
		}
		if out.String() != want {
			t.Errorf("%v:\ngot  %s\nwant %s", args, out.String(), want)
		}
	}
	const enquire, unbind = "00000010000000150000000000000001", "00000010 00000006 00000000 00000002"
	f("enquire_link seq=1\n", "", "", enquire)
	f("enquire_link seq=1\nunbind seq=2\n", "", "", enquire+unbind)
	f("enquire_link seq=1\nunbind seq=2\n", "", enquire+"\n"+unbind+"\n\n")
	f(`{"command_length":17,"command_id":"0x80000005","command":"deliver_sm_resp","command_status":"0x00000000","sequence_number":3,"message_id":""}`+"\n",
		"", "", "--json", "0000001180000005000000000000000300")
	f("", "is not known", "", "00000010000001100000000000000001")
	f("enquire_link seq=1\n", "it has 10 of 16 octets", "", "--", enquire, enquire[:20])
	f("", "cannot decode \"xyz\"", "", "xyz")

	// U15: hex in the forms of dumps, and a bad line does not stop the others.
	f("enquire_link seq=1\n", "", "", "00:00:00:10:00:00:00:15:00:00:00:00:00:00:00:01")
	f("enquire_link seq=1\nunbind seq=2\n", "", "", "0x"+enquire+", 0x00000010 0x00000006\n0x00000000 0x00000002")
	f("enquire_link seq=1\n", "", "", strings.Fields("0x00, 0x00, 0x00, 0x10, 0x0, 0x0, 0x0, 0x15, 0, 0, 0, 0, 0, 0, 0, 1")...)
	f("enquire_link seq=1\n", "", "", `\x00\x00\x00\x10\x00\x00\x00\x15\x00\x00\x00\x00\x00\x00\x00\x01`)
	f("enquire_link seq=1\nunbind seq=2\n", "line 2: cannot decode \"xyz\": it is not hex", enquire+"\nxyz\n"+unbind+"\n")
	f("enquire_link seq=1\nunbind seq=2\n", "argument 2: cannot decode pdu: it has 10 of 16 octets", "", enquire, enquire[:20], unbind)
	f("enquire_link seq=1\nline 1: cannot decode \"x\": it is not hex\nline 3: cannot decode \"123\": it has an odd number of digits\n",
		"cannot decode 2 of 3", "x\n"+enquire+"\n123\n")
	const cyrillic = "0000003400000004" + "0000000000000005" + "000000" + "0000003100" + "000000" + "0000" + "000008" + "00" + "0c" + "041f04400438043204350442"
	if b, err := octetsOf(cyrillic); err == nil {
		whole := fmt.Sprintf("%08x", len(b)) + cyrillic[8:]
		f("submit_sm seq=5 destination_addr=1 data_coding=8 short_message=\"\\x04\\x1f\\x04@\\x048\\x042\\x045\\x04B\"\n  text: \"Привет\"\n", "", "", whole)
	}
	const submit = "02" + "30302F30303037302F4F2F30312F30313233343536373839302F30393837363534333231302F2F332F35333638364637323734323034443635373337333631363736352F4439" + "03"
	f("op01 seq=0 AdC=01234567890 OAdC=09876543210 MT=3 AMsg=\"Short Message\"\n", "", "", "--protocol", "ucp", submit)
	f(`{"TRN":0,"LEN":19,"OR":"R","OT":"60","checksum":"6D","result":"A","SM":""}`+"\n", "", "", "--protocol", "ucp", "--json", "0230302F30303031392F522F36302F412F2F364403")
	f("", "is no frame", "", "--protocol", "ucp", "0d0a"+submit)
	f("", "cannot speak protocol", "", "--protocol", "morse", enquire)
}

// Every valid vector is printed as a line of the pdu log that begins with its command, and as
// JSON with the fields that the vector expects.
func TestPDUDecodeVectors(t *testing.T) {
	valid, _ := prototest.Vectors(t, "../../protocols/smpp/testdata")
	for _, v := range valid {
		command := v.Expect["command"].(string)
		line, err := pmg(t, "pdu decode "+v.Hex)
		if err != nil || !strings.HasPrefix(line, command+" seq=") || strings.Contains(line, "malformed") {
			t.Errorf("%s: %q, %v", v.Name, line, err)
		}
		object, err := pmg(t, "pdu decode --json "+v.Hex)
		var fields map[string]any
		if err != nil || json.Unmarshal([]byte(object), &fields) != nil {
			t.Errorf("%s: %q, %v", v.Name, object, err)
		}
		for name, want := range v.Expect {
			if got := fields[name]; name != "text" && name != "udh" && !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s is %v, want %v", v.Name, name, got, want)
			}
		}
	}
}
