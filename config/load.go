package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// Options holds facts of the caller's that a file is checked against.
type Options struct {
	Protocols []string // the protocols that exist; nil omits the check
	Thorough  bool     // warn also of what is as it should be in some gateways: somebody reads the warnings now
}

// Load reads and checks a file. If the file is not valid, the error is Problems; if it
// cannot be read, the error wraps that of the system. The warnings are for the
// operator.
func Load(path string, o Options) (*Config, []Warning, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read configuration: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path)) // so that what a relative path names is the same in every load
	if err != nil {
		return nil, nil, fmt.Errorf("cannot find configuration: %w", err)
	}
	d := newDecoder(path, dir, data)
	c, err := d.run(data, o)
	if err == nil {
		c.exposed = exposed(d, c)
	}
	return c, d.warnings, err
}

// Parse checks the bytes of a file, as Load does.
func Parse(data []byte, o Options) (*Config, []Warning, error) {
	d := newDecoder("config", ".", data)
	c, err := d.run(data, o)
	return c, d.warnings, err
}

// Default returns a Config in which every option has its default.
func Default() *Config {
	c := new(Config)
	setDefaults(reflect.ValueOf(c).Elem(), "default")
	return c
}

func newDecoder(file, dir string, data []byte) *decoder {
	return &decoder{
		file: file, dir: dir,
		lines: strings.Split(string(data), "\n"),
		given: map[string]bool{},
		at:    map[string]*token.Token{},
		from:  map[string]*profile{},
	}
}

func (d *decoder) run(data []byte, o Options) (*Config, error) {
	root, err := d.parse(data)
	if err != nil {
		return nil, err
	}
	d.profiles = findProfiles(root)
	c := Default()
	d.value(root, reflect.ValueOf(c).Elem(), "", reflect.StructField{})
	d.prefixFiles(c)
	resolveLists(d, c)
	resolveNetworks(d, &c.Networks)
	resolvePrices(d, c)
	d.check(c, o)
	d.complete(c, root == nil)
	for i := range c.Routes {
		line := 0
		if at := d.at[fmt.Sprintf("routes[%d]", i)]; at != nil {
			line = at.Position.Line
		}
		c.routeLines = append(c.routeLines, line)
	}
	sortByLine(d.problems)
	sortByLine(d.warnings)
	if len(d.problems) > 0 {
		return nil, d.problems
	}
	return c, nil
}

func sortByLine(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int { return a.Line - b.Line })
}

// maxReference is the largest file that a reference may name.
const maxReference = 64 << 10

// expand replaces the references in a value: ${ENV:NAME} by the variable, and
// ${FILE:path} by the file without its last line end.
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
