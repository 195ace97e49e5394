package smpp

import (
	"encoding/binary"

	"pmg/protocols"
	"pmg/sms"
	"pmg/sms/userdata"
)

// The rows of losses in front of those of the optional parameters.
const (
	lostServiceType = iota
	lostESMClass
	lostRegistered
	lostReplace
	lostDefaultID
	lostSource
	lostName
	lostDest
	lostClass
	lostVendor
	lostOptional
	lostWaiting
	lostParameters // the first of parameters
)

// notSent is the text of a field that is lost completely.
const notSent = "Not sent."

// losses lists all that a message may lose between SMPP and another protocol.
var losses = func() []protocols.Loss {
	all := []protocols.Loss{
		lostServiceType: {Field: "service_type", Text: notSent},
		lostESMClass: {
			Field: "esm_class",
			Text: "The messaging mode and acknowledgements of the recipient's are not sent. The header indicator and " +
				"the reply path are.",
		},
		lostRegistered: {
			Field: "registered_delivery",
			Text:  "Acknowledgements of the recipient's are not asked for. Receipts and intermediate notifications are.",
		},
		lostReplace: {
			Field: "replace_if_present_flag",
			Text:  "The message is sent as a new one. protocol_id 65 to 71, by which the mobile replaces it, is sent.",
		},
		lostDefaultID: {Field: "sm_default_msg_id", Text: "Only the SMSC that has the text can send it."},
		lostSource:    {Field: "source_addr", Neutral: true, Text: "Longer than 64 octets: left out."},
		lostName: {
			Field: "source_name", Neutral: true, Refuse: sms.BadSource,
			Text: "A name with characters that the charset of names lacks (names): the message is refused.",
		},
		lostDest: {
			Field: "destination_addr", Neutral: true,
			Text: "Longer than 64 octets: left out, so that the SMSC refuses the message.",
		},
		lostClass:   {Field: "class", Neutral: true, Text: "data_coding has no class for texts in ASCII and those of ISO 8859."},
		lostVendor:  {Field: "vendor_parameter", Text: "Optional parameters that are none of those below."},
		lostWaiting: {Field: "data_coding", Text: "That a message waits (0xC0 to 0xEF) is not sent; the text is."},
		lostOptional: {
			Field: "optional_parameters",
			Text: "From SMPP to SMPP: a peer of 3.3 is sent none. sar_ become a user data header. With " +
				"version_at_least: 3.4 they are sent.",
		},
	}
	for i := range parameters {
		p := &parameters[i]
		l := protocols.Loss{Field: p.name, Text: notSent}
		switch p.tag {
		case TagPayload:
			l.Text = "Its text is the message's; never lost."
		case tagSARReference, tagSARTotal, tagSARNumber:
			l.Text = "The three become a user data header; they are lost if one is missing or wrong, or beside a user " +
				"data header."
		case tagSourcePort, tagDestPort:
			l.Text = "They become a user data header; lost beside one."
		case tagDestSubunit:
			l.Text = "1 to 4 become the message class; lost beside a class."
		case TagTimeToLive:
			l.Text = "That of a data_sm is the validity; another is lost."
		case TagReceiptedID, TagMessageState, TagNetworkError:
			l.Text = "What a receipt says of its message; lost in another message."
		}
		all = append(all, l)
	}
	return all
}()

// Protocol implements protocols.Converter.
func (d *Driver) Protocol() sms.Protocol { return protocols.SMPP }

// Losses implements protocols.Converter.
func (d *Driver) Losses() []protocols.Loss { return losses }

// classless are the alphabets for which no data_coding can name a class.
const classless sms.Alphabets = 1<<sms.ASCII | 1<<sms.Latin1 | 1<<sms.Cyrillic | 1<<sms.Hebrew

