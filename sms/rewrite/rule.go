package rewrite

import (
	"fmt"
	"reflect"
	"strings"
)

// A Rule is a rule in the configuration. Package config describes the tags.
type Rule struct {
	In  string `yaml:"in" enum:"source|destination" live:"yes" doc:"The address of messages that arrive or that the account submits; a rule has this or out. They apply before routing: the connector's, then the account's, in the order of the file."`
	Out string `yaml:"out" enum:"source|destination" live:"yes" doc:"The address of messages that leave or that the account receives. They apply at each attempt, not to the stored message: the account's, then the connector's."`

	Match string `yaml:"match" live:"yes" doc:"A regular expression (RE2) that the whole address must match: 0([1-9].*) matches 0170, not 00170. (?i) at its beginning ignores case."`

	Replace  string   `yaml:"replace" live:"yes" doc:"The address that replaces a match: $1 to $9 are the groups of match, $0 all of it."`
	Strip    string   `yaml:"strip" live:"yes" doc:"A prefix that is removed. The rule does nothing to an address that does not begin so."`
	Add      string   `yaml:"add" live:"yes" doc:"A prefix that is put in front, after strip."`
	Prefixes []string `yaml:"prefixes" live:"yes" doc:"Beginnings of the address, and their replacements: [0046, 0=0046, +=00]; the first that fits counts, and without '=' leaves the address alone. +46 fits an international number, 46 one of another type, an entry that begins with '=' every address."`
	Set      string   `yaml:"set" live:"yes" doc:"The address that replaces any other."`
	Default  string   `yaml:"default" live:"yes" doc:"The address that a message without one is given."`
	TON      string   `yaml:"ton" enum:"auto|0|1|2|3|4|5|6" live:"yes" doc:"The new type of number: 0 unknown, 1 international, 2 national, 3 network specific, 4 subscriber, 5 alphanumeric, 6 abbreviated. auto sets type and plan: 5 and 0 for a name, 3 and 0 for up to six digits, 0 and 1 with a 0 in front, 1 and 1 for others, without '+'. When not given: auto with set and default, else unchanged."`
	NPI      string   `yaml:"npi" enum:"0|1|3|4|6|8|9|10|14|18" live:"yes" doc:"The new numbering plan; 1 is that of telephone numbers (E.164). When not given it stays, unless ton: auto chooses it."`

	Allow []string `yaml:"allow" live:"yes" doc:"The addresses that may pass, '*' at the end of a prefix; others are refused (SMPP: ESME_RINVDSTADR or ESME_RINVSRCADR). Case and a leading '+' make no difference. In in rules alone; receipts always pass."`
	Deny  []string `yaml:"deny" live:"yes" doc:"The addresses that may not pass, written like those of allow."`
}

// String returns the options of the rule that are set, almost in the form of the configuration.
func (r Rule) String() string { return Text(r) }

// Text returns the strings, and lists of strings, that are set in a part of a configuration.
func Text(options any) string {
	var b strings.Builder
	v := reflect.ValueOf(options)
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		var value string
		switch given := v.Field(i).Interface().(type) {
		case string:
			value = given
		case []string:
			value = entries(given)
		}
		if value != "" {
			fmt.Fprintf(&b, ", %s: %s", v.Type().Field(i).Tag.Get("yaml"), value)
		}
	}
	return "{" + strings.TrimPrefix(b.String(), ", ") + "}"
}

// maxShown is the maximum number of entries of a list that are shown.
const maxShown = 5

func entries(list []string) string {
	if len(list) == 0 {
		return ""
	}
	shown := strings.Join(list[:min(len(list), maxShown)], ", ")
	if more := len(list) - maxShown; more > 0 {
		shown += fmt.Sprintf(", and %d more", more)
	}
	return "[" + shown + "]"
}

// A Problem is the error of a rule.
type Problem struct {
	Rule   int    // index of the rule in the list
	Option string // name of the option; "": the rule as a whole
	Text   string // "must be …"
}
