package smpp

// Fields is the body of a PDU that is not frequent. The optional parameters, which any PDU
// may have, are not among its fields: PDU.Parameters returns them.
type Fields interface{ walk(w *Walk) }

// newFields returns an empty body.
func newFields[T any, P interface {
	*T
	Fields
}]() Fields {
	return P(new(T))
}

// An OutbindBody is the body of outbind (§4.1.7), by which an SMSC asks for a bind.
type OutbindBody struct {
	SystemID []byte
	Password []byte
}

func (m *OutbindBody) walk(w *Walk) {
	w.CString("system_id", 16, StatusInvSysID, &m.SystemID)
	w.Password("password", maxLongPassword+1, StatusInvPaswd, &m.Password)
}

// A Source is the source address of an operation, which is that of the message it is about.
type Source struct {
	TON, NPI uint8
	Addr     []byte
}

func (m *Source) walk(w *Walk) {
	w.U8("source_addr_ton", StatusInvSrcTON, &m.TON)
	w.U8("source_addr_npi", StatusInvSrcNPI, &m.NPI)
	w.CString("source_addr", 21, StatusInvSrcAdr, &m.Addr)
}

// A Query is the body of query_sm (§4.8.1) and query_broadcast_sm.
type Query struct {
	MessageID []byte
	Source    Source
}

func (m *Query) walk(w *Walk) {
	w.CString("message_id", 65, StatusInvMsgID, &m.MessageID)
	m.Source.walk(w)
}

// A QueryResp is the body of query_sm_resp (§4.8.2).
type QueryResp struct {
	MessageID    []byte
	FinalDate    []byte
	MessageState uint8
	ErrorCode    uint8
}

func (m *QueryResp) walk(w *Walk) {
	w.CString("message_id", 65, StatusInvMsgID, &m.MessageID)
	w.CString("final_date", 17, StatusQueryFail, &m.FinalDate)
	w.U8("message_state", StatusQueryFail, &m.MessageState)
	w.U8("error_code", StatusQueryFail, &m.ErrorCode)
}

// A Cancel is the body of cancel_sm (§4.9.1). Without MessageID it is about all waiting
// messages with these addresses.
type Cancel struct {
	ServiceType      []byte
	MessageID        []byte
	Source           Source
	DestTON, DestNPI uint8
	DestAddr         []byte
}

func (m *Cancel) walk(w *Walk) {
	w.CString("service_type", 6, StatusInvSerTyp, &m.ServiceType)
	w.CString("message_id", 65, StatusInvMsgID, &m.MessageID)
	m.Source.walk(w)
	w.U8("dest_addr_ton", StatusInvDstTON, &m.DestTON)
	w.U8("dest_addr_npi", StatusInvDstNPI, &m.DestNPI)
	w.CString("destination_addr", 21, StatusInvDstAdr, &m.DestAddr)
}

// A Replace is the body of replace_sm (§4.10.1). Empty times leave those of the message.
type Replace struct {
	MessageID            []byte
	Source               Source
	ScheduleDeliveryTime []byte
	ValidityPeriod       []byte
	RegisteredDelivery   uint8
	DefaultMsgID         uint8
	ShortMessage         []byte
}

func (m *Replace) walk(w *Walk) {
	w.CString("message_id", 65, StatusInvMsgID, &m.MessageID)
	m.Source.walk(w)
	w.CString("schedule_delivery_time", 17, StatusInvSched, &m.ScheduleDeliveryTime)
	w.CString("validity_period", 17, StatusInvExpiry, &m.ValidityPeriod)
	w.U8("registered_delivery", StatusInvRegDlvFlg, &m.RegisteredDelivery)
	w.U8("sm_default_msg_id", StatusInvDftMsgID, &m.DefaultMsgID)
	w.Text("sm_length", "short_message", StatusInvMsgLen, &m.ShortMessage)
}

// An Alert is the body of alert_notification (§4.12.1, §5.2.10): a mobile is available again.
type Alert struct {
	SourceTON, SourceNPI uint8
	SourceAddr           []byte
	ESMETON, ESMENPI     uint8
	ESMEAddr             []byte
}

func (m *Alert) walk(w *Walk) {
	w.U8("source_addr_ton", StatusInvSrcTON, &m.SourceTON)
	w.U8("source_addr_npi", StatusInvSrcNPI, &m.SourceNPI)
	w.CString("source_addr", 65, StatusInvSrcAdr, &m.SourceAddr)
	w.U8("esme_addr_ton", StatusInvDstTON, &m.ESMETON)
	w.U8("esme_addr_npi", StatusInvDstNPI, &m.ESMENPI)
	w.CString("esme_addr", 65, StatusInvDstAdr, &m.ESMEAddr)
}

// A Broadcast is the body of broadcast_sm (SMPP 5.0). Where and how often it is sent is in
// its optional parameters.
type Broadcast struct {
	ServiceType          []byte
	Source               Source
	MessageID            []byte // id of the broadcast that is replaced
	PriorityFlag         uint8
	ScheduleDeliveryTime []byte
	ValidityPeriod       []byte
	ReplaceIfPresent     uint8
	DataCoding           uint8
	DefaultMsgID         uint8
}

