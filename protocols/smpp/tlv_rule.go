package smpp

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"pmg/protocols"
)

// A TLVRule changes the optional parameters of messages. Package config describes the tags.
type TLVRule struct {
	In    string `yaml:"in" enum:"add|drop" live:"rebind" doc:"What is done to a parameter of messages and receipts that arrive on the connector. A rule has either this or out. Rules apply in the order of the file."`
	Out   string `yaml:"out" enum:"add|drop" live:"rebind" doc:"The same for those that leave by the connector: add gives value to messages without the parameter, drop removes it."`
	TLV   string `yaml:"tlv" required:"yes" live:"rebind" doc:"The parameter: its name in SMPP, or its tag, such as 0x1400."`
	Value string `yaml:"value" live:"rebind" doc:"With add: its value, a number or a text as SMPP has it. That of a parameter that SMPP does not name is a text, as it stands, or octets in hexadecimal behind 0x."`
}

// A tlvRule is a compiled one.
type tlvRule struct {
	adds  bool
	tag   uint16
	value []byte
}

// CompileTLVs compiles the connector's rules, and returns their problems.
func (o *ConnectorOptions) CompileTLVs() (problems []protocols.Problem) {
	o.in, o.out = nil, nil
	for i, r := range o.TLVs {
		problem := func(option, text string) {
			problems = append(
				problems,
				protocols.Problem{Option: strings.TrimSuffix(fmt.Sprintf("tlvs[%d].%s", i, option), "."), Text: text},
			)
		}
		c := tlvRule{adds: r.In+r.Out == "add"}
		if r.In == "" == (r.Out == "") {
			problem("", "must have either in or out")
		}
		p := findParameter([]byte(r.TLV))
		if p != nil {
			c.tag = p.tag
		} else if tag, err := strconv.ParseUint(r.TLV, 0, 16); err == nil {
			c.tag, p = uint16(tag), findTag(uint16(tag))
		}
		switch {
		case r.TLV == "":
		case c.tag == 0:
			problem("tlv", fmt.Sprintf("%q is neither a parameter of SMPP nor a tag such as 0x1400", r.TLV))
		case c.tag == TagPayload:
			problem("tlv", "is the text of the message, which a rule cannot change")
		}
		switch {
		case r.Value != "" && !c.adds:
			problem("value", "is only for add")
		case c.adds:
			var err error
			if c.value, err = p.parse(r.Value); err != nil {
				problem("value", err.Error())
			}
		}
		if r.In != "" {
			o.in = append(o.in, c)
		} else {
			o.out = append(o.out, c)
		}
	}
	return problems
}

// parse reads a value of the configuration. p is nil for a parameter that is not assigned.
func (p *parameter) parse(text string) ([]byte, error) {
	if p != nil && p.kind == integer {
		n, err := strconv.ParseUint(text, 0, 8*p.size)
		if err != nil {
			return nil, fmt.Errorf("must be a number of %d octets, not %q", p.size, text)
		}
		return binary.BigEndian.AppendUint64(nil, n)[8-p.size:], nil
	}
	b := []byte(text)
	if digits, isHex := strings.CutPrefix(text, "0x"); isHex {
		var err error
		if b, err = hex.DecodeString(digits); err != nil {
			return nil, fmt.Errorf("must be octets in hexadecimal behind 0x, not %q", text)
		}
	} else if p != nil && p.kind == cstring {
		b = append(b, 0)
	}
	if p != nil && !p.fits(b) {
		return nil, fmt.Errorf("must have %d to %d octets, not %d", p.least, p.size, len(b))
	}
	return b, nil
}

// rewrite makes of a message's optional parameters what the rules ask for, in the PDU's own
// storage.
func (p *PDU) rewrite(rules []tlvRule) {
	for i := range rules {
		r := &rules[i]
		at, found := len(p.scratch), false
		for tag, value := range TLVs(p.SM.TLVs) {
			found = found || tag == r.tag
			if tag != r.tag || r.adds {
				p.scratch = AppendTLV(p.scratch, tag, value)
			}
		}
		if r.adds && !found {
			p.scratch = AppendTLV(p.scratch, r.tag, r.value)
		}
		p.SM.TLVs = p.scratch[at:len(p.scratch):len(p.scratch)]
	}
}
