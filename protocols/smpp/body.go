package smpp

// An SM is the body of submit_sm and deliver_sm (§4.4.1, §4.6.1). Its fields are those of §5.2.5,
// §5.2.6, §5.2.8, §5.2.9, §5.2.11, §5.2.13, §5.2.14, §5.2.15, §5.2.16, §5.2.18 and §5.2.20, beside
// those that other comments name.
type SM struct {
	SourceAddr           []byte
	DestAddr             []byte
	ShortMessage         []byte // at most 255 octets
	TLVs                 []byte // the optional parameters in wire format; function TLVs iterates over them
	ServiceType          []byte
	ScheduleDeliveryTime []byte
	ValidityPeriod       []byte
	SourceTON, SourceNPI uint8
	DestTON, DestNPI     uint8
	ESMClass             uint8
	ProtocolID           uint8
	PriorityFlag         uint8
	RegisteredDelivery   uint8
	ReplaceIfPresent     uint8
	DataCoding           uint8
	DefaultMsgID         uint8
}

// walk walks the body. In a submit_multi (§4.5.1) dests replace the one destination; they are nil
// in the others.
func (m *SM) walk(w *Walk, dests *[]byte) {
	w.CString("service_type", 6, StatusInvSerTyp, &m.ServiceType)
	w.U8("source_addr_ton", StatusInvSrcTON, &m.SourceTON)
	w.U8("source_addr_npi", StatusInvSrcNPI, &m.SourceNPI)
	w.CString("source_addr", 21, StatusInvSrcAdr, &m.SourceAddr)
	if dests != nil {
		w.List("number_of_dests", "dest_address", StatusInvNumDests, dests, new(Destination))
	} else {
		w.U8("dest_addr_ton", StatusInvDstTON, &m.DestTON)
		w.U8("dest_addr_npi", StatusInvDstNPI, &m.DestNPI)
		w.CString("destination_addr", 21, StatusInvDstAdr, &m.DestAddr)
	}
	w.U8("esm_class", StatusInvEsmClass, &m.ESMClass)
	w.U8("protocol_id", StatusInvCmdLen, &m.ProtocolID)
	w.U8("priority_flag", StatusInvPrtFlg, &m.PriorityFlag)
	w.CString("schedule_delivery_time", 17, StatusInvSched, &m.ScheduleDeliveryTime)
	w.CString("validity_period", 17, StatusInvExpiry, &m.ValidityPeriod)
	w.U8("registered_delivery", StatusInvRegDlvFlg, &m.RegisteredDelivery)
	w.U8("replace_if_present_flag", StatusInvRepFlag, &m.ReplaceIfPresent)
	w.U8("data_coding", StatusInvCmdLen, &m.DataCoding)
	w.U8("sm_default_msg_id", StatusInvDftMsgID, &m.DefaultMsgID)
	w.Text("sm_length", "short_message", StatusInvMsgLen, &m.ShortMessage)
	w.TLVs(&m.TLVs)
}

// An SMResp is the body of submit_sm_resp and deliver_sm_resp (§4.4.2, §4.6.2, §5.2.23), without the
// optional parameters of SMPP 5.0. According to the document a refusal has no body, but some
// peers send one.
type SMResp struct {
	MessageID []byte
}

// A Bind is the body of the three logins (§4.1.1, §4.1.3, §4.1.5).
type Bind struct {
	SystemID         []byte
	Password         []byte
	SystemType       []byte
	AddressRange     []byte
	InterfaceVersion uint8
	AddrTON, AddrNPI uint8
}

func (m *Bind) walk(w *Walk) {
	w.CString("system_id", maxLongSystemID+1, StatusInvSysID, &m.SystemID) // the session checks the length
	w.Password("password", maxLongPassword+1, StatusInvPaswd, &m.Password) // the session checks the length of the password, too
	w.CString("system_type", 13, StatusInvSysTyp, &m.SystemType)
	w.U8("interface_version", StatusBindFail, &m.InterfaceVersion)
	w.U8("addr_ton", StatusBindFail, &m.AddrTON)
	w.U8("addr_npi", StatusBindFail, &m.AddrNPI)
	w.CString("address_range", 41, StatusBindFail, &m.AddressRange)
}

// A BindResp is the body of the answers to a login (§4.1.2, §4.1.4, §4.1.6).
type BindResp struct {
	SystemID []byte
	TLVs     []byte
}

func (m *BindResp) walk(w *Walk) {
	w.CString("system_id", 16, StatusInvSysID, &m.SystemID)
	w.TLVs(&m.TLVs)
}
