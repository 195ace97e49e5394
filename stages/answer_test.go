package stages

import (
	"testing"

	"pmg/protocols/smpp"
	"pmg/sms"
)

// An outcome carries all information of the peer's answer (S3).
func TestAnswerOf(t *testing.T) {
	resp := &smpp.PDU{ID: smpp.SubmitSMResp, CommandStatus: 0x58, Body: true}
	resp.SMResp.MessageID = []byte("4711")
	a := answerOf(&Job{Code: sms.Throttled, PDU: resp}, 9)
	if a.Code != sms.Throttled || a.Status != 0x58 || string(a.PeerID) != "4711" || a.At != 9 {
		t.Errorf("%+v", a)
	}
	// The PDU of a job for a missing answer is left from the job's last use.
	if a := answerOf(&Job{Code: sms.Timeout, PDU: resp}, 9); a.Status != 0 || a.PeerID != nil {
		t.Errorf("%+v", a)
	}
}
