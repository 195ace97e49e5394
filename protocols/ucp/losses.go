package ucp

import (
	"bytes"
	"fmt"

	"pmg/protocols"
	"pmg/sms"
)

// The rows of losses, before the rows of the extra services.
const (
	lostLRAd = iota
	lostMMS
	lostDCs
	lostRPI
	lostHPLMN
	lostReserved
	lostSCTS
	lostOriginator
	lostOriginatorTON
	lostRecipient
	lostRecipientTON
	lostPriority
	lostNotify
	lostCoding
	lostService  // an extra service that is not in services
	lostServices // the first of services
)

// notSent is the text of a field that is lost completely.
const notSent = "Not sent."

// losses lists all fields that a message may lose between UCP and another protocol.
var losses = func() []protocols.Loss {
	all := []protocols.Loss{
		lostLRAd:     {Field: "LRAd", Text: "LRq, LRAd and LPID: the message has no last resort address."},
		lostMMS:      {Field: "MMS", Text: notSent},
		lostDCs:      {Field: "DCs", Text: "Not sent; release 4.0 ignores it as well."},
		lostRPI:      {Field: "RPI", Text: "That the message is a response (2) is not sent. A reply path (1) is."},
		lostHPLMN:    {Field: "HPLMN", Text: notSent},
		lostReserved: {Field: "CPg", Text: "CPg, RPLy, RES4 and RES5 are reserved, and not sent."},
		lostSCTS:     {Field: "SCTS", Text: "The SMSC's time of a message from a mobile is not sent. That of a notification is."},

		lostOriginator: {
			Field: "source", Neutral: true, Refuse: sms.BadSource,
			Text: "A number of more than 16 digits, or a name that is longer than 11 characters or has others than GSM " +
				"7-bit: the message is refused.",
		},
		lostOriginatorTON: {
			Field: "source_type", Neutral: true,
			Text: "Types other than unknown (0), international (1) and alphanumeric (5), and plans other than 0 and 1: " +
				"the digits are sent.",
		},
		lostRecipient: {
			Field: "destination", Neutral: true,
			Text:   "Other than up to 16 digits, with the international prefix: the message is refused.",
			Refuse: sms.BadDestination,
		},
		lostRecipientTON: {Field: "destination_type", Neutral: true, Text: "As source_type."},
		lostPriority:     {Field: "priority", Neutral: true, Text: "One with `priority: true` of the connector, otherwise none. Priorities over 1 are sent as 1."},
		lostNotify: {
			Field: "notify", Neutral: true, Text: "A message of a mobile (operation 52) cannot ask for notifications.",
		},
		lostCoding: {Field: "coding", Neutral: true, Text: "A coding of another protocol's: the text is sent as octets."},

		lostService: {Field: "XSer", Text: "Extra services that are none of those below."},
	}
	for i := range services {
		s := &services[i]
		l := protocols.Loss{Field: fmt.Sprintf("XSer_%02X", s.number), Text: "The " + s.name + " is not sent."}
		switch s.number {
		case xserHeader:
			l.Text = "The user data header is the beginning of the text; never lost."
		case xserDCS:
			l.Text = "A data coding scheme with more than an alphabet and a class, such as message waiting."
		}
		all = append(all, l)
	}
	return all
}()

// Protocol implements protocols.Converter.
func (d *Driver) Protocol() sms.Protocol { return protocols.UCP }

// Losses implements protocols.Converter.
func (d *Driver) Losses() []protocols.Loss { return losses }

// lostNative is the row, plus one, for each field of a native part that can be lost.
var lostNative = [nativeEnd]uint8{
	nativeLRq: lostLRAd + 1, nativeLRAd: lostLRAd + 1, nativeLPID: lostLRAd + 1,
	nativeMMS: lostMMS + 1, nativeDCs: lostDCs + 1, nativeRPI: lostRPI + 1, nativeHPLMN: lostHPLMN + 1,
	nativeCPg: lostReserved + 1, nativeRPLy: lostReserved + 1, nativeRES4: lostReserved + 1, nativeRES5: lostReserved + 1,
	nativeSCTS: lostSCTS + 1,
}

// Leave implements protocols.Converter. No field of the native part has room in sms.Message.
func (d *Driver) Leave(m *sms.Message) (lost protocols.Lost) {
	for native := m.Native(protocols.UCP); ; {
		number, v, rest, ok := cutNative(native)
		if !ok {
			return lost
		}
		native = rest
		if number == nativeXSer {
			lostXSer(&lost, m, v)
		} else if int(number) < len(lostNative) && lostNative[number] != 0 && (number != nativeSCTS || m.Kind != sms.Receipt) {
			lost.Add(int(lostNative[number]) - 1)
		}
	}
}

// lostXSer adds the extra services of a message to the losses, except a data coding scheme with only the message's alphabet
// and class.
func lostXSer(lost *protocols.Lost, m *sms.Message, xser []byte) {
	for {
		number, v, rest, ok := cutXSer(xser)
		if !ok {
			return
		}
		xser = rest
		if number == xserDCS && len(v) == 2 {
			dcs := nibbles[v[0]]<<4 | nibbles[v[1]]
			if a, _ := codingOf(dcs); a != sms.Other && !isWaiting(dcs) && (isOf(m, a) || m.Flags&sms.Converted != 0) {
				continue
			}
		}
		if findService(number) != nil {
			lost.Add(lostServices + int(number) - 1)
		} else {
			lost.Add(lostService)
		}
	}
}

// isOf reports whether a message has an alphabet. All default alphabets count as the same.
func isOf(m *sms.Message, a sms.Alphabet) bool {
	return m.Alphabet == a || a == sms.Default && m.Alphabet.IsDefault()
}

// Lacks implements protocols.Converter.
func (d *Driver) Lacks(m *sms.Message, o protocols.Options) (lost protocols.Lost) {
	if m.Kind == sms.Receipt {
		return lost // a receipt has no text that could lose anything
	}
	options, _ := o.(*ConnectorOptions)
	if options == nil {
		options = NewConnectorOptions()
	}
	source, dest := m.Source(), m.Dest()
	if !canOriginate(source) {
		lost.Add(lostOriginator)
	}
	if source.TON > tonInternational && source.TON != tonAlphanumeric || source.NPI > npiISDN {
		lost.Add(lostOriginatorTON)
	}
	if len(dest.Addr) == 0 || !options.fits(dest) {
		lost.Add(lostRecipient)
	}
	if dest.TON > tonInternational || dest.NPI > npiISDN {
		lost.Add(lostRecipientTON)
	}
	if m.Priority > 1 || m.Priority == 1 && (!options.Priority || m.Kind != sms.Submit) {
		lost.Add(lostPriority)
	}
	if m.Kind != sms.Submit && m.Notify != 0 {
		lost.Add(lostNotify)
	}
	if m.Alphabet == sms.Other {
		lost.Add(lostCoding)
	}
	return lost
}

func canOriginate(a sms.Address) bool {
	digits := bytes.TrimPrefix(a.Addr, []byte{'+'})
	if a.TON != tonAlphanumeric && isDigits(digits) {
		return len(digits) <= maxAddress
	}
	var room [maxOAdC]byte
	_, ok := appendName(room[:0], a.Addr)
	return ok
}
