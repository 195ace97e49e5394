package smpp

import (
	"reflect"
	"testing"

	"pmg/protocols"
	"pmg/sms"
)

// An operation on a message carries the peer's id of it and its addresses. Its answer is read, or
// is none.
func TestAsk(t *testing.T) {
	const now = 1_795_348_800e9 // 2026-11-22 12:00
	m := &sms.Message{Notify: sms.NotifySuccess | sms.NotifyFailure, DeliverAt: now + 60e9, Expires: now + 3600e9}
	m.Set(sms.Address{TON: 5, NPI: 1, Addr: []byte("PMG")}, sms.Address{TON: 1, NPI: 1, Addr: []byte("46700000001")}, []byte("new"))
	const source, times = "message_id=4711 source_addr_ton=5 source_addr_npi=1 source_addr=PMG", "schedule_delivery_time=261122120100000+ validity_period=261122130000000+"
	for _, f := range []struct {
		kind         protocols.OperationKind
		want, answer string
		action       protocols.Action
		result       protocols.Result
	}{
		{protocols.Query, "query_sm seq=9 " + source,
			"query_sm_resp seq=9 message_id=4711 final_date=261122115900000+ message_state=5 error_code=17",
			protocols.Action{Kind: protocols.Answered, Sequence: 9, Asked: true},
			protocols.Result{State: sms.StateUndeliverable, Since: now - 60e9, Error: 17}},
		{protocols.Query, "query_sm seq=9 " + source, "query_sm_resp seq=9 status=0x67",
			protocols.Action{Kind: protocols.Answered, Sequence: 9, Asked: true, Code: sms.Rejected, Status: StatusQueryFail}, protocols.Result{}},
		{protocols.Cancel, "cancel_sm seq=9 " + source + " dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000001", "cancel_sm_resp seq=9",
			protocols.Action{Kind: protocols.Answered, Sequence: 9, Asked: true}, protocols.Result{}},
		{protocols.Cancel, "cancel_sm seq=9 " + source + " dest_addr_ton=1 dest_addr_npi=1 destination_addr=46700000001", "generic_nack seq=9 status=3",
			protocols.Action{Kind: protocols.Answered, Sequence: 9, Code: sms.Unsupported, Status: StatusInvCmdID}, protocols.Result{}},
		{protocols.Replace, "replace_sm seq=9 " + source + " " + times + ` registered_delivery=1 short_message="new"`, "replace_sm_resp seq=9 status=0x13",
			protocols.Action{Kind: protocols.Answered, Sequence: 9, Asked: true, Code: sms.Rejected, Status: StatusReplaceFail}, protocols.Result{}},
	} {
		for _, version := range []uint8{Version33, Version34, Version50} {
			s := client(t, version)
			var p, want, answer PDU
			request := protocols.Request{Kind: f.kind, PeerID: []byte("4711"), Message: m}
			s.Ask(1, &p, &request, 9)
			if err := want.Decode(wireOf(t, f.want)); err != nil {
				t.Fatal(err)
			}
			if got, want := string(p.AppendLog(nil, true)), string(want.AppendLog(nil, true)); got != want {
				t.Errorf("\ngot  %s\nwant %s", got, want)
			}
			throughLog(t, &p, p.AppendWire(nil))
			if err := answer.Decode(wireOf(t, f.answer)); err != nil {
				t.Fatal(err)
			}
			if a := s.Receive(now, &answer); !reflect.DeepEqual(a, f.action) {
				t.Errorf("%s: %+v", f.answer, a)
			}
			if r, ok := s.Outcome(now, &answer, &request); ok != f.action.Asked || r.State != f.result.State || r.Since != f.result.Since || r.Error != f.result.Error {
				t.Errorf("%s: %+v", f.answer, r)
			}
		}
	}
}
