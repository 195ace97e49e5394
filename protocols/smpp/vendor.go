package smpp

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pmg/protocols"
)

// A VendorTLV declares an optional parameter that no document has. Package config describes
// the tags.
type VendorTLV struct {
	Tag  string `yaml:"tag" required:"yes" live:"no" doc:"Its tag, such as 0x1400. SMPP leaves 0x1400 to 0x3fff to vendors; any other that no version of SMPP names is allowed too."`
	Name string `yaml:"name" required:"yes" live:"no" doc:"Its name in pdu logs and in rules: small letters, digits and '_'."`
	Type string `yaml:"type" default:"octets" enum:"octets|text|uint8|uint16|uint32" live:"no" doc:"What its value is: a number of one, two or four octets, text, or octets of any meaning, which like message texts are not logged with pdulog.text: false."`
}

// vendorKinds are the kinds and sizes of the types of declared parameters.
var vendorKinds = map[string]parameter{
	"octets": {kind: octets, size: maxTLV},
	"text":   {kind: cstring, least: 1, size: maxTLV},
	"uint8":  {kind: integer, least: 1, size: 1},
	"uint16": {kind: integer, least: 2, size: 2},
	"uint32": {kind: integer, least: 4, size: 4},
}

// A dictionary is the declared parameters, in order of tag. Nil has none.
type dictionary struct{ all []parameter }

// newDictionary returns the dictionary of declarations, those that CheckVendorTLVs objects to
// left out.
func newDictionary(declared []VendorTLV) *dictionary {
	if len(declared) == 0 {
		return nil
	}
	d := &dictionary{}
	for _, v := range declared {
		tag, err := parseTag(v.Tag)
		p, ok := vendorKinds[v.Type]
		if err != nil || !ok || d.findTag(tag) != nil || d.find(v.Name) != nil {
			continue
		}
		p.tag, p.name = tag, v.Name
		at, _ := slices.BinarySearchFunc(d.all, tag, byTag)
		d.all = slices.Insert(d.all, at, p)
	}
	return d
}

func byTag(p parameter, tag uint16) int { return cmp.Compare(p.tag, tag) }

// findTag returns the parameter with a tag: one of SMPP's or a declared one. It returns nil
// if there is none.
func (d *dictionary) findTag(tag uint16) *parameter {
	if p := findTag(tag); p != nil || d == nil {
		return p
	}
	at, ok := slices.BinarySearchFunc(d.all, tag, byTag)
	if !ok {
		return nil
	}
	return &d.all[at]
}

// find returns the parameter with a name, or nil if there is none.
func (d *dictionary) find(name string) *parameter {
	if p := findParameter([]byte(name)); p != nil || d == nil {
		return p
	}
	for i := range d.all {
		if d.all[i].name == name {
			return &d.all[i]
		}
	}
	return nil
}

func parseTag(text string) (uint16, error) {
	n, err := strconv.ParseUint(text, 0, 16)
	if err != nil {
		return 0, fmt.Errorf("must be a number of two octets such as 0x1400, not %q", text)
	}
	return uint16(n), nil
}

var vendorName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// reserved are the words of the pdu log that are no names of fields.
var reserved = []string{"account", "error", "hex", "id", "malformed", "rest", "seq", "status"}

// fieldNames returns the names of all fields of all PDUs.
func fieldNames() map[string]bool {
	names := map[string]bool{}
	for _, word := range reserved {
		names[word] = true
	}
	note := func(name string, _ any) { names[name] = true }
	for _, c := range commands {
		p := PDU{ID: c.id, Body: true}
		p.fields(&Walk{mode: visit, call: note})
	}
	for _, item := range []Fields{&Destination{Flag: flagAddress}, &Destination{Flag: flagList}, &Unsuccessful{}} {
		item.walk(&Walk{mode: visit, call: note})
	}
	return names
}

// CheckVendorTLVs returns the problems of declarations. The options are "[0].tag".
func CheckVendorTLVs(declared []VendorTLV) (problems []protocols.Problem) {
	taken := fieldNames()
	tags := map[uint16]bool{}
	for i, v := range declared {
		problem := func(option, format string, args ...any) {
			problems = append(problems, protocols.Problem{Option: fmt.Sprintf("[%d].%s", i, option), Text: fmt.Sprintf(format, args...)})
		}
		switch tag, err := parseTag(v.Tag); {
		case v.Tag == "": // which is a problem already
		case err != nil:
			problem("tag", "%v", err)
		case findTag(tag) != nil:
			problem("tag", "is %s in SMPP: declare only tags that SMPP does not name", findTag(tag).name)
		case tags[tag]:
			problem("tag", "0x%04x is declared twice", tag)
		default:
			tags[tag] = true
		}
		switch {
		case v.Name == "":
		case !vendorName.MatchString(v.Name) || strings.HasPrefix(v.Name, "tlv_0x"):
			problem("name", "must be small letters, digits and '_', and begin with a letter, not %q", v.Name)
		case taken[v.Name] || findParameter([]byte(v.Name)) != nil:
			problem("name", "%q has a meaning in pdu logs already: give it another name", v.Name)
		}
		taken[v.Name] = true
	}
	return problems
}

