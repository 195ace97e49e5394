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
	"pmg/internal/passhash"
	"pmg/managed"
)

// Masked stands for a secret that a file has. Whoever writes it leaves the secret as it is.
const Masked = "***"

// passwords are the secrets of which a file has hashes. A secret with which the gateway signs must stand in it as it is.
var passwords = []string{"password", "old_password"}

// Options are those of an account, a route, a list or prices, as JSON has them.
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

// jsonOf returns a node as JSON has it. What is no plain number, such as 0046, is a text.
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
	for _, key := range config.Secrets() {
		if text, ok := o[key].(string); ok && text != "" {
			o[key] = Masked
		}
	}
	o.eachUser(func(u map[string]any) {
		if u["password"] != nil {
			u["password"] = Masked
		}
	})
	return o
}

// users returns the users of an account: a list, or one alone.
func (o Options) users() []any {
	if one, ok := o["users"].(map[string]any); ok {
		return []any{one}
	}
	all, _ := o["users"].([]any)
	return all
}

// eachUser calls f for each of them.
func (o Options) eachUser(f func(map[string]any)) {
	for _, one := range o.users() {
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

// Replacing returns what makes the contents of a file of options. Secrets that are not given, or are masked, stay what they
// are; null removes one. A password is stored as a hash, and one that matches the hash stays as it is.
func (o Options) Replacing(kind, name string) func(was []byte) ([]byte, error) {
	return func(was []byte) ([]byte, error) {
		if problems := o.unwanted(kind); len(problems) > 0 {
			return nil, &Refusal{Status: http.StatusUnprocessableEntity, Text: "cannot store the options", Problems: problems}
		}
		next := maps.Clone(o)
		before := Options{}
		if was != nil {
			before, _ = ReadOptions(was) // what cannot be read has no secrets
		}
		if kind == managed.Accounts {
			next["system_id"] = name
			next.keepSecrets(before)
			next.keepUsers(before)
		} else if kind != managed.Routes {
			next["name"] = name
		}
		return next.yaml(), nil
	}
}

func (o Options) keepSecrets(before Options) {
	for _, key := range config.Secrets() {
		given, isGiven := o[key]
		text, _ := given.(string)
		kept, _ := before[key].(string)
		switch {
		case !isGiven || text == Masked:
			delete(o, key)
			if kept != "" {
				o[key] = kept
			}
		case given == nil:
			delete(o, key)
		case slices.Contains(passwords, key):
			o[key] = hashed(text, kept)
		}
	}
}

// hashed returns the hash of a password, which is kept if it is of that, and the password if it is empty or a hash.
func hashed(password, kept string) string {
	switch {
	case passhash.Is(password) || password == "":
		return password
	case passhash.Is(kept) && passhash.Matches([]byte(kept), []byte(password)):
		return kept
	}
	return passhash.New([]byte(password))
}

// keepUsers is keepSecrets for the passwords of users, which are those of the users with the same names before.
func (o Options) keepUsers(before Options) {
	users := slices.Clone(o.users())
	if len(users) == 0 || len(users) > config.MaxUsers { // more are refused later, and need not be hashed
		return
	}
	known := map[string]string{}
	before.eachUser(func(u map[string]any) { known[fmt.Sprint(u["name"])], _ = u["password"].(string) })
	for i, one := range users {
		u, ok := one.(map[string]any)
		if !ok {
			continue
		}
		u = maps.Clone(u)
		kept := known[fmt.Sprint(u["name"])]
		switch text, isText := u["password"].(string); {
		case kept != "" && (u["password"] == nil || text == Masked):
			u["password"] = kept
		case u["password"] == nil || text == Masked:
			delete(u, "password")
		case isText:
			u["password"] = hashed(text, kept)
		}
		users[i] = u
	}
	o["users"] = users
}

// unwanted returns the options that are not taken from outside, because they name files of this machine.
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

// yaml writes options, the name first, one on a line, as JSON has their values.
func (o Options) yaml() []byte {
	keys := slices.SortedFunc(maps.Keys(o), func(a, b string) int {
		return strings.Compare(rank(a)+a, rank(b)+b)
	})
	var b bytes.Buffer
	for _, key := range keys {
		if o[key] != nil {
			fmt.Fprintf(&b, "%s: %s\n", keyText(key), textOf(o[key]))
		}
	}
	return b.Bytes()
}

func rank(key string) string {
	if key == "system_id" || key == "name" || key == "order" {
		return "0"
	}
	return "1"
}

var plainKey = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func keyText(key string) string {
	if plainKey.MatchString(key) {
		return key
	}
	return textOf(key)
}

// textOf returns a value in JSON, which is YAML on one line.
func textOf(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // texts, numbers, and lists and maps of them
	return strings.TrimSuffix(b.String(), "\n")
}
