package jasmin

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
)

// A field is a parameter of a request.
type field struct {
	name    string
	must    bool           // the field is required
	pattern *regexp.Regexp // nil: any value
}

var (
	isNumber  = regexp.MustCompile(`^\+?\d+$`)
	isLogin   = regexp.MustCompile(`^.{1,64}$`)
	isDigits  = regexp.MustCompile(`^\d+$`)
	isTags    = regexp.MustCompile(`^[-a-zA-Z0-9,]*$`)
	isURL     = regexp.MustCompile(`^https?://.`)
	isSDT     = regexp.MustCompile(`^\d{15}[-+R]$`)
	isChoice  = regexp.MustCompile(`^(yes|no)$`)
	isLevel   = regexp.MustCompile(`^[1-3]$`)
	isMethod  = regexp.MustCompile(`(?i)^(get|post)$`)
	isFrom0   = regexp.MustCompile(`^[0-3]$`)
	isCoding  = regexp.MustCompile(`^(0|1|2|3|4|8)$`) // Jasmin has 5-7, 9, 10, 13 and 14 too, which no message here can have
	tlvTypes  = []string{"COctetString", "OctetString", "Int1", "Int2", "Int4"}
	rateNames = []string{
		"to", "from", "coding", "username", "password", "priority", "validity-period", "tags", "content", "hex-content",
	}
)

// allFields are the parameters of a message, in the order of Jasmin's checks.
var allFields = []field{
	{"to", true, isNumber},
	{"from", false, nil},
	{"coding", false, isCoding},
	{"username", true, isLogin},
	{"password", true, isLogin},
	{"priority", false, isFrom0},
	{"sdt", false, isSDT},
	{"validity-period", false, isDigits},
	{"dlr", false, isChoice},
	{"dlr-url", false, isURL},
	{"dlr-level", false, isLevel},
	{"dlr-method", false, isMethod},
	{"tags", false, isTags},
	{"content", false, nil},
	{"hex-content", false, nil},
	{"custom_tlvs", false, nil},
}

// fieldsOf returns the fields with those names, in the order of all.
func fieldsOf(names ...string) (fields []field) {
	for _, f := range allFields {
		if slices.Contains(names, f.name) {
			fields = append(fields, f)
		}
	}
	return fields
}

// check returns the error of parameters, empty if they are valid.
func check(p *params, fields []field) string {
	for _, name := range p.names {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			return "Argument [" + name + "] is unknown."
		}
	}
	for _, f := range fields {
		value, given := p.values[f.name]
		switch {
		case !given && f.must:
			return "Mandatory argument [" + f.name + "] is not found."
		case given && f.pattern != nil && !f.pattern.MatchString(value), f.name == "custom_tlvs" && given && !areTLVs(value):
			return invalid(f.name, value)
		}
	}
	return ""
}

func invalid(name, value string) string {
	return "Argument [" + name + "] has an invalid value: [" + value + "]."
}

// areTLVs reports whether a text is a JSON list of TLVs, each a list of its tag, length or null, type and value.
func areTLVs(text string) bool {
	var all [][]json.RawMessage
	if json.Unmarshal([]byte(text), &all) != nil {
		return false
	}
	for _, t := range all {
		var tag uint16
		var length *uint16
		var kind string
		if len(t) != 4 || json.Unmarshal(t[0], &tag) != nil || json.Unmarshal(t[1], &length) != nil ||
			json.Unmarshal(t[2], &kind) != nil ||
			!slices.Contains(tlvTypes, kind) || bytes.ContainsAny(t[3][:1], "[{n") {
			return false
		}
	}
	return true
}
