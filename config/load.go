package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"

	"pmg/config/document"
	"pmg/config/managed"
	"pmg/config/option"
)

// Options holds facts of the caller's that a file is checked against.
type Options struct {
	Protocols []string // the protocols that exist; nil omits the check
	Thorough  bool     // warn also of settings that are correct in some gateways: a person reads the warnings now

	Instead map[string][]byte // new contents of managed files, by file name in managed.dir; nil: the file is to be removed
	Cache   *Cache            // the managed files of the previous load; nil: all files are read
}

// Load reads and checks a file. If the file is not valid, the error is Problems; if it
// cannot be read, the error wraps that of the system. The warnings are for the
// operator.
func Load(path string, o Options) (*Config, []document.Warning, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read configuration: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path)) // an absolute path, so that relative paths name the same files in every load
	if err != nil {
		return nil, nil, fmt.Errorf("cannot find configuration: %w", err)
	}
	d := newDecoder(path, dir, data)
	c, err := d.run(data, o)
	if err == nil {
		c.found.exposed = exposed(d, c)
	}
	return c, d.warnings, err
}

// Parse checks the bytes of a file, as Load does.
func Parse(data []byte, o Options) (*Config, []document.Warning, error) {
	d := newDecoder("config", ".", data)
	c, err := d.run(data, o)
	return c, d.warnings, err
}

// Warnings returns the warnings with which the configuration was read.
func (c *Config) Warnings() []document.Warning { return c.found.warned }

// Default returns a Config in which every option has its default.
func Default() *Config {
	c := new(Config)
	option.SetDefaults(reflect.ValueOf(c).Elem(), "default")
	return c
}

func newDecoder(file, dir string, data []byte) *decoder {
	return &decoder{
		file: file, dir: dir,
		lines: strings.Split(string(data), "\n"),
		given: map[string]bool{},
		names: map[string]string{},
		at:    map[string]*token.Token{},
		from:  map[string]*profile{},

		managed: map[string]section{}, shapes: new(option.Shapes),
	}
}

func (d *decoder) run(data []byte, o Options) (*Config, error) {
	root, err := document.Parse(d.file, data, d.lines)
	if err != nil {
		return nil, err
	}
	d.profiles = findProfiles(root)
	d.options = o
	c := Default()
	d.value(root, reflect.ValueOf(c).Elem(), "", reflect.StructField{})
	loadManaged(d, c, data)
	readPrefixFiles(d, c)
	resolveLists(d, c)
	resolveNetworks(d, &c.Networks)
	resolvePrices(d, c)
	d.check(c, o)
	d.complete(c, root == nil)
	findLines(d, c)
	sortByLine(d.problems)
	sortByLine(d.warnings)
	if len(d.problems) > 0 {
		return nil, d.problems
	}
	c.found.warned = d.warnings
	return c, nil
}

// findLines records the lines of the file's routes, and the places of those objects in it that managed files could
// define too.
func findLines(d *decoder, c *Config) {
	for i := range c.Routes {
		line := 0
		file, at, _ := place(d, fmt.Sprintf("routes[%d]", i))
		if t := d.at[at]; t != nil && file == d.file {
			line = t.Position.Line
		}
		c.found.routes = append(c.found.routes, line)
	}
	c.found.names = routeNames(d, c)
	if c.Managed.Dir == "" {
		return
	}
	c.found.defined = map[string]string{}
	define := func(kind string, i int, name string) {
		if path := fmt.Sprintf("%s[%d]", kind, i); i < d.managed[kind].first || len(d.managed[kind].files) == 0 {
			c.found.defined[kind+"/"+name] = filepath.Base(d.file) + " " + where(d, path)
		}
	}
	for i := range c.Accounts {
		define(managed.Accounts, i, c.Accounts[i].SystemID)
	}
	for i := range c.Lists {
		define(managed.Lists, i, c.Lists[i].Name)
	}
	for i := range c.Prices {
		define(managed.Prices, i, c.Prices[i].Name)
	}
}

// Defined returns the place where the file defines an object that a managed file could define, such as an
// account: its name without the directory, and the line. It returns "" if the file does not.
func (c *Config) Defined(kind, name string) string { return c.found.defined[kind+"/"+name] }

func sortByLine(ps []document.Problem) {
	slices.SortStableFunc(ps, func(a, b document.Problem) int { return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line) })
}

// maxReference is the largest file that a reference may name.
const maxReference = 64 << 10

// expand replaces the references in a value: ${ENV:NAME} by the variable, and ${FILE:path} by the contents of
// the file without the last line end.
func expand(s, dir string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		reference, after, closed := strings.Cut(rest, "}")
		kind, name, _ := strings.Cut(reference, ":")
		if !closed || name == "" {
			return "", fmt.Errorf("has a ${ that is not a reference: write ${ENV:NAME} or ${FILE:/path}")
		}
		value, err := lookUp(kind, name, dir)
		if err != nil {
			return "", fmt.Errorf("cannot resolve ${%s}: %w", reference, err)
		}
		b.WriteString(value)
		s = after
	}
}

// referenced returns the files that a value refers to.
func referenced(s, dir string) (files []string) {
	for _, rest := range strings.Split(s, "${FILE:")[1:] {
		name, _, _ := strings.Cut(rest, "}")
		files = append(files, resolve(dir, name))
	}
	return files
}

func lookUp(kind, name, dir string) (string, error) {
	switch kind {
	case "ENV":
		value, ok := os.LookupEnv(name)
		if !ok {
			return "", errors.New("the environment has no such variable: set it before pmg starts")
		}
		return value, nil
	case "FILE":
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		text, err := readFile(name, maxReference)
		return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), err
	}
	return "", errors.New("write ENV or FILE before the colon")
}
