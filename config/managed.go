package config

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"pmg/config/document"
	"pmg/config/managed"
	"pmg/config/option"
)

// Managed is a directory of files that the gateway writes itself.
type Managed struct {
	Dir string `yaml:"dir" live:"yes" doc:"Directory with the accounts, routes and lists that are changed by HTTP and by the operators' pages, and the history of changes (docs/managed.md). Its routes come before those of this file. The gateway's user must be able to write to it. None when empty."`
}

// A section describes which entries of a list come from managed files: the first entries, one for each file.
type section struct {
	first int
	files []string
}

// place returns the file that contains an option, and two paths of the option: as in that file, and as shown to people.
func place(d *decoder, path string) (file, in, shown string) {
	key, after, _ := strings.Cut(path, "[")
	s, isManaged := d.managed[key]
	index, rest, _ := strings.Cut(after, "]")
	i, err := strconv.Atoi(index)
	switch {
	case !isManaged || err != nil || i < s.first:
		return d.file, path, path
	case i < s.first+len(s.files):
		return s.files[i-s.first], key + "[0]" + rest, strings.TrimPrefix(rest, ".")
	}
	path = fmt.Sprintf("%s[%d]%s", key, i-len(s.files), rest)
	return d.file, path, path
}

// where names the place of an entry for messages. A configuration that was not just read, such as the one that a reload merges,
// has no lines.
func where(d *decoder, path string) string {
	file, in, _ := place(d, path)
	if file != d.file {
		return file
	}
	if t := d.at[in]; t != nil {
		return fmt.Sprintf("line %d", t.Position.Line)
	}
	return path
}

// isWritten reports whether a file contains an option, even an empty one.
func isWritten(d *decoder, path string) bool {
	if file, in, _ := place(d, path); file != d.file {
		return reread(d, file, in).at[in] != nil
	}
	return d.at[path] != nil
}

// A Cache keeps the contents of managed files, so that a reload reads only the files that have changed since.
// It is used by one load at a time.
type Cache struct {
	main    [sha256.Size]byte // the hash of the main configuration file, whose profiles the managed files use
	entries map[string]*entry // entries by path of the file
}

// An entry is the content of a managed file.
type entry struct {
	info     fs.FileInfo // the file's state when it was read; nil: the entry is not cached
	value    any         // *Account, *Route, *List or *Prices; nil: the file cannot be read
	order    int         // place of a route among the routes
	problems document.Problems
	warnings []document.Warning
	secrets  []string
}

// loadManaged adds the objects that the files of managed.dir define.
func loadManaged(d *decoder, c *Config, main []byte) {
	if c.Managed.Dir == "" {
		return
	}
	c.Managed.Dir = resolve(d.dir, c.Managed.Dir)
	if managed.WillBeMade(c.Managed.Dir) {
		return // by the first change
	}
	if st, err := os.Stat(c.Managed.Dir); err != nil || !st.IsDir() {
		d.problem("managed.dir", "must be a directory, and %s is none: make it with mkdir -m 700", c.Managed.Dir)
		return
	}
	cache := d.options.Cache
	if cache == nil {
		cache = &Cache{}
	}
	if sum := sha256.Sum256(main); cache.main != sum {
		cache.main, cache.entries = sum, nil
	}
	kept, count := map[string]*entry{}, 0
	for _, kind := range managed.Kinds() {
		names, err := managedNames(d, c.Managed.Dir, kind)
		if err != nil {
			d.problem("managed.dir", "cannot be read: %v", err)
			return
		}
		if count += len(names); count > managed.MaxFiles {
			d.problem("managed.dir", "has more than %d files, which are too many", managed.MaxFiles)
			return
		}
		entries := readEntries(d, c.Managed.Dir, kind, names, cache)
		takeEntries(d, c, kind, names, entries)
		for i, e := range entries {
			if e.info != nil {
				kept[names[i]] = e
			}
		}
	}
	cache.entries = kept
}

// managedNames returns the names of the files with the options of a kind.
func managedNames(d *decoder, dir, kind string) (names []string, err error) {
	all, err := os.ReadDir(filepath.Join(dir, kind))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, one := range all {
		file := kind + "/" + one.Name()
		if _, _, ok := managed.Split(file); ok && managed.IsOptions(file) {
			names = append(names, file)
		} else if !strings.HasPrefix(one.Name(), ".") && !ok {
			d.warn("managed.dir", "has %s, which is not read: names are letters, digits, '-' and '_', 64 at most", file)
		}
	}
	for file, data := range d.options.Instead {
		of, _, ok := managed.Split(file)
		if !ok || of != kind || !managed.IsOptions(file) {
			continue
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name == file })
		if data != nil {
			names = append(names, file)
		}
	}
	slices.Sort(names)
	return names, nil
}

// readEntries reads files, several at a time.
func readEntries(d *decoder, dir, kind string, names []string, cache *Cache) []*entry {
	entries := make([]*entry, len(names))
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(names)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names); i = int(next.Add(1)) - 1 {
				entries[i] = readEntry(d, dir, kind, names[i], cache.entries[names[i]])
			}
		})
	}
	all.Wait()
	return entries
}

// readEntry reads a file, unless the file is unchanged.
func readEntry(d *decoder, dir, kind, name string, known *entry) *entry {
	path := filepath.Join(dir, filepath.FromSlash(name))
	data, instead := d.options.Instead[name]
	if instead {
		e, _ := decodeEntry(d, kind, path, data)
		return e
	}
	info, err := os.Stat(path)
	if err == nil && known != nil && os.SameFile(info, known.info) && info.Size() == known.info.Size() &&
		info.ModTime().Equal(known.info.ModTime()) {
		return known
	}
	text, err := readFile(path, managed.MaxOptions)
	if err != nil {
		return &entry{problems: document.Problems{{File: path, Message: "cannot be read: " + err.Error()}}}
	}
	e, _ := decodeEntry(d, kind, path, []byte(text))
	if len(e.problems)+len(e.warnings) == 0 && !strings.Contains(text, "${") {
		e.info = info // the target of a reference may change meanwhile
	}
	return e
}

