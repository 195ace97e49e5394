package smpp

// A CommandID is the command_id of a PDU (§5.1.2).
type CommandID uint32

// Response is the bit by which the id of a response differs from its request's.
const Response CommandID = 0x80000000

// The commands.
const (
	GenericNack           CommandID = 0x80000000
	BindReceiver          CommandID = 0x00000001
	BindReceiverResp      CommandID = 0x80000001
	BindTransmitter       CommandID = 0x00000002
	BindTransmitterResp   CommandID = 0x80000002
	QuerySM               CommandID = 0x00000003
	QuerySMResp           CommandID = 0x80000003
	SubmitSM              CommandID = 0x00000004
	SubmitSMResp          CommandID = 0x80000004
	DeliverSM             CommandID = 0x00000005
	DeliverSMResp         CommandID = 0x80000005
	Unbind                CommandID = 0x00000006
	UnbindResp            CommandID = 0x80000006
	ReplaceSM             CommandID = 0x00000007
	ReplaceSMResp         CommandID = 0x80000007
	CancelSM              CommandID = 0x00000008
	CancelSMResp          CommandID = 0x80000008
	BindTransceiver       CommandID = 0x00000009
	BindTransceiverResp   CommandID = 0x80000009
	Outbind               CommandID = 0x0000000B
	EnquireLink           CommandID = 0x00000015
	EnquireLinkResp       CommandID = 0x80000015
	SubmitMulti           CommandID = 0x00000021
	SubmitMultiResp       CommandID = 0x80000021
	ParamRetrieve         CommandID = 0x00000022
	ParamRetrieveResp     CommandID = 0x80000022
	QueryLastMsgs         CommandID = 0x00000023
	QueryLastMsgsResp     CommandID = 0x80000023
	QueryMsgDetails       CommandID = 0x00000024
	QueryMsgDetailsResp   CommandID = 0x80000024
	AlertNotification     CommandID = 0x00000102
	DataSM                CommandID = 0x00000103
	DataSMResp            CommandID = 0x80000103
	BroadcastSM           CommandID = 0x00000111
	BroadcastSMResp       CommandID = 0x80000111
	QueryBroadcastSM      CommandID = 0x00000112
	QueryBroadcastSMResp  CommandID = 0x80000112
	CancelBroadcastSM     CommandID = 0x00000113
	CancelBroadcastSMResp CommandID = 0x80000113
)

// A side is an end of a session.
type side uint8

const (
	esme side = iota // the client
	smsc             // the server
)

// A state is a state of a session (§2.2), as bits, so that a command can name a set of states.
type state uint8

const (
	open   state = 1 << iota // connected, not logged in
	tx                       // bound as transmitter
	rx                       // bound as receiver
	trx                      // bound as transceiver
	closed                   // over: nothing is sent any more
	bound  = tx | rx | trx
	sends  = tx | trx // the client may submit
	takes  = rx | trx // the client is given messages
	all    = open | bound
)

// A body is the kind of fields that follow the header.
type body uint8

const (
	bodyNone body = iota // header only
	bodyBind
	bodyBindResp
	bodySMResp
	bodyOther // made by command.other

	// From here on the request carries a message.
	bodySM
	bodyData
	bodyMulti
)

// A command is one row of the operation matrix (§2.3).
type command struct {
	id   CommandID
	name string
	spec string   // section of the document that specifies the command: SMPP 3.4, or else 5.0 or 3.3
	in   [2]state // the states in which the client and the server may send the command
	body body

	// The rest is for few commands.
	other    func() Fields // makes the body of a rare command
	only     versions      // versions that have the command; zero: all versions
	refusal  uint32        // the status with which we refuse the command; with operates only when the gateway does not offer it
	operates bool          // the command is about messages that were submitted before
}

