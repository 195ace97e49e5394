package prototest

import (
	"testing"

	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
)

// A session line sets options of the protocol. What it cannot set it does not pass over.
func TestSessionOptions(t *testing.T) {
	t.Parallel()
	o := ucp.NewConnectorOptions()
	s := &Script{Options: protocols.SessionOptions{Options: o}}
	if err := s.options("oton=1 priority=true traffic=receiver timezone=Europe/Stockholm"); err != nil {
		t.Fatal(err)
	}
	if o.OTON != 1 || !o.Priority || o.Traffic != protocols.Receiver || o.Timezone != "Europe/Stockholm" {
		t.Errorf("the options are %+v", o)
	}
	for _, line := range []string{"oton=many", "priority=perhaps", "traffic=sideways", "nothing=1", "enquire=soon"} {
		if err := s.options(line); err == nil {
			t.Errorf("%s is taken", line)
		}
	}
	s.Options.Options = smpp.NewConnectorOptions()
	if err := s.options("tlvs=drop"); err == nil {
		t.Error("an option that is a list is passed over")
	}
}