// newEntry returns the value of an entry of a kind, and the option that is its name, "" for a route.
func newEntry(kind string) (value any, name string) {
	switch kind {
	case managed.Accounts:
		return new(Account), "system_id"
	case managed.Lists:
		return new(List), "name"
	case managed.Prices:
		return new(Prices), "name"
	}
	return new(Route), ""
}

// decodeEntry decodes a file, and returns the decoder, which knows the positions of the file's options.
func decodeEntry(d *decoder, kind, path string, data []byte) (*entry, *decoder) {
	sub := newDecoder(path, d.dir, data)
	sub.profiles, sub.managed[kind], sub.shapes = d.profiles, section{files: []string{path}}, d.shapes
	e := &entry{}
	value, name := newEntry(kind)
	root, err := document.Parse(sub.file, data, sub.lines)
	m, isMapping := root.(*ast.MappingNode)
	switch {
	case err != nil:
		_ = errors.As(err, &e.problems)
		return e, sub
	case root == nil:
		e.problems = document.Problems{
			{File: path, Line: 1, Column: 1, Message: "is empty: remove the file, or write its options"},
		}
		return e, sub
	}
	e.value = value
	if isMapping {
		of := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if name != "" {
			addOption(m, name, of)
		}
		if ending := managed.Rows(kind); ending != "" {
			addOption(m, "file", strings.TrimSuffix(path, ".yaml")+ending)
		}
		if kind == managed.Routes {
			takeOrder(sub, m, e)
		}
		sub.value(m, reflect.ValueOf(e.value).Elem(), kind+"[0]", reflect.StructField{})
		if got, _ := document.TextOf(valueOf(m, name)); name != "" && got != of {
			sub.problem(kind+"[0]."+name, "must be %s, as the name of the file", of)
		}
	} else {
		sub.value(root, reflect.ValueOf(e.value).Elem(), kind+"[0]", reflect.StructField{})
	}
	e.problems, e.warnings, e.secrets = sub.problems, sub.warnings, sub.secretFiles
	return e, sub
}

// addOption adds an option to a mapping that does not have it.
func addOption(m *ast.MappingNode, key, value string) {
	if valueOf(m, key) != nil {
		return
	}
	file, err := parser.ParseBytes([]byte(key+": "+option.Quote(value)), 0)
	if err != nil {
		panic("config: " + err.Error())
	}
	m.Values = append(m.Values, file.Docs[0].Body.(*ast.MappingNode).Values...)
}

// takeOrder removes from a route's options the position of the route among those of managed files, and returns it.
func takeOrder(sub *decoder, m *ast.MappingNode, e *entry) {
	m.Values = slices.DeleteFunc(m.Values, func(kv *ast.MappingValueNode) bool {
		if kv.Key.GetToken().Value != "order" {
			return false
		}
		at := managed.Routes + "[0].order"
		sub.at[at] = kv.Value.GetToken()
		text, _ := document.TextOf(kv.Value)
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 1_000_000 {
			sub.problem(at, "must be a number from 0 to 1000000, not %q", text)
		}
		e.order = n
		return true
	})
}

// reread decodes a managed file again, to find the positions of its options. path is the path of one of the options.
func reread(d *decoder, path, in string) *decoder {
	kind, _, _ := strings.Cut(in, "[")
	data, ok := d.options.Instead[kind+"/"+filepath.Base(path)]
	if !ok {
		text, err := readFile(path, managed.MaxOptions)
		if err != nil {
			return newDecoder(path, d.dir, nil)
		}
		data = []byte(text)
	}
	_, sub := decodeEntry(d, kind, path, data)
	return sub
}

// takeEntries merges the entries of managed files with those of the main file. Routes come before those of
// the main file, whose last route usually takes every message. Other entries come after.
func takeEntries(d *decoder, c *Config, kind string, names []string, entries []*entry) {
	order := make([]int, len(entries))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(entries[a].order, entries[b].order) })
	first := map[string]int{managed.Accounts: len(c.Accounts), managed.Lists: len(c.Lists), managed.Prices: len(c.Prices)}
	s := section{first: first[kind]}
	if kind == managed.Accounts { // there may be very many accounts
		c.Accounts = slices.Grow(c.Accounts, len(entries))
	}
	var routes []Route
	for _, i := range order {
		e := entries[i]
		d.problems, d.warnings = append(d.problems, e.problems...), append(d.warnings, e.warnings...)
		d.secretFiles = append(d.secretFiles, e.secrets...)
		if e.value == nil {
			continue
		}
		s.files = append(s.files, filepath.Join(c.Managed.Dir, filepath.FromSlash(names[i])))
		switch v := e.value.(type) {
		case *Account:
			c.Accounts = append(c.Accounts, *v)
		case *List:
			c.Lists = append(c.Lists, *v)
		case *Prices:
			c.Prices = append(c.Prices, *v)
		case *Route:
			r := *v
			r.To = slices.Clone(r.To) // the weights of the targets are filled in
			_, r.managed, _ = managed.Split(names[i])
			routes = append(routes, r)
		}
	}
	c.Routes = append(routes, c.Routes...)
	d.managed[kind] = s
}
