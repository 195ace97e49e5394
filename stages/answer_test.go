package stages

import (
	"testing"

	"pmg/protocols/smpp"
	"pmg/sms"
)

// Whatever settles a message learns all that the peer said (S3).
func TestAnswerOf(t *testing.T) {
	resp := &smpp.PDU{ID: smpp.SubmitSMResp, CommandStatus: 0x58, Body: true}
	resp.SMResp.MessageID = []byte("4711")
	a := answerOf(&Job{Code: sms.Throttled, PDU: resp}, 9)
	if a.Code != sms.Throttled || a.Status != 0x58 || string(a.PeerID) != "4711" || a.At != 9 {
		t.Errorf("%+v", a)
	}
	// The PDU of a job that stands for silence is that of its last use.
	if a := answerOf(&Job{Code: sms.Timeout, PDU: resp}, 9); a.Status != 0 || a.PeerID != nil {
		t.Errorf("%+v", a)
	}
}
