package jasmin

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// maxOctets is the limit of a dump, so that no file fills the memory.
const maxOctets = 16 << 20

// A Dump is the output of sessions with the console.
type Dump struct {
	Connectors, Users []*Record
	Groups            []Row // lists: users, groups, connectors of SMPP and of HTTP, routes
	UserList          []Row
	ConnectorList     []Row
	HTTP              []Row
	Filters           []Row
	MT, MO            []Row
	Interceptors      []Row
	Unknown           []Row // lines of an unknown form
}

// A Record is the console's output about a connector or a user.
type Record struct{ Options []Option }

// An Option is a line of a record.
type Option struct {
	Line        int
	Name, Value string
}

// Line returns the line of the first option.
func (r *Record) Line() int { return r.Options[0].Line }

// A Row is a line of a list.
type Row struct {
	Line int
	Text string
}

// ReadFile reads a dump.
func ReadFile(name string) (*Dump, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the dump: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("cannot read the dump: %s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the dump: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxOctets+1))
	if err == nil && len(text) > maxOctets {
		err = fmt.Errorf("%s has more than %d MiB", name, maxOctets>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the dump: %w", err)
	}
	return Read(text), nil
}

// A reader reads the lines of a dump.
type reader struct {
	dump   Dump
	record *Record
	list   *[]Row          // the list that the following rows belong to
	names  map[string]bool // names of options
}

// Read reads a dump.
func Read(text []byte) *Dump {
	r := reader{names: map[string]bool{}}
	for _, of := range Table() {
		name, _, _ := strings.Cut(of.Option, " ")
		r.names[name] = true
	}
	r.names["url"], r.names["method"] = true, true // of httpccm -s
	for i, line := range strings.Split(clean(text), "\n") {
		r.line(i+1, line)
	}
	r.flush()
	return &r.dump
}

// control matches the control sequences of terminals, which are no text.
var control = regexp.MustCompile(`\x1b\[[0-9;?]*[@-~]|\x1b[@-Z\\-_a-z]`)

// lineEnd matches line ends from telnet and terminals. Jasmin's has three '\r'.
var lineEnd = regexp.MustCompile(`\r*\n`)

// clean returns the text of a session without control sequences of the terminal.
func clean(text []byte) string {
	if bytes.IndexByte(text, 0xff) >= 0 {
		text = withoutNegotiation(text)
	}
	s := control.ReplaceAllString(string(text), "")
	s = lineEnd.ReplaceAllString(s, "\n")
	return strings.ReplaceAll(s, "\r", "\n")
}

// withoutNegotiation removes telnet commands: each begins with 255; commands 251 to 254 have an option.
func withoutNegotiation(text []byte) []byte {
	var b []byte
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != 0xff:
			b = append(b, text[i])
		case i+1 < len(text) && text[i+1] >= 0xfb && text[i+1] != 0xff:
			i += 2
		default:
			i++
		}
	}
	return b
}

const prompt = "jcli : "

// said matches the beginnings of lines without information about the configuration: greetings, sums, typed commands.
var said = regexp.MustCompile(`^(Welcome to |Type help |Session ref: |Authentication required|Username: |Password: |Total |` +
	`(smppccm|user|group|filter|mtrouter|morouter|mtinterceptor|mointerceptor|httpccm|stats|persist|load|quit|help)( |$))`)

// line reads a line. The output of a command begins after a prompt.
func (r *reader) line(number int, line string) {
	for strings.HasPrefix(line, prompt) || line == strings.TrimSpace(prompt) {
		r.flush()
		r.list = nil
		line = strings.TrimPrefix(line[min(len(line), len(prompt)):], " ")
	}
	name, value, _ := strings.Cut(line, " ")
	switch {
	case strings.TrimSpace(line) == "":
	case strings.HasPrefix(line, "#"):
		r.flush()
		r.row(number, line[1:])
	case r.names[name]:
		if isCredential(name) {
			section, rest, _ := strings.Cut(value, " ")
			key, of, _ := strings.Cut(rest, " ")
			name, value = name+" "+section+" "+key, of
		}
		r.option(number, name, value)
	case said.MatchString(line):
		r.flush()
	default: // also within a record: the options after the line belong to the same record
		r.dump.Unknown = append(r.dump.Unknown, Row{number, line})
	}
}

// isCredential reports whether the options of a user after a name have names of three words.
func isCredential(name string) bool { return name == "mt_messaging_cred" || name == "smpps_cred" }

// option adds an option to the record. A repeated option begins another record.
func (r *reader) option(number int, name, value string) {
	if r.record != nil && r.record.has(name) {
		r.flush()
	}
	if r.record == nil {
		r.record = &Record{}
	}
	r.record.Options = append(r.record.Options, Option{number, name, value})
}

// flush ends the record: a connector's has a cid, a user's a uid.
func (r *reader) flush() {
	record := r.record
	r.record = nil
	switch {
	case record == nil:
	case record.has("cid") && (record.has("url") || record.has("method")):
		r.dump.HTTP = append(
			r.dump.HTTP,
			Row{
				record.Line(),
				strings.Join([]string{record.get("cid"), "HttpConnector", record.get("method"), record.get("url")}, " "),
			},
		)
	case record.has("cid"):
		r.dump.Connectors = append(r.dump.Connectors, record)
	case record.has("uid"):
		r.dump.Users = append(r.dump.Users, record)
	default:
		for _, o := range record.Options {
			r.dump.Unknown = append(r.dump.Unknown, Row{o.Line, o.Name})
		}
	}
}

func (r *Record) get(name string) string {
	for _, o := range r.Options {
		if o.Name == name {
			return o.Value
		}
	}
	return ""
}

func (r *Record) has(name string) bool {
	return slices.ContainsFunc(r.Options, func(o Option) bool { return o.Name == name })
}

// row reads a line of a list. The first row identifies the list.
func (r *reader) row(number int, text string) {
	heads := []struct {
		begins, has string
		list        *[]Row
	}{
		{"Connector id", "", &r.dump.ConnectorList}, {"User id", "", &r.dump.UserList}, {"Group id", "", &r.dump.Groups},
		{"Httpcc id", "", &r.dump.HTTP}, {"Filter id", "", &r.dump.Filters},
		{"Order", "Script", &r.dump.Interceptors}, {"Order", "Rate", &r.dump.MT}, {"Order", "Connector ID", &r.dump.MO},
	}
	for _, h := range heads {
		if strings.HasPrefix(text, h.begins+" ") && strings.Contains(text, h.has) || text == h.begins {
			r.list = h.list
			return
		}
	}
	if r.list == nil {
		r.list = &r.dump.Unknown
		defer func() { r.list = nil }()
	}
	*r.list = append(*r.list, Row{number, strings.TrimRight(text, " ")})
}
