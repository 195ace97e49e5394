package e2e

import (
	"bytes"
	"strings"
	"testing"
)

// Each recipient of a submit_multi gets a message. The client has one id for all of them, and is
// told which recipients were refused, and why.
func TestRecipients(t *testing.T) {
	parallel(t)
	stores(t, func(t *testing.T, s site) {
		s.out = "window: 10"
		s.clients = `rewrite: [{in: destination, deny: ["4790*"]}]`
		s.routes = "{to: operator, destination: 47}\n{to: operator, destination: 46}"
		g := start(t, s)
		c, smsc := g.bind("transmitter"), s.operator.session()
		g.online("operator", 1)
		multi := func(seq string, more string) string {
			return "submit_multi seq=" + seq + " source_addr=1234 " + more
		}
		c.send(multi("2", `number_of_dests=6 dest_flag=1 destination_addr=46700000001 dest_flag=2 dl_name=friends dest_flag=1 dest_addr_ton=1 destination_addr=4911 dest_flag=1 destination_addr=4790 `+
			`dest_flag=1 destination_addr=4711 dest_flag=1 destination_addr=46700000001 schedule_delivery_time=000000010000000R short_message="hi"`))
		line := c.want("submit_multi_resp", "seq=2", "status=0")
		id := field(line, "message_id")
		if !strings.Contains(line, "no_unsuccess=3 destination_addr=friends error_status_code=0x44(ESME_RCNTSUBDL) dest_addr_ton=1 destination_addr=4911 error_status_code=0xb(ESME_RINVDSTADR) destination_addr=4790 error_status_code=0xb(ESME_RINVDSTADR)") {
			t.Errorf("the answer is %s", line)
		}
		if n := g.Scheduled(); n != 3 {
			t.Errorf("%d messages wait for their time", n)
		}
		c.ask("query_sm seq=3 message_id="+id+" source_addr=1234", "status=0", "message_state=1")
		c.ask(`replace_sm seq=4 message_id=`+id+` source_addr=1234 short_message="new"`, replaceFail)
		c.ask("cancel_sm seq=5 message_id="+id+" source_addr=1234 destination_addr=4711", "status=0")
		if n := g.Scheduled(); n != 2 {
			t.Errorf("%d messages wait for their time", n)
		}
		c.ask("cancel_sm seq=6 message_id="+id+" source_addr=1234", "status=0")
		if n := g.Scheduled(); n != 0 {
			t.Errorf("%d messages wait for their time", n)
		}
		c.send(multi("7", `number_of_dests=2 dest_flag=1 destination_addr=4712 dest_flag=1 destination_addr=4713 short_message="hi"`))
		c.want("submit_multi_resp", "seq=7", "status=0")
		for _, dest := range []string{"4712", "4713"} {
			smsc.answer(0, field(smsc.want("submit_sm", "destination_addr="+dest, `short_message="hi"`), "seq"))
		}
		c.send(multi("8", `number_of_dests=2 dest_flag=1 destination_addr=4911 dest_flag=2 dl_name=friends short_message="hi"`))
		c.want("submit_multi_resp", "seq=8", "status=0xb(ESME_RINVDSTADR)")
		g.settled()
		if n := g.stats("clients").Accepted.Load(); n != 5 {
			t.Errorf("%d messages count as accepted", n)
		}
	})
}

// Recipients for which there is no room are refused; the queue is not overfilled.
func TestRecipientsFull(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), memory: true, out: "window: 1, max_queue: 3"}
	g := start(t, s)
	c, smsc := g.bind("transmitter"), s.operator.session()
	g.online("operator", 1)
	c.send("submit_multi seq=2 source_addr=1234 number_of_dests=5" + strings.Repeat(" dest_flag=1 destination_addr=46700000001", 5) + ` short_message="hi"`)
	line := c.want("submit_multi_resp", "seq=2", "status=0", "no_unsuccess=2")
	if n := strings.Count(line, "0x14(ESME_RMSGQFUL)"); n != 2 {
		t.Errorf("the answer is %s", line)
	}
	for range 3 {
		smsc.answer(0, field(smsc.want("submit_sm", `short_message="hi"`), "seq"))
	}
	g.settled()
}

// The operation 02 of UCP does the same.
func TestRecipientsUCP(t *testing.T) {
	parallel(t)
	s := site{operator: newSMSC(t), memory: true, clients: "protocol: ucp"}
	g := start(t, s)
	c, smsc := g.ucpClient(), s.operator.session()
	g.online("operator", 1)
	c.send(`op02 seq=1 NPL=3 RAd=46700000001 RAd=x RAd=46700000002 OAdC=1234 MT=3 AMsg="hello"`)
	c.want("op02_result seq=1 status=0 SM=*")
	for _, dest := range []string{"46700000001", "46700000002"} {
		smsc.answer(0, field(smsc.want("submit_sm", "destination_addr="+dest, `short_message="hello"`), "seq"))
	}
	c.send(`op02 seq=2 NPL=2 RAd=x RAd=y OAdC=1234 MT=3 AMsg="hello"`)
	c.want("op02_result seq=2 status=0x6(adc_invalid)")
	g.settled()
}

// A1: one PDU becomes a bounded number of short messages, whatever it asks for: of 255 recipients
// of a text of 254 parts, 16 are accepted, and the others may be sent later.
func TestPartsOfOnePDU(t *testing.T) {
	parallel(t)
	s := site{
		accounts: "{system_id: big, password: s3cret, share: 100, max_parts: 255}", more: downRow(t, "operator", "max_queue: 1000000, long_messages: split8"), routes: "{to: operator}",
		silent: true,
	}
	g := start(t, s)
	multi := "submit_multi seq=2 source_addr=1234 number_of_dests=255" + strings.Repeat(" dest_flag=1 destination_addr=46700000001", 255) + " data_coding=8 message_payload=" + quoted(bytes.Repeat([]byte{4, 0x1F}, 17_000))
	c := dial(t, g.addr("clients"))
	c.bind("transmitter", "big", "s3cret")
	c.send(multi)
	line := c.want("submit_multi_resp", "seq=2", "status=0", "no_unsuccess=239")
	if n := strings.Count(line, "0x14(ESME_RMSGQFUL)"); n != 239 {
		t.Errorf("%d recipients have no room", n)
	}
	if n := g.Pending(); n != 16*254 {
		t.Errorf("%d messages wait", n)
	}
	c = g.bind("transmitter") // with max_parts: 10
	c.send(multi)
	c.want("submit_multi_resp", "seq=2", "status=0x1(ESME_RINVMSGLEN)")
	if n := g.Pending(); n != 16*254 {
		t.Errorf("%d messages wait", n)
	}
}
