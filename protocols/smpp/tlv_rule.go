package smpp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"pmg/protocols"
)

// A TLVRule changes the optional parameters of messages. Package config describes the tags.
type TLVRule struct {
	In    string `yaml:"in" enum:"add|drop" live:"rebind" doc:"What is done to a parameter of what arrives on the connector. A rule has either this or out; rules apply in the order of the file."`
	Out   string `yaml:"out" enum:"add|drop" live:"rebind" doc:"The same for those that leave by the connector: add gives value to messages without the parameter, drop removes it."`
	TLV   string `yaml:"tlv" required:"yes" live:"rebind" doc:"The parameter: its name in SMPP, or its tag, such as 0x1400."`
	Value string `yaml:"value" live:"rebind" doc:"With add: its value, a number or a text; of a parameter that SMPP does not name, a text, or octets in hexadecimal behind 0x."`
}

// A tlvRule is a compiled rule.
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
		tag, p, err := parseTag(r.TLV)
		if err != nil {
			problem("tlv", err.Error())
		}
		c.tag = tag
		switch {
		case r.Value != "" && !c.adds:
			problem("value", "is only for add")
		case c.adds:
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

// parseTag reads the name of a parameter, or its tag. The parameter is nil if SMPP does not name it.
func parseTag(text string) (uint16, *parameter, error) {
	p := findParameter([]byte(text))
	tag, err := strconv.ParseUint(text, 0, 16)
	switch {
	case text == "": // the empty text was already reported as a problem
	case p != nil:
		tag = uint64(p.tag)
	case err != nil || tag == 0:
		return 0, nil, fmt.Errorf("%q is neither a parameter of SMPP nor a tag such as 0x1400", text)
	default:
		p = findTag(uint16(tag))
	}
	if tag == TagPayload {
		return 0, nil, errors.New("is the text of the message, which a rule cannot change")
	}
	return uint16(tag), p, nil
}

// A Parameter is an optional parameter of all messages of an account. Package config describes the tags.
type Parameter struct {
	TLV   string `yaml:"tlv" required:"yes" live:"yes" doc:"The parameter: its name in SMPP, or its tag, such as 0x1400."`
	Value string `yaml:"value" required:"yes" live:"yes" doc:"Its value, a number or a text; of a parameter that SMPP does not name, a text, or octets in hexadecimal behind 0x."`
}

// CompileParameters returns the octets of parameters, nil if there are none. Of several with a tag the first counts.
func CompileParameters(all []Parameter) (octets []byte, problems []protocols.Problem) {
	for i, x := range all {
		tag, p, err := parseTag(x.TLV)
		if err != nil {
			problems = append(problems, protocols.Problem{Option: fmt.Sprintf("tlvs[%d].tlv", i), Text: err.Error()})
			continue
		}
		value, err := p.parse(x.Value)
		if err != nil {
			problems = append(problems, protocols.Problem{Option: fmt.Sprintf("tlvs[%d].value", i), Text: err.Error()})
		}
		if _, has := FindTLV(octets, tag); !has {
			octets = AppendTLV(octets, tag, value)
		}
	}
	return octets, problems
}

// addMissing adds to a message those parameters of its account that the message lacks.
func addMissing(p *PDU, octets []byte) {
	at := len(p.scratch)
	p.scratch = append(p.scratch, p.SM.TLVs...)
	for tag, value := range TLVs(octets) {
		if _, has := FindTLV(p.SM.TLVs, tag); !has {
			p.scratch = AppendTLV(p.scratch, tag, value)
		}
	}
	p.SM.TLVs = p.scratch[at:len(p.scratch):len(p.scratch)]
}

// parse reads a value of the configuration. p is nil for a parameter that is not assigned.
func (p *parameter) parse(text string) ([]byte, error) {
	if p != nil && p.kind == integer {
		n, err := strconv.ParseUint(text, 0, 8*p.size)
		if err != nil {
			return nil, fmt.Errorf("must be an integer that fits into %d octets, not %q", p.size, text)
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

// rewrite applies the rules to a message's optional parameters, in the PDU's own storage.
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
