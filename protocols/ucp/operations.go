package ucp

// The operations (OT).
const (
	CallInput     = 1
	MultipleCall  = 2
	Supplementary = 3
	Transfer      = 30
	Alert         = 31
	Submit        = 51
	Deliver       = 52
	Notify        = 53
	Modify        = 54
	Inquiry       = 55
	Delete        = 56
	InquiryAnswer = 57
	DeleteAnswer  = 58
	OpenSession   = 60
	Provisioning  = 61
)

// A side is an end of a session, as bits.
type side uint8

const (
	smt  side = 1 << iota // the client
	smsc                  // the server
	both = smt | smsc
)

// A use is how a session handles an operation.
type use uint8

const (
	refused  use = iota // the operation is refused with EC 03
	message             // the operation carries a message
	keepLive            // the operation needs only an answer
	login
)

// A body selects the fields of an operation.
type body uint8

const (
	bodyNone body = iota
	bodyCall
	bodyMultiple
	bodySupplementary
	bodyTransfer
	bodyAlert
	bodySM
	bodyLogin
	bodyList
)

// An operation is one row of the table of operations.
type operation struct {
	ot     uint8
	name   string
	by     side // the side that may send the operation
	use    use
	body   body
	acked  uint8 // number of elements after the A of a usual positive result: SM, or MVP and SM
	secret bool  // the operation contains a password
}

// operations lists the operations in order. Row 0 stands for all unknown operations.
var operations = [...]operation{
	{0, "op_unknown", 0, refused, bodyNone, 1, false},
	{CallInput, "op01", both, message, bodyCall, 1, false},
	{MultipleCall, "op02", smt, message, bodyMultiple, 1, false},
	{Supplementary, "op03", smt, message, bodySupplementary, 1, false},
	{Transfer, "op30", smt, message, bodyTransfer, 2, false},
	{Alert, "op31", both, keepLive, bodyAlert, 1, false},
	{Submit, "op51", smt, message, bodySM, 2, false},
	{Deliver, "op52", smsc, message, bodySM, 2, false},
	{Notify, "op53", smsc, message, bodySM, 2, false},
	{Modify, "op54", smt, refused, bodySM, 2, false},
	{Inquiry, "op55", smt, refused, bodySM, 2, false},
	{Delete, "op56", smt, refused, bodySM, 2, false},
	{InquiryAnswer, "op57", smsc, refused, bodySM, 2, false},
	{DeleteAnswer, "op58", smsc, refused, bodySM, 2, false},
	{OpenSession, "op60", smt, login, bodyLogin, 1, true},
	{Provisioning, "op61", smt, refused, bodyList, 1, true},
}

// resultSuffix makes the name of a result from the name of its operation.
const resultSuffix = "_result"

// noise is the name of octets outside frames.
const noise = "noise"

// commandNames are the names of the PDUs: each operation, followed by its result, and noise at the end.
var commandNames = func() (names []string) {
	for _, o := range operations {
		names = append(names, o.name, o.name+resultSuffix)
	}
	return append(names, noise)
}()

// noiseCommand is the index of noise in commandNames.
const noiseCommand = 2 * len(operations)

// rows contains the row of each operation, by its number.
var rows = func() (r [100]uint8) {
	for i, o := range operations {
		r[o.ot] = uint8(i)
	}
	return r
}()

func row(ot uint8) *operation { return &operations[rows[min(ot, 99)]] }
