package smpp

import (
	"encoding/binary"
	"time"

	"pmg/sms"
)

// The sizes of an address with its NUL.
const (
	addressSize     = 21 // size in submit_sm and deliver_sm
	dataAddressSize = 65 // size in data_sm
)

// walkData walks the body of data_sm (§4.7.1). Its text is in message_payload.
func (m *SM) walkData(w *Walk) {
	if w.mode == read || w.mode == scan {
		*m = SM{} // this command sets only some of the fields
	}
	w.CString("service_type", 6, StatusInvSerTyp, &m.ServiceType)
	w.U8("source_addr_ton", StatusInvSrcTON, &m.SourceTON)
	w.U8("source_addr_npi", StatusInvSrcNPI, &m.SourceNPI)
	w.CString("source_addr", dataAddressSize, StatusInvSrcAdr, &m.SourceAddr)
	w.U8("dest_addr_ton", StatusInvDstTON, &m.DestTON)
	w.U8("dest_addr_npi", StatusInvDstNPI, &m.DestNPI)
	w.CString("destination_addr", dataAddressSize, StatusInvDstAdr, &m.DestAddr)
	w.U8("esm_class", StatusInvEsmClass, &m.ESMClass)
	w.U8("registered_delivery", StatusInvRegDlvFlg, &m.RegisteredDelivery)
	w.U8("data_coding", StatusInvCmdLen, &m.DataCoding)
	w.TLVs(&m.TLVs)
}

// timeToLive sets the expiry of a message from the seconds in qos_time_to_live. A data_sm has
// no times.
func timeToLive(now int64, b *SM, m *sms.Message) sms.Code {
	v, _ := FindTLV(b.TLVs, TagTimeToLive)
	if len(v) != 4 {
		return sms.OK
	}
	left := time.Duration(binary.BigEndian.Uint32(v)) * time.Second
	if left == 0 {
		return sms.BadValidity
	}
	m.Expires = now + int64(left)
	m.Flags |= sms.RelativeValidity
	return sms.OK
}

// needsData reports whether an address is too long for submit_sm and deliver_sm, as those of
// other networks may be, but not for data_sm.
func needsData(source, dest []byte) bool {
	n := max(len(source), len(dest))
	return n >= addressSize && n < dataAddressSize
}

// makeData makes a submit_sm or deliver_sm a data_sm. The fields that data_sm does not have are
// not written.
func (s *session) makeData(now int64, p *PDU, m *sms.Message, text []byte) {
	p.ID = DataSM
	p.SM.SourceAddr = s.options.written(m.Source(), dataAddressSize)
	p.SM.DestAddr = s.options.written(m.Dest(), dataAddressSize)
	if left := s.options.Submit.expiry(now, m) - now; s.peer == smsc && left > 0 {
		seconds := (left + int64(time.Second) - 1) / int64(time.Second)
		n := len(p.scratch)
		p.scratch = append(p.scratch, p.SM.TLVs...)
		p.scratch = AppendTLV(p.scratch, TagTimeToLive, binary.BigEndian.AppendUint32(nil, uint32(min(seconds, 1<<32-1))))
		p.SM.TLVs = p.scratch[n:]
	}
	if len(text) > 0 {
		p.setPayload(text)
	}
}
