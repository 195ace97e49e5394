package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const broadcastFields = ` source_addr=1234 broadcast_area_identifier="\x00North" broadcast_content_type="\x01\x00\x10" broadcast_rep_num=1 broadcast_frequency_interval="\x08\x00\x05"`

// bindVersion accepts the gateway's next connection, with a version.
func (s *smsc) bindVersion(version string) *peer {
	s.t.Helper()
	p := s.accept()
	line := p.want("bind_transceiver")
	p.send("bind_transceiver_resp seq=" + field(line, "seq") + " status=0 system_id=SMSC sc_interface_version=" + version)
	return p
}

// broadcast sends a broadcast with further fields before its optional parameters, and returns its
// id.
func (p *peer) broadcast(seq int, more string) (id string) {
	p.t.Helper()
	p.send(fmt.Sprintf("broadcast_sm seq=%d", seq) + strings.Replace(broadcastFields, " broadcast_area", more+" broadcast_area", 1))
	return field(p.want("broadcast_sm_resp", fmt.Sprint("seq=", seq), "status=0"), "message_id")
}

// withBroadcasts returns a site whose SMSC takes broadcasts.
func withBroadcasts(t *testing.T) site {
	return site{operator: newSMSC(t), store: vfs.NewCrashableMem(), clients: "version: 5.0", out: "static: true, broadcast: true, bind: transceiver, version: 5.0"}
}

const (
	broadcastQueryFail  = "status=0x10e(ESME_RBCASTQUERYFAIL)"
	broadcastCancelFail = "status=0x10f(ESME_RBCASTCANCELFAIL)"
)

// A client's broadcast is sent to an SMSC whose connector takes broadcasts. While it waits, over
// a power cut too, the client can ask for it and cancel it.
func TestBroadcast(t *testing.T) {
	parallel(t)
	s := withBroadcasts(t)
	g := start(t, s)
	smsc := s.operator.bindVersion("0x50")
	c := g.bindFive()
	c.broadcast(2, " priority_flag=1 validity_period=371130120000000+ data_coding=8 sm_default_msg_id=3")
	line := smsc.want("broadcast_sm")
	seq := field(line, "seq")
	if want := "broadcast_sm seq=" + seq + strings.Replace(broadcastFields, " broadcast_area", " priority_flag=1 validity_period=371130120000000+ data_coding=8 sm_default_msg_id=3 broadcast_area", 1); line != want {
		t.Errorf("\ngot  %s\nwant %s", line, want)
	}
	smsc.send("broadcast_sm_resp seq=" + seq + " status=0 message_id=1A2B")
	smsc.fence()
	g.settled()
	id := c.broadcast(3, " schedule_delivery_time=000001000000000R")
	g = g.powerCut(&s, c, smsc)
	smsc = s.operator.bindVersion("0x50")
	c = g.bindFive()
	c.ask("query_broadcast_sm seq=4 message_id="+id+" source_addr=1234", "status=0", "message_id="+id, "message_state=0",
		`broadcast_area_identifier="\x00North"`, "broadcast_area_success=255")
	c.ask("query_sm seq=5 message_id="+id+" source_addr=1234", queryFail)
	c.ask("cancel_sm seq=6 message_id="+id+" source_addr=1234", cancelFail)
	c.ask("replace_sm seq=7 message_id="+id+` source_addr=1234 short_message="other"`, replaceFail)
	c.ask("cancel_broadcast_sm seq=8 message_id="+id+" source_addr=1234", "status=0")
	c.ask("query_broadcast_sm seq=9 message_id="+id+" source_addr=1234", broadcastQueryFail)
	g.settled()
	smsc.fence()
	if !smsc.silent("broadcast_sm") {
		t.Error("a broadcast was sent twice, or before its time")
	}
}

// The SMSC that has a broadcast is asked for it, by the operations for broadcasts alone, also
// behind a power cut.
func TestBroadcastForward(t *testing.T) {
	parallel(t)
	s := withBroadcasts(t)
	s.accounts = "{system_id: other, password: s3cret}"
	g := start(t, s)
	smsc := s.operator.bindVersion("0x50")
	c := g.bindFive()
	id := c.broadcast(2, "")
	smsc.send("broadcast_sm_resp seq=" + field(smsc.want("broadcast_sm"), "seq") + " status=0 message_id=smsc-7")
	smsc.fence()
	g.settled()
	g = g.powerCut(&s, c, smsc)
	smsc = s.operator.bindVersion("0x50")
	g.online("operator", 1)
	c = g.bindFive()
	about := func(command string, seq int) string {
		return fmt.Sprintf("%s seq=%d message_id=%s source_addr=1234", command, seq, id)
	}
	there := []string{"message_id=smsc-7", "source_addr=1234"}
	const areas = ` broadcast_area_identifier="\x00North" broadcast_area_success=40 broadcast_end_time="261122120100000+"`
	asked(c, smsc, about("query_broadcast_sm", 10), there, "status=0 message_id=smsc-7 message_state=1"+areas,
		append(strings.Fields(areas), "status=0", "message_id="+id, "message_state=1")...)
	asked(c, smsc, about("query_broadcast_sm", 11), there, "status=0x10e", broadcastQueryFail)
	asked(c, smsc, about("cancel_broadcast_sm", 12), there, "status=0x10f", broadcastCancelFail)
	asked(c, smsc, about("cancel_broadcast_sm", 13), there, "status=0xc", invalidID)
	asked(c, smsc, about("cancel_broadcast_sm", 14), there, "status=0", "status=0")
	c.ask(about("query_sm", 15), queryFail)
	c.ask(about("cancel_sm", 16), cancelFail)
	c.ask(about("replace_sm", 17)+` short_message="other"`, replaceFail)
	c.ask(strings.Replace(about("cancel_broadcast_sm", 18), " message_id", " service_type=CBS message_id", 1), broadcastCancelFail)
	other := g.dial("clients")
	other.send("bind_transceiver seq=1 system_id=other password=s3cret interface_version=0x50")
	other.want("bind_transceiver_resp", "seq=1", "status=0")
	other.ask(about("query_broadcast_sm", 19), broadcastQueryFail)
	other.ask(about("cancel_broadcast_sm", 20), broadcastCancelFail)
	smsc.fence()
	if !smsc.silent("_sm") {
		t.Error("the SMSC was asked for what it must not be asked for")
	}
}

// A broadcast is refused where no connector takes it.
func TestBroadcastRefused(t *testing.T) {
	parallel(t)
	notSent(t, false)
}

// An SMSC of SMPP 3.4 is not sent a broadcast. Which version it has is known too late for a refusal.
func TestBroadcastTo34(t *testing.T) {
	parallel(t)
	notSent(t, true)
}

// notSent checks that a client's broadcast does not reach an SMSC of SMPP 3.4, whose connector
// says that it takes broadcasts or not.
func notSent(t *testing.T, takes bool) {
	s := site{operator: newSMSC(t), clients: "version: 5.0", out: fmt.Sprintf("static: true, broadcast: %t, bind: transceiver, version: 5.0", takes)}
	g := start(t, s)
	smsc := s.operator.bindVersion("0x34")
	c := g.bindFive()
	status := "status=0"
	if !takes {
		status = "status=0x10d(ESME_RBCASTFAIL)"
	}
	c.send("broadcast_sm seq=2" + broadcastFields)
	c.want("broadcast_sm_resp", "seq=2", status)
	c.submit(3, 3)
	c.want("submit_sm_resp", "seq=3", "status=0")
	line := smsc.want("submit_sm") // and no broadcast before it
	smsc.answer(0, field(line, "seq"))
}