// commands is the operation matrix. A response has the id of its request with the Response bit. Row
// 0 is for every unknown command. §2.3 allows enquire_link and generic_nack in bound states only.
// SMPP 5.0 allows them in all states, and so do we, because an enquire_link before the login does
// no harm. §2.3 allows data_sm in all bound states. By SMPP 5.0 a receiver must not submit by it,
// and ours cannot.
var commands = [...]command{
	{name: "unknown"},
	{id: GenericNack, name: "generic_nack", spec: "4.3.1", in: [2]state{all, all}},
	{id: BindReceiver, name: "bind_receiver", spec: "4.1.3", in: [2]state{esme: open}, body: bodyBind},
	{id: BindReceiverResp, name: "bind_receiver_resp", spec: "4.1.4", in: [2]state{smsc: open}, body: bodyBindResp},
	{id: BindTransmitter, name: "bind_transmitter", spec: "4.1.1", in: [2]state{esme: open}, body: bodyBind},
	{id: BindTransmitterResp, name: "bind_transmitter_resp", spec: "4.1.2", in: [2]state{smsc: open}, body: bodyBindResp},
	{id: BindTransceiver, name: "bind_transceiver", spec: "4.1.5", in: [2]state{esme: open}, body: bodyBind},
	{id: BindTransceiverResp, name: "bind_transceiver_resp", spec: "4.1.6", in: [2]state{smsc: open}, body: bodyBindResp},
	{id: Outbind, name: "outbind", spec: "4.1.7", in: [2]state{smsc: open}, body: bodyOther, other: newFields[OutbindBody]},
	{id: Unbind, name: "unbind", spec: "4.2.1", in: [2]state{bound, bound}},
	{id: UnbindResp, name: "unbind_resp", spec: "4.2.2", in: [2]state{bound, bound}},
	{id: EnquireLink, name: "enquire_link", spec: "4.11.1", in: [2]state{all, all}},
	{id: EnquireLinkResp, name: "enquire_link_resp", spec: "4.11.2", in: [2]state{all, all}},

	// Messages.
	{id: SubmitSM, name: "submit_sm", spec: "4.4.1", in: [2]state{esme: sends}, body: bodySM},
	{id: SubmitSMResp, name: "submit_sm_resp", spec: "4.4.2", in: [2]state{smsc: sends}, body: bodySMResp},
	{id: DeliverSM, name: "deliver_sm", spec: "4.6.1", in: [2]state{smsc: takes}, body: bodySM},
	{id: DeliverSMResp, name: "deliver_sm_resp", spec: "4.6.2", in: [2]state{esme: takes}, body: bodySMResp},
	{id: DataSM, name: "data_sm", spec: "4.7.1", in: [2]state{sends, bound}, body: bodyData, only: from34},
	{id: DataSMResp, name: "data_sm_resp", spec: "4.7.2", in: [2]state{bound, bound}, body: bodySMResp, only: from34},
	{id: SubmitMulti, name: "submit_multi", spec: "4.5.1", in: [2]state{esme: sends}, body: bodyMulti},
	{
		id: SubmitMultiResp, name: "submit_multi_resp", spec: "4.5.2", in: [2]state{smsc: sends}, body: bodyOther,
		other: newFields[MultiResp],
	},

	// Operations on messages.
	{
		id: QuerySM, name: "query_sm", spec: "4.8.1", in: [2]state{esme: sends}, body: bodyOther, other: newFields[Query],
		operates: true, refusal: StatusQueryFail,
	},
	{
		id: QuerySMResp, name: "query_sm_resp", spec: "4.8.2", in: [2]state{smsc: sends}, body: bodyOther,
		other: newFields[QueryResp],
	},
	{
		id: CancelSM, name: "cancel_sm", spec: "4.9.1", in: [2]state{esme: sends}, body: bodyOther, other: newFields[Cancel],
		operates: true, refusal: StatusCancelFail,
	},
	{id: CancelSMResp, name: "cancel_sm_resp", spec: "4.9.2", in: [2]state{smsc: sends}},
	{
		id: ReplaceSM, name: "replace_sm", spec: "4.10.1", in: [2]state{esme: sends}, body: bodyOther,
		other: newFields[Replace], operates: true, refusal: StatusReplaceFail,
	},
	{id: ReplaceSMResp, name: "replace_sm_resp", spec: "4.10.2", in: [2]state{smsc: sends}},
	{
		id: AlertNotification, name: "alert_notification", spec: "4.12.1", in: [2]state{smsc: takes}, body: bodyOther,
		other: newFields[Alert], only: from34,
	},

	// SMPP 5.0.
	{
		id: BroadcastSM, name: "broadcast_sm", spec: "5.0", in: [2]state{esme: sends}, body: bodyOther,
		other: newFields[Broadcast], only: v50, refusal: StatusBcastFail,
	},
	{
		id: BroadcastSMResp, name: "broadcast_sm_resp", spec: "5.0", in: [2]state{smsc: sends}, body: bodyOther,
		other: newFields[IDOnly],
	},
	{
		id: QueryBroadcastSM, name: "query_broadcast_sm", spec: "5.0", in: [2]state{esme: sends}, body: bodyOther,
		other: newFields[Query], only: v50, refusal: StatusBcastQueryFail,
	},
	{
		id: QueryBroadcastSMResp, name: "query_broadcast_sm_resp", spec: "5.0", in: [2]state{smsc: sends}, body: bodyOther,
		other: newFields[IDOnly],
	},
	{
		id: CancelBroadcastSM, name: "cancel_broadcast_sm", spec: "5.0", in: [2]state{esme: sends}, body: bodyOther,
		other: newFields[CancelBroadcast], only: v50, refusal: StatusBcastCancelFail,
	},
	{id: CancelBroadcastSMResp, name: "cancel_broadcast_sm_resp", spec: "5.0", in: [2]state{smsc: sends}},

	// SMPP 3.3.
	{
		id: ParamRetrieve, name: "param_retrieve", spec: "3.3", in: [2]state{esme: sends}, body: bodyOther,
		other: newFields[Param], only: v33, refusal: StatusInvParam,
	},
	{
		id: ParamRetrieveResp, name: "param_retrieve_resp", spec: "3.3", in: [2]state{smsc: sends}, body: bodyOther,
		other: newFields[ParamResp],
	},
	{
		id: QueryLastMsgs, name: "query_last_msgs", spec: "3.3", in: [2]state{esme: sends}, body: bodyOther,
		other: newFields[LastMsgs], only: v33, refusal: StatusQueryFail,
	},
	{
		id: QueryLastMsgsResp, name: "query_last_msgs_resp", spec: "3.3", in: [2]state{smsc: sends}, body: bodyOther,
		other: newFields[LastMsgsResp],
	},
	{
		id: QueryMsgDetails, name: "query_msg_details", spec: "3.3", in: [2]state{esme: sends}, body: bodyOther,
		other: newFields[Details], only: v33, refusal: StatusQueryFail,
	},
	{
		id: QueryMsgDetailsResp, name: "query_msg_details_resp", spec: "3.3", in: [2]state{smsc: sends}, body: bodyOther,
		other: newFields[DetailsResp],
	},
}

// rows maps a command to its row. The index consists of the low nine bits of the id and the
// Response bit, in which all assigned ids differ.
var rows = func() (r [1024]uint8) {
	for i, c := range commands {
		r[slot(c.id)] = uint8(i)
	}
	r[slot(0)] = 0
	return r
}()

func slot(id CommandID) int { return int(id&0x1FF | id>>31<<9) }

// row returns the row of id, or 0 for an unknown command.
func (id CommandID) row() int {
	if r := int(rows[slot(id)]); commands[r].id == id {
		return r
	}
	return 0
}

// String returns the command's name.
func (id CommandID) String() string { return commands[id.row()].name }

// IsResponse reports whether the PDU answers another, as generic_nack does.
func (id CommandID) IsResponse() bool { return id&Response != 0 }

// IsBind reports whether the PDU is one of the three logins.
func (id CommandID) IsBind() bool {
	return id == BindReceiver || id == BindTransmitter || id == BindTransceiver
}

// isAnswered reports whether the request has a response.
func (id CommandID) isAnswered() bool { return id != Outbind && id != AlertNotification }

// carriesMessage reports whether the request carries a message.
func (c *command) carriesMessage() bool { return c.body >= bodySM }
