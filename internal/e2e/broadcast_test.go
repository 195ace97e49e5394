package e2e

import (
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/protocols"
	"pmg/sms"
)

// A client's broadcast is refused, and so are operations about broadcasts. The session goes on.
func TestBroadcastRefused(t *testing.T) {
	parallel(t)
	g := start(t, site{operator: newSMSC(t), clients: "version: 5.0"})
	c := g.bindFive()
	c.ask(`broadcast_sm seq=2 source_addr=1234 broadcast_area_identifier="\x00North" broadcast_content_type="\x01\x00\x10" `+
		`broadcast_rep_num=1 broadcast_frequency_interval="\x08\x00\x05"`, "status=0x10d(ESME_RBCASTFAIL)")
	c.ask("query_broadcast_sm seq=3 message_id=0000000000000001 source_addr=1234", "status=0x10e(ESME_RBCASTQUERYFAIL)")
	c.ask("cancel_broadcast_sm seq=4 message_id=0000000000000001 source_addr=1234", "status=0x10f(ESME_RBCASTCANCELFAIL)")
	c.submitOne(5)
	if n := g.stats("clients").Accepted.Load(); n != 1 {
		t.Errorf("%d messages were accepted", n)
	}
}

// A broadcast that an earlier version has accepted and stored is not sent, and least of all as
// another message: it ends, and the log and its event say why.
func TestStoredBroadcast(t *testing.T) {
	parallel(t)
	events := t.TempDir()
	s := site{operator: newSMSC(t), store: vfs.NewCrashableMem(), top: eventsIn(events)}
	broadcast, other := leftMessage(1), leftMessage(2)
	broadcast.Flags = sms.Broadcast
	broadcast.Set(sms.Address{Addr: []byte("1234")}, sms.Address{}, []byte(strings.Repeat("long", 50)))
	broadcast.SetNative(protocols.SMPP, []byte("\x00\x00\x00\x00\x00\x00\x06\x06\x00\x06\x00North"))
	leave(t, s.store, broadcast, other)
	g := start(t, s)
	smsc := s.operator.session()
	smsc.answer(0, field(smsc.want("submit_sm", `short_message="0"`), "seq")) // and nothing before it
	g.settled()
	smsc.fence()
	if !smsc.silent("_sm") {
		t.Error("the broadcast was sent")
	}
	if sent, failed := g.stats("operator").Sent.Load(), g.stats("operator").Failed.Load(); sent != 1 || failed != 1 {
		t.Errorf("%d were sent, %d have failed", sent, failed)
	}
	if want := "a broadcast that an earlier version has accepted is given up"; strings.Count(g.log.String(), want) != 1 {
		t.Errorf("the log does not say once that %s", want)
	}
	smsc.conn.Close()
	g.stop()
	if e := readEvents(t, events)[0]; e.ID != sms.FormatID(1) || e.State != "rejected" || e.Reason != "unsupported" {
		t.Errorf("its event: %+v", e)
	}
}
