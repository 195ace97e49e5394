package editor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"pmg/config"
	"pmg/config/document"
	"pmg/config/managed"
	"pmg/internal/passhash"
)

// Masked stands for a secret in the file. A request that contains Masked leaves the secret unchanged.
const Masked = "***"

// passwords are the secrets that a file contains as hashes. A secret with which the gateway signs must be in
// the file as plain text.
var passwords = []string{"password", "old_password"}

// Options are the options of an account, a route, a list or prices, in the form of JSON.
type Options map[string]any

// ReadOptions returns the options of a file.
func ReadOptions(data []byte) (Options, error) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil || len(file.Docs) != 1 {
		return nil, errors.Join(errors.New("cannot read the file: it is not one document of YAML"), err)
	}
	m, ok := jsonOf(file.Docs[0].Body).(map[string]any)
	if !ok {
		return nil, errors.New("cannot read the file: it has no options")
	}
	return m, nil
}

var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,14})$`)

// jsonOf returns a node in the form of JSON. A value that is no plain number, such as 0046, is a text.
func jsonOf(n ast.Node) any {
	switch n := n.(type) {
	case *ast.MappingNode:
		m := map[string]any{}
		for _, kv := range n.Values {
			m[kv.Key.GetToken().Value] = jsonOf(kv.Value)
		}
		return m
	case *ast.SequenceNode:
		list := make([]any, len(n.Values))
		for i, v := range n.Values {
			list[i] = jsonOf(v)
		}
		return list
	case *ast.LiteralNode:
		return n.Value.Value
	case nil, *ast.NullNode:
		return nil
	}
	text := n.GetToken().Value
	switch {
	case n.Type() == ast.BoolType:
		return text == "true"
	case n.Type() == ast.IntegerType && plainNumber.MatchString(text):
		return json.Number(text)
	}
	return text
}

// Mask hides the secrets of options.
func (o Options) Mask() Options {
	for _, path := range config.Secrets() {
		in, key := o.at(path)
		if text, ok := in[key].(string); ok && text != "" {
			in[key] = Masked
		}
	}
	o.eachUser(func(u map[string]any) {
		for _, key := range config.UserSecrets() {
			if u[key] != nil {
				u[key] = Masked
			}
		}
	})
	return o
}

// eachUser calls f for each user.
func (o Options) eachUser(f func(map[string]any)) {
	for _, one := range o.list("users") {
		if u, ok := one.(map[string]any); ok {
			f(u)
		}
	}
}

// ParseOptions reads options of JSON.
func ParseOptions(r io.Reader) (Options, error) {
	d := json.NewDecoder(io.LimitReader(r, managed.MaxOptions+1))
	d.UseNumber()
	var o Options
	err := d.Decode(&o)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more behind the object")
		}
	}
	if err == nil && o == nil {
		err = errors.New("it is no object")
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "cannot read the options as JSON: %v", err)
	}
	return o, nil
}

// Replacing returns a function that makes the new contents of a file of options. Secrets, keys and users that
// o lacks, and secrets that are masked, stay unchanged; null removes them. A password is stored as a hash;
// the old hash stays if the password matches it.
func (o Options) Replacing(kind, name string) func(was []byte) ([]byte, error) {
	return func(was []byte) ([]byte, error) {
		before, err := o.readBefore(kind, was)
		if err != nil {
			return nil, err
		}
		return o.storedAs(kind, name, before), nil
	}
}

// Merging returns a function that merges o into the options of a file, as a JSON merge patch (RFC 7396): null
// removes an option, and an option with options of its own is merged in the same way.
func (o Options) Merging(kind, name string) func(was []byte) ([]byte, error) {
	return func(was []byte) ([]byte, error) {
		if was == nil {
			return nil, refuse(http.StatusNotFound, "there is no %s below %s", name, kind)
		}
		before, err := o.readBefore(kind, was)
		if err != nil {
			return nil, err
		}
		next := before.Merged(o)
		for _, path := range config.Secrets() { // a secret of a section that is null would be kept as one that is not given
			patch, key := o.at(path)
			if given, isGiven := patch[key]; isGiven && given == nil {
				if in, _ := next.at(path); in != nil {
					in[key] = nil
				}
			}
		}
		return next.storedAs(kind, name, before), nil
	}
}

// Merged returns options changed by a merge patch. An option that the patch removes has the value null.
func (o Options) Merged(patch Options) Options {
	next := maps.Clone(o)
	for key, value := range patch {
		next[key] = merged(o[key], value)
	}
	return next
}

// merged returns a value changed by a merge patch.
func merged(was, patch any) any {
	members, isObject := patch.(map[string]any)
	if !isObject {
		return patch
	}
	next := map[string]any{}
	if before, ok := was.(map[string]any); ok {
		maps.Copy(next, before)
	}
	for key, value := range members {
		if value == nil {
			delete(next, key)
		} else {
			next[key] = merged(next[key], value)
		}
	}
	return next
}

// WithoutNewKeys returns a change that is refused if o contains keys that the account lacks. So an old
// document cannot restore a key that was revoked since.
func (o Options) WithoutNewKeys(change func(was []byte) ([]byte, error)) func(was []byte) ([]byte, error) {
	return func(was []byte) ([]byte, error) {
		before, err := ReadOptions(was)
		if was == nil || err != nil {
			return change(was)
		}
		known := map[any]bool{}
		for _, k := range before.list("keys") {
			known[hashOf(k)] = true
		}
		for _, k := range o.list("keys") {
			if !known[hashOf(k)] {
				one, _ := k.(map[string]any)
				return nil, refuse(
					http.StatusConflict,
					"cannot store the options: the account has no key %v now, which may have been revoked: POST …/keys makes "+
						"one; with If-Match, and the ETag of what the account has now, keys can be given", one["name"],
				)
			}
		}
		return change(was)
	}
}

func hashOf(key any) any {
	one, _ := key.(map[string]any)
	hash, _ := one["hash"].(string)
	return hash
}

// readBefore returns the options of a file, which o is to change. It returns an error if o contains options
// that are not accepted from outside.
func (o Options) readBefore(kind string, was []byte) (Options, error) {
	if problems := o.unwanted(kind); len(problems) > 0 {
		return nil, &Refusal{Status: http.StatusUnprocessableEntity, Text: "cannot store the options", Problems: problems}
	}
	if was == nil {
		return Options{}, nil
	}
	before, err := ReadOptions(was)
	if err != nil { // an unreadable file is assumed to contain secrets, keys and users
		return nil, refuse(
			http.StatusConflict, "cannot change it: it was edited, and must be mended by hand, reverted or removed: %v", err,
		)
	}
	return before, nil
}

// storedAs returns the contents of a file with the options.
func (o Options) storedAs(kind, name string, before Options) []byte {
	next := maps.Clone(o)
	if kind == managed.Accounts {
		next["system_id"] = name
		next.keepSecrets(before)
		for _, key := range []string{"keys", "users"} {
			if _, isGiven := next[key]; !isGiven && before[key] != nil {
				next[key] = before[key]
			}
		}
		next.keepUsers(before)
	} else if kind != managed.Routes {
		next["name"] = name
	}
	return next.yaml()
}

// losses returns a note for each option of an account whose loss has consequences that are easily missed.
func losses(before, after Options) (notes []string) {
	for _, one := range []struct{ option, note string }{
		{"prices", "prices goes: its messages cost nothing"},
		{"balance", "balance goes: it may send without money"},
		{"block", "block goes: its messages go to numbers that were blocked, such as opt-outs"},
		{"allow", "allow goes: its messages may go to any number"},
		{"senders", "senders goes: it may use any sender"},
		{"keys", "keys go: who uses them is refused"},
		{"users", "users go: nobody can log in to its pages with a password"},
		{"oidc", "oidc goes: nobody can log in to its pages at its server"},
		{"webhook", "webhook goes: its events wait for nobody"},
	} {
		if before[one.option] != nil && after[one.option] == nil {
			notes = append(notes, one.note)
		}
	}
	if n := len(before.list("keys")) - len(after.list("keys")); n > 0 && after["keys"] != nil {
		notes = append(notes, fmt.Sprintf("%d keys go: who uses them is refused", n))
	}
	return notes
}

// list returns an option that is a list, or a single entry as a list.
func (o Options) list(key string) []any {
	if one, ok := o[key].(map[string]any); ok {
		return []any{one}
	}
	all, _ := o[key].([]any)
	return all
}

// at returns the options that have an option at a path, such as oidc.client_secret, and its key there. They are nil if there is
// no such section.
func (o Options) at(path string) (in Options, key string) {
	section, key, nested := strings.Cut(path, ".")
	if !nested {
		return o, path
	}
	in, _ = o[section].(map[string]any)
	return in, key
}

// keepSecrets keeps the secrets of earlier options. Those of a section go with it.
func (o Options) keepSecrets(before Options) {
	for _, path := range config.Secrets() {
		if section, _, nested := strings.Cut(path, "."); nested {
			was, _ := o[section].(map[string]any)
			if was == nil {
				continue
			}
			o[section] = maps.Clone(was)
		}
		in, key := o.at(path)
		earlier, _ := before.at(path)
		given, isGiven := in[key]
		text, _ := given.(string)
		kept, _ := earlier[key].(string)
		switch {
		case !isGiven || text == Masked:
			delete(in, key)
			if kept != "" {
				in[key] = kept
			}
		case given == nil:
			delete(in, key)
		case slices.Contains(passwords, key):
			in[key] = hashed(text, kept)
		}
	}
}

// hashed returns the hash of a password. It returns kept if kept is a hash of the password, and the password
// itself if that is empty or a hash.
func hashed(password, kept string) string {
	switch {
	case passhash.Is(password) || password == "":
		return password
	case passhash.Is(kept) && passhash.Matches([]byte(kept), []byte(password)):
		return kept
	}
	return passhash.New([]byte(password))
}

// keepUsers does for the secrets of users what keepSecrets does for those of the account: users keep the secrets of
// earlier users with the same names.
func (o Options) keepUsers(before Options) {
	users := slices.Clone(o.list("users"))
	if len(users) == 0 || len(users) > config.MaxUsers { // more are refused later, and need not be hashed
		return
	}
	known := map[string]map[string]any{}
	before.eachUser(func(u map[string]any) { known[fmt.Sprint(u["name"])] = u })
	for i, one := range users {
		u, ok := one.(map[string]any)
		if !ok {
			continue
		}
		u = maps.Clone(u)
		for _, key := range config.UserSecrets() {
			keepUserSecret(u, known[fmt.Sprint(u["name"])], key)
		}
		if u["totp_secret"] == nil {
			delete(u, "recovery_codes")
		}
		users[i] = u
	}
	o["users"] = users
}

// keepUserSecret keeps a secret that u lacks. A second factor that is null goes. A password does not: each user needs
// one.
func keepUserSecret(u, before map[string]any, key string) {
	kept, _ := before[key].(string)
	value, isGiven := u[key]
	text, isText := value.(string)
	switch {
	case value == nil && isGiven && !slices.Contains(passwords, key):
		delete(u, key)
	case value == nil || text == Masked:
		if delete(u, key); kept != "" {
			u[key] = kept
		}
	case isText && slices.Contains(passwords, key):
		u[key] = hashed(text, kept)
	}
}

// unwanted returns the options that are not accepted from outside, because they name files of this machine.
func (o Options) unwanted(kind string) (problems document.Problems) {
	add := func(path, message string) {
		problems = append(problems, document.Problem{Path: path, Message: message})
	}
	for key, why := range map[string]string{
		"destination_file": "is not taken here, because it names a file of the gateway's machine: write destination",
		"file":             "is not taken here: the gateway chooses the file, whose rows are written separately",
	} {
		if _, ok := o[key]; ok && kind != managed.Accounts {
			add(key, why)
		}
	}
	for key, value := range o {
		if refers(value) {
			add(key, "must not have a reference such as ${ENV:NAME}, which leads to what is on the gateway's machine")
		}
	}
	return problems
}

func refers(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "${")
	case []any:
		return slices.ContainsFunc(v, refers)
	case map[string]any:
		for key, value := range v {
			if refers(value) || refers(key) {
				return true
			}
		}
	}
	return false
}

// yaml writes one option on each line, the name first, with the values in the form of JSON.
func (o Options) yaml() []byte {
	keys := slices.SortedFunc(maps.Keys(o), func(a, b string) int {
		return strings.Compare(rank(a)+a, rank(b)+b)
	})
	var w document.Writer
	for _, key := range keys {
		if o[key] == nil {
			continue
		}
		name := key
		if !plainKey.MatchString(key) {
			name = textOf(key)
		}
		w.Option(0, name, textOf(o[key]))
	}
	return []byte(w.String())
}

func rank(key string) string {
	if key == "system_id" || key == "name" || key == "order" {
		return "0"
	}
	return "1"
}

var plainKey = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// textOf returns a value as JSON, which is also YAML on one line.
func textOf(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // the values are texts, numbers, and lists and maps of those types
	return strings.TrimSuffix(b.String(), "\n")
}
