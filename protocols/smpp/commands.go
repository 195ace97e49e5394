package smpp

// A CommandID is the command_id of a PDU (§5.1.2).
type CommandID uint32

// Response is the bit by which the id of a response differs from its request's.
const Response CommandID = 0x80000000

// The commands.
const (
	GenericNack         CommandID = 0x80000000
	BindReceiver        CommandID = 0x00000001
	BindReceiverResp    CommandID = 0x80000001
	BindTransmitter     CommandID = 0x00000002
	BindTransmitterResp CommandID = 0x80000002
	SubmitSM            CommandID = 0x00000004
	SubmitSMResp        CommandID = 0x80000004
	DeliverSM           CommandID = 0x00000005
	DeliverSMResp       CommandID = 0x80000005
	Unbind              CommandID = 0x00000006
	UnbindResp          CommandID = 0x80000006
	BindTransceiver     CommandID = 0x00000009
	BindTransceiverResp CommandID = 0x80000009
	EnquireLink         CommandID = 0x00000015
	EnquireLinkResp     CommandID = 0x80000015
)

// outbind carries a password, so its octets are never printed.
const outbind CommandID = 0x0000000B

// A side is an end of a session, as bits.
type side uint8

const (
	esme side = 1 << iota // the client
	smsc                  // the server
	both = esme | smsc
)

// A state is a state of a session (§2.2), as bits so that a command can name
// those that it is allowed in.
type state uint8

const (
	open   state = 1 << iota // connected, not logged in
	tx                       // bound as transmitter
	rx                       // bound as receiver
	trx                      // bound as transceiver
	closed                   // over: nothing is sent any more
	bound  = tx | rx | trx
	all    = open | bound
)

// A body is the kind of fields that follow the header.
type body uint8

const (
	bodyNone body = iota // header only
	bodyBind
	bodyBindResp
	bodySM
	bodySMResp
)

// A command is one row of the operation matrix (§2.3).
type command struct {
	id   CommandID
	name string
	spec string // section of the document
	by   side   // the side that may send it
	in   state  // the states in which it may be sent
	body body
}

// commands is the operation matrix. A response has the id of its request with the Response
// bit. Row 0 is for every unknown command. §2.3 allows enquire_link and generic_nack in bound
// states only. SMPP 5.0 allows them in all states, and so do we, because an enquire_link
// before the login does no harm.
var commands = [...]command{
	{0, "unknown", "", 0, 0, bodyNone},
	{GenericNack, "generic_nack", "4.3.1", both, all, bodyNone},
	{BindReceiver, "bind_receiver", "4.1.3", esme, open, bodyBind},
	{BindReceiverResp, "bind_receiver_resp", "4.1.4", smsc, open, bodyBindResp},
	{BindTransmitter, "bind_transmitter", "4.1.1", esme, open, bodyBind},
	{BindTransmitterResp, "bind_transmitter_resp", "4.1.2", smsc, open, bodyBindResp},
	{SubmitSM, "submit_sm", "4.4.1", esme, tx | trx, bodySM},
	{SubmitSMResp, "submit_sm_resp", "4.4.2", smsc, tx | trx, bodySMResp},
	{DeliverSM, "deliver_sm", "4.6.1", smsc, rx | trx, bodySM},
	{DeliverSMResp, "deliver_sm_resp", "4.6.2", esme, rx | trx, bodySMResp},
	{Unbind, "unbind", "4.2.1", both, bound, bodyNone},
	{UnbindResp, "unbind_resp", "4.2.2", both, bound, bodyNone},
	{BindTransceiver, "bind_transceiver", "4.1.5", esme, open, bodyBind},
	{BindTransceiverResp, "bind_transceiver_resp", "4.1.6", smsc, open, bodyBindResp},
	{EnquireLink, "enquire_link", "4.11.1", both, all, bodyNone},
	{EnquireLinkResp, "enquire_link_resp", "4.11.2", both, all, bodyNone},
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