// A TLVRule changes the optional parameters of messages. Package config describes the tags.
type TLVRule struct {
	In    string `yaml:"in" enum:"add|drop|rename" live:"rebind" doc:"What is done to a parameter of messages and receipts that arrive on the connector. A rule has either this or out. Rules apply in the order of the file, each to what those before it have made."`
	Out   string `yaml:"out" enum:"add|drop|rename" live:"rebind" doc:"The same for those that leave by the connector: add gives value to messages without the parameter, drop removes it, rename gives its value the tag of the parameter to."`
	TLV   string `yaml:"tlv" required:"yes" live:"rebind" doc:"The parameter: its name in SMPP or in vendor_tlvs, or its tag, such as 0x1400."`
	To    string `yaml:"to" live:"rebind" doc:"With rename: the parameter that it becomes."`
	Value string `yaml:"value" live:"rebind" doc:"With add: its value, a number or a text as its type asks for; octets, and values of parameters that are not declared, in hexadecimal."`
}

// A tlvRule is a compiled one.
type tlvRule struct {
	what    string
	tag, to uint16
	value   []byte
}

// The words of rules.
const (
	ruleAdd    = "add"
	ruleDrop   = "drop"
	ruleRename = "rename"
)

// CompileTLVs compiles the connector's rules, and returns their problems.
func (o *ConnectorOptions) CompileTLVs(declared []VendorTLV) (problems []protocols.Problem) {
	d := newDictionary(declared)
	o.in, o.out = nil, nil
	for i, r := range o.TLVs {
		problem := func(option, text string) {
			problems = append(problems, protocols.Problem{Option: strings.TrimSuffix(fmt.Sprintf("tlvs[%d].%s", i, option), "."), Text: text})
		}
		c := tlvRule{what: r.In + r.Out}
		if r.In == "" == (r.Out == "") {
			problem("", "must have either in or out")
		}
		p := d.named(r.TLV, &c.tag)
		switch {
		case r.TLV == "":
		case p == nil && c.tag == 0:
			problem("tlv", fmt.Sprintf("%q is neither declared in vendor_tlvs nor a tag such as 0x1400", r.TLV))
		case c.tag == TagPayload:
			problem("tlv", "is the text of the message, which a rule cannot change")
		}
		switch {
		case r.To != "" && c.what != ruleRename:
			problem("to", "is only for rename")
		case c.what == ruleRename && d.named(r.To, &c.to) == nil && c.to == 0:
			problem("to", fmt.Sprintf("must be a parameter's name or tag, not %q", r.To))
		case c.what == ruleRename && c.to == TagPayload:
			problem("to", "is the text of the message, which a rule cannot change")
		}
		switch {
		case r.Value != "" && c.what != ruleAdd:
			problem("value", "is only for add")
		case c.what == ruleAdd:
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

// named returns the parameter with a name or a tag, nil if it is not known, and its tag, 0 if
// it is none.
func (d *dictionary) named(text string, tag *uint16) *parameter {
	p := d.find(text)
	if p == nil {
		n, err := parseTag(text)
		if err != nil {
			return nil
		}
		*tag = n
		return d.findTag(n)
	}
	*tag = p.tag
	return p
}

// parse reads a value of the configuration. A parameter that is not known has octets.
func (p *parameter) parse(text string) ([]byte, error) {
	switch {
	case p == nil || p.kind == octets:
		b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
		if err != nil {
			return nil, fmt.Errorf("must be octets in hexadecimal, not %q", text)
		}
		if p != nil && !p.fits(b) {
			return nil, fmt.Errorf("must have %d to %d octets, not %d", p.least, p.size, len(b))
		}
		return b, nil
	case p.kind == cstring:
		b := append([]byte(text), 0)
		if !p.fits(b) {
			return nil, fmt.Errorf("must have at most %d octets", p.size-1)
		}
		return b, nil
	}
	n, err := strconv.ParseUint(text, 0, 8*p.size)
	if err != nil {
		return nil, fmt.Errorf("must be a number of %d octets, not %q", p.size, text)
	}
	return binary.BigEndian.AppendUint64(nil, n)[8-p.size:], nil
}

// rewrite makes of a message's optional parameters what the rules ask for, in the PDU's own
// storage.
func (p *PDU) rewrite(rules []tlvRule) {
	p.scratch, p.SM.TLVs = applyRules(p.scratch, rules, p.SM.TLVs)
}

// applyRules appends what rules make of optional parameters to b, and returns that too.
func applyRules(b []byte, rules []tlvRule, params []byte) (grown, result []byte) {
	for i := range rules {
		r := &rules[i]
		at, found := len(b), false
		for tag, value := range TLVs(params) {
			if tag == r.tag {
				switch found = true; r.what {
				case ruleDrop:
					continue
				case ruleRename:
					tag = r.to
				}
			}
			b = AppendTLV(b, tag, value)
		}
		if r.what == ruleAdd && !found {
			b = AppendTLV(b, r.tag, r.value)
		}
		params = b[at:len(b):len(b)]
	}
	return b, params
}
