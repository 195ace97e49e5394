package smpp

import (
	"pmg/protocols"
	"pmg/sms"
)

// Values of dest_flag (§4.5.1).
const (
	flagAddress = 1 // an address
	flagList    = 2 // the name of a distribution list
)

// A Destination is one of the recipients of a submit_multi.
type Destination struct {
	Flag     uint8
	TON, NPI uint8  // of an address
	Addr     []byte // the address, or the name of a distribution list
}

func (m *Destination) walk(w *Walk) {
	w.U8("dest_flag", StatusInvDestFlag, &m.Flag)
	switch m.Flag {
	case flagAddress:
		w.U8("dest_addr_ton", StatusInvDstTON, &m.TON)
		w.U8("dest_addr_npi", StatusInvDstNPI, &m.NPI)
		w.CString("destination_addr", 21, StatusInvDstAdr, &m.Addr)
	case flagList:
		w.CString("dl_name", 21, StatusInvDLName, &m.Addr)
	default:
		w.refuse("dest_flag", StatusInvDestFlag, "is neither 1 nor 2")
	}
}

// recipients returns to how many recipients a submit_multi is, and 0 for other PDUs.
func (p *PDU) recipients() int {
	if p.ID != SubmitMulti {
		return 0
	}
	return listLen(*p.Dests())
}

// multi records which recipients of a submit_multi the gateway has handled.
type multi struct {
	at        int         // where the recipients that follow begin
	to        Destination // the recipient at hand
	unsuccess []byte      // recipients that were refused, in wire format, with a count in front
}

// To implements protocols.Recipients. It goes through the list once where i rises.
func (s *session) To(pdu protocols.PDU, i int) {
	x := pdu.(*PDU).withExtras()
	w := Walk{b: x.dests, at: x.multi.at}
	if i == 0 {
		w.at = 1
	}
	x.multi.to = Destination{}
	x.multi.to.walk(&w)
	x.multi.at = w.at
}

// Refuse implements protocols.Recipients.
func (s *session) Refuse(pdu protocols.PDU, code sms.Code) {
	m := &pdu.(*PDU).withExtras().multi
	status := statusOf(code)
	if m.to.Flag == flagList {
		status = StatusCntSubDL // the gateway has no lists
	}
	if m.unsuccess == nil {
		m.unsuccess = []byte{0}
	}
	m.unsuccess[0]++
	w := Walk{b: m.unsuccess, mode: write}
	(&Unsuccessful{TON: m.to.TON, NPI: m.to.NPI, Addr: m.to.Addr, Status: status}).walk(&w)
	m.unsuccess = w.b
}

// refusal returns the status with which the first recipient was refused. It reports false if
// none was.
func (m *multi) refusal() (status uint32, ok bool) {
	if m.unsuccess == nil {
		return 0, false
	}
	var first Unsuccessful
	w := Walk{b: m.unsuccess, at: 1}
	first.walk(&w)
	return first.Status, true
}

// A MultiResp is the body of submit_multi_resp (§4.5.2).
type MultiResp struct {
	MessageID []byte
	Unsuccess []byte // recipients that were refused, in wire format, with a count in front
}

func (m *MultiResp) walk(w *Walk) {
	w.CString("message_id", 65, StatusInvMsgID, &m.MessageID)
	w.List("no_unsuccess", "unsuccess_sme", StatusInvNumDests, &m.Unsuccess, new(Unsuccessful))
}

// An Unsuccessful is a recipient that a submit_multi_resp refuses.
type Unsuccessful struct {
	TON, NPI uint8
	Addr     []byte
	Status   uint32
}

func (m *Unsuccessful) walk(w *Walk) {
	w.U8("dest_addr_ton", StatusInvDstTON, &m.TON)
	w.U8("dest_addr_npi", StatusInvDstNPI, &m.NPI)
	w.CString("destination_addr", 21, StatusInvDstAdr, &m.Addr)
	w.Status("error_status_code", &m.Status)
}
