package main

import (
	"bytes"
	"strings"
	"testing"
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
	f("enquire_link seq=1\n", "10 of 16 octets are there", "", "--", enquire, enquire[:20])
	f("", "cannot decode \"xyz\"", "", "xyz")
	f("", "cannot speak protocol", "", "--protocol", "morse", enquire)
}