// Lacks implements protocols.Converter.
func (d *Driver) Lacks(m *sms.Message, o protocols.Options) (lost protocols.Lost) {
	if options, _ := o.(*ConnectorOptions); options != nil && m.Kind != sms.Receipt {
		if _, ok := options.octetsOf(m.Source()); !ok {
			lost.Add(lostName)
		}
	}
	if len(m.Source().Addr) >= dataAddressSize {
		lost.Add(lostSource)
	}
	if len(m.Dest().Addr) >= dataAddressSize {
		lost.Add(lostDest)
	}
	if m.Class != sms.NoClass && classless.Has(m.Alphabet) {
		lost.Add(lostClass)
	}
	return lost
}

// Leave implements protocols.Converter.
func (d *Driver) Leave(m *sms.Message) (lost protocols.Lost) {
	head, service, params := nativeOf(m)
	if m.Kind != sms.Receipt && hasLeaving(params) {
		leave(m, params)
		head, service, params = nativeOf(m)
	}
	if isWaiting(head[2]) {
		lost.Add(lostWaiting)
	}
	head[2] = 0 // data_coding: the message's alphabet implies it, or a loss of the alphabet is reported
	if m.Kind == sms.Receipt {
		head[0] = 0 // the report's state implies it
	}
	for i, row := range [...]int{lostESMClass, lostRegistered, -1, lostReplace, lostDefaultID} {
		if head[i] != 0 {
			lost.Add(row)
		}
	}
	if len(service) > 0 {
		lost.Add(lostServiceType)
	}
	for tag := range TLVs(params) {
		switch i := indexOfTag(tag); {
		case i < 0:
			lost.Add(lostVendor)
		case tag == TagPayload: // the payload is the message's text
		case m.Kind == sms.Receipt && (tag == TagReceiptedID || tag == TagMessageState || tag == TagNetworkError):
		default:
			lost.Add(lostParameters + i)
		}
	}
	return lost
}

// hasLeaving reports whether there is an optional parameter that sms.Message may have room for.
func hasLeaving(params []byte) bool {
	for tag := range TLVs(params) {
		switch tag {
		case tagSARReference, tagSourcePort, tagDestPort, tagDestSubunit:
			return true
		}
	}
	return false
}

// leave moves optional parameters from the native part into the message.
func leave(m *sms.Message, params []byte) {
	var moved []uint16
	if v, ok := FindTLV(params, tagDestSubunit); ok && len(v) == 1 && v[0] >= 1 && v[0] <= 4 && m.Class == sms.NoClass {
		m.Class = sms.Class0 + sms.Class(v[0]-1)
		moved = append(moved, tagDestSubunit)
	}
	var header []byte
	if m.Flags&sms.HasHeader == 0 {
		part, ok := partOf(params)
		if ok {
			moved = append(moved, sarTags[:]...)
		}
		header, moved = appendPorts([]byte{0}, params, moved)
		header, _ = userdata.AppendHeader(nil, header, part)
	}
	if len(moved) == 0 {
		return
	}
	native := nativeWithout(m, moved...)
	if len(header) > 0 {
		m.SetText(append(header, m.Text()...))
		m.Flags |= sms.HasHeader
	}
	putNative(m, native)
}

// iePorts is the information element of ports of 3GPP TS 23.040.
const iePorts = 0x05

// appendPorts appends the ports of an application. A missing one is 0.
func appendPorts(header, params []byte, moved []uint16) ([]byte, []uint16) {
	to, isTo := FindTLV(params, tagDestPort)
	from, isFrom := FindTLV(params, tagSourcePort)
	if !isTo && !isFrom || isTo && len(to) != 2 || isFrom && len(from) != 2 {
		return header, moved
	}
	header = append(header, iePorts, 4)
	for _, port := range [][]byte{to, from} {
		n := uint16(0)
		if len(port) == 2 {
			n = binary.BigEndian.Uint16(port)
		}
		header = binary.BigEndian.AppendUint16(header, n)
	}
	return header, append(moved, tagDestPort, tagSourcePort)
}
