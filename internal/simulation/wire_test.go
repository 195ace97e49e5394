package simulation

import (
	"encoding/binary"
	"errors"
	"strings"
)

// PDUs of peers whose content reaches clients are written and read here, and not by the gateway's
// driver.

// The commands and the parameters of SMPP 3.4 that are written here.
const (
	submitAnswer  = 0x80000004
	queryRequest  = 0x00000003
	deliver       = 0x00000005
	replace       = 0x00000007
	cancel        = 0x00000008
	receiptedID   = 0x001E
	messageState  = 0x0427
	classReceipt  = 0x04
	classProgress = 0x20
	classHeader   = 0x40
)

func wire(command, sequence uint32, body ...string) []byte {
	all := strings.Join(body, "")
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(all)))
	b = binary.BigEndian.AppendUint32(b, command)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, sequence)
	return append(b, all...)
}

func cString(s string) string { return s + "\x00" }

func address(digits string) string { return "\x00\x00" + cString(digits) }

func octets(b ...byte) string { return string(b) }

func parameter(tag uint16, value string) string {
	return octets(byte(tag>>8), byte(tag), byte(len(value)>>8), byte(len(value))) + value
}

// A delivery is what a client reads of a deliver_sm.
type delivery struct {
	class byte
	text  string
}

func (d delivery) isReceipt() bool { return d.class&(classReceipt|classProgress) != 0 }

var errShort = errors.New("it ends too early")

// readDelivery reads a deliver_sm.
func readDelivery(b []byte) (d delivery, err error) {
	b = b[16:]
	skip := func(n int) {
		if n > len(b) {
			n, err = len(b), errShort
		}
		b = b[n:]
	}
	skipString := func() { skip(strings.IndexByte(string(b), 0) + 1) }
	skipString() // service_type
	skip(2)
	skipString() // source_addr
	skip(2)
	skipString() // destination_addr
	if len(b) < 3 {
		return d, errShort
	}
	d.class = b[0]
	skip(3)
	skipString() // schedule_delivery_time
	skipString() // validity_period
	skip(4)
	if len(b) < 1 || len(b) < 1+int(b[0]) {
		return d, errShort
	}
	d.text = string(b[1 : 1+int(b[0])])
	return d, err
}

// field returns what follows a key in the text of a receipt.
func field(text, key string) string {
	_, rest, _ := strings.Cut(" "+text, " "+key+":")
	value, _, _ := strings.Cut(rest, " ")
	return value
}

// idOf returns the message_id of a submit_sm_resp.
func idOf(b []byte) string {
	id, _, _ := strings.Cut(string(b[16:]), "\x00")
	return id
}