func (m *Broadcast) walk(w *Walk) {
	w.CString("service_type", 6, StatusInvSerTyp, &m.ServiceType)
	m.Source.walk(w)
	w.CString("message_id", 65, StatusInvMsgID, &m.MessageID)
	w.U8("priority_flag", StatusInvPrtFlg, &m.PriorityFlag)
	w.CString("schedule_delivery_time", 17, StatusInvSched, &m.ScheduleDeliveryTime)
	w.CString("validity_period", 17, StatusInvExpiry, &m.ValidityPeriod)
	w.U8("replace_if_present_flag", StatusInvRepFlag, &m.ReplaceIfPresent)
	w.U8("data_coding", StatusInvCmdLen, &m.DataCoding)
	w.U8("sm_default_msg_id", StatusInvDftMsgID, &m.DefaultMsgID)
}

// A CancelBroadcast is the body of cancel_broadcast_sm (SMPP 5.0).
type CancelBroadcast struct {
	ServiceType []byte
	MessageID   []byte
	Source      Source
}

func (m *CancelBroadcast) walk(w *Walk) {
	w.CString("service_type", 6, StatusInvSerTyp, &m.ServiceType)
	w.CString("message_id", 65, StatusInvMsgID, &m.MessageID)
	m.Source.walk(w)
}

// An IDOnly is the body of broadcast_sm_resp and query_broadcast_sm_resp (SMPP 5.0), whose
// other values are in their optional parameters.
type IDOnly struct {
	MessageID []byte
}

func (m *IDOnly) walk(w *Walk) {
	w.CString("message_id", 65, StatusInvMsgID, &m.MessageID)
}

// A Param is the body of param_retrieve (SMPP 3.3).
type Param struct {
	Name []byte
}

func (m *Param) walk(w *Walk) { w.CString("param_name", 32, StatusInvParam, &m.Name) }

// A ParamResp is the body of param_retrieve_resp (SMPP 3.3).
type ParamResp struct {
	Value []byte
}

func (m *ParamResp) walk(w *Walk) { w.CString("param_value", 101, StatusInvParam, &m.Value) }

// A LastMsgs is the body of query_last_msgs (SMPP 3.3).
type LastMsgs struct {
	Source Source
	Number uint8
}

func (m *LastMsgs) walk(w *Walk) {
	m.Source.walk(w)
	w.U8("num_msgs", StatusInvNumMsgs, &m.Number)
}

// A LastMsgsResp is the body of query_last_msgs_resp (SMPP 3.3).
type LastMsgsResp struct {
	MessageIDs []byte // ids in wire format, with a count in front
}

func (m *LastMsgsResp) walk(w *Walk) {
	w.List("no_messages", "message_ids", StatusInvNumMsgs, &m.MessageIDs, new(oldID))
}

// An oldID is a message_id of SMPP 3.3.
type oldID []byte

func (m *oldID) walk(w *Walk) {
	w.always()
	w.CString("message_id", shortLen+1, StatusInvMsgID, (*[]byte)(m))
}

// A Details is the body of query_msg_details (SMPP 3.3).
type Details struct {
	MessageID []byte
	Source    Source
	Length    uint8 // how much of the text is asked for
}

func (m *Details) walk(w *Walk) {
	w.CString("message_id", shortLen+1, StatusInvMsgID, &m.MessageID)
	m.Source.walk(w)
	w.U8("sm_length", StatusInvMsgLen, &m.Length)
}

// A DetailsResp is the body of query_msg_details_resp (SMPP 3.3).
type DetailsResp struct {
	ServiceType          []byte
	Source               Source
	Dests                []byte // recipients, as of submit_multi
	ProtocolID           uint8
	PriorityFlag         uint8
	ScheduleDeliveryTime []byte
	ValidityPeriod       []byte
	RegisteredDelivery   uint8
	DataCoding           uint8
	ShortMessage         []byte
	MessageID            []byte
	FinalDate            []byte
	MessageStatus        uint8
	ErrorCode            uint8
}

func (m *DetailsResp) walk(w *Walk) {
	w.CString("service_type", 6, StatusInvSerTyp, &m.ServiceType)
	m.Source.walk(w)
	w.List("number_of_dests", "dest_address", StatusInvNumDests, &m.Dests, new(Destination))
	w.U8("protocol_id", StatusInvCmdLen, &m.ProtocolID)
	w.U8("priority_flag", StatusInvPrtFlg, &m.PriorityFlag)
	w.CString("schedule_delivery_time", 17, StatusInvSched, &m.ScheduleDeliveryTime)
	w.CString("validity_period", 17, StatusInvExpiry, &m.ValidityPeriod)
	w.U8("registered_delivery", StatusInvRegDlvFlg, &m.RegisteredDelivery)
	w.U8("data_coding", StatusInvCmdLen, &m.DataCoding)
	w.Text("sm_length", "short_message", StatusInvMsgLen, &m.ShortMessage)
	w.CString("message_id", shortLen+1, StatusInvMsgID, &m.MessageID)
	w.CString("final_date", 17, StatusQueryFail, &m.FinalDate)
	w.U8("message_status", StatusQueryFail, &m.MessageStatus)
	w.U8("error_code", StatusQueryFail, &m.ErrorCode)
}
