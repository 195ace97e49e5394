package editor

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pmg/config"
	"pmg/config/document"
	"pmg/config/managed"
	"pmg/sms/numbers"
	"pmg/sms/prices"
)

// What a request may expect of a file, beside a tag.
const (
	Any     = ""
	Exists  = "*"
	Missing = "-"
)

// A Request is a request to change a file.
type Request struct {
	File    string // path of the file, such as accounts/acme.yaml
	Match   string // the tag of the expected contents, or one of the words above
	By      string // author of the change
	Comment string
	Dry     bool // nothing is written
	Force   bool // most of the rows of a list may go

	Also []Part // further files of options that change together with this one
	Rows *Rows  // new rows of the list whose options the file has; nil: the rows stay

	// Make returns the new contents of the file, from its old contents; nil: the file does not exist, or is to be removed.
	Make func(was []byte) ([]byte, error)
}

// A Part is the change of a further file of options.
type Part struct {
	File, Match string
	Make        func(was []byte) ([]byte, error)
}

// Rows are new rows of a list. They are put in force together with the options of the list, which say how they are read.
type Rows struct {
	Data  []byte
	Match string // the tag of the expected rows, or one of the words above
}

// A Result is the effect that a change had, or would have.
type Result struct {
	Changes []string `json:"changes"`          // changes as lines, as a reload prints them
	Notes   []string `json:"notes,omitempty"`  // consequences of the changes, and what does not change
	Number  int      `json:"change,omitempty"` // number of the change in the history; 0: nothing has changed
	Tag     string   `json:"-"`                // tag of the new contents
	Created bool     `json:"-"`

	Next *config.Config `json:"-"` // the configuration with the change; nil: nothing changes
}

// A Refusal says why a file is not changed.
type Refusal struct {
	Status   int // HTTP status
	Text     string
	Problems document.Problems
	Tag      string // tag of the file's contents, if the contents were not the expected ones
}

// Error returns the text of the refusal, with the problems below the text.
func (r *Refusal) Error() string {
	if len(r.Problems) > 0 {
		return r.Text + ":\n" + r.Problems.Error()
	}
	return r.Text
}

func refuse(status int, format string, args ...any) error {
	return &Refusal{Status: status, Text: fmt.Sprintf(format, args...)}
}

// An Editor changes the files of a directory.
type Editor struct {
	Dir *managed.Dir
	// Load reads and checks the configuration, with the given contents instead of those of files.
	Load func(instead map[string][]byte) (*config.Config, error)
	// Running returns the configuration that a gateway has in force; nil: no gateway runs.
	Running func() *config.Config
	// Apply puts a configuration in force. Only the object meant may be missing. nil: no gateway runs.
	Apply func(c *config.Config, meant string) error
}

// Do carries out a request.
func (e *Editor) Do(r Request) (Result, error) {
	kind, name, ok := managed.Split(r.File)
	if !ok {
		return Result{}, refuse(
			http.StatusBadRequest, "cannot change %s: a name has letters, digits, '-' and '_', 64 at most", r.File,
		)
	}
	lock, err := e.Dir.Lock()
	if err != nil {
		return Result{}, refuse(http.StatusServiceUnavailable, "cannot change %s: %v", r.File, err)
	}
	defer lock.Close()
	was, err := e.Dir.Read(r.File)
	if err != nil {
		return Result{}, err
	}
	if err := e.expected(r.File, r.Match, kind, name, was); err != nil {
		return Result{}, err
	}
	data, err := r.Make(was)
	if err != nil {
		return Result{}, err
	}
	all, rows, err := e.others(r, kind, name)
	if err != nil {
		return Result{}, err
	}
	result := Result{Changes: []string{}, Tag: managed.Tag(data), Created: was == nil && data != nil}
	if result.Tag == managed.Tag(was) && rows == nil && len(all) == 0 {
		return result, nil
	}
	if kind == managed.Accounts && was != nil && data != nil {
		before, _ := ReadOptions(was) // an unreadable file loses no known options
		after, _ := ReadOptions(data)
		result.Notes = losses(before, after)
	}
	all = append(all, replacement{r.File, was, data})
	next, err := e.check(r, all, rows, &result)
	if err != nil || r.Dry {
		result.Next = next
		return result, err
	}
	if rows != nil {
		all = append(all, *rows)
	}
	number, err := e.replace(r, all, func() error {
		if e.Apply == nil {
			return nil
		}
		return e.Apply(next, kind+"/"+name)
	})
	if err != nil {
		if errors.Is(err, managed.ErrStuck) {
			return result, fmt.Errorf("cannot change %s: %w", r.File, err)
		}
		return result, fmt.Errorf("cannot change %s, which stays unchanged: %w", r.File, err)
	}
	result.Number = number
	return result, nil
}

// A replacement has the old and the new contents of a file.
type replacement struct {
	file     string
	was, now []byte
}

// others returns the further files of options that a request changes, and the rows that it changes, nil if it changes none.
func (e *Editor) others(r Request, kind, name string) (all []replacement, rows *replacement, err error) {
	for _, p := range r.Also {
		kind, name, ok := managed.Split(p.File)
		if !ok || !managed.IsOptions(p.File) {
			return nil, nil, refuse(http.StatusBadRequest, "cannot change %s: it has no options", p.File)
		}
		was, err := e.Dir.Read(p.File)
		if err == nil {
			err = e.expected(p.File, p.Match, kind, name, was)
		}
		if err != nil {
			return nil, nil, err
		}
		now, err := p.Make(was)
		if err != nil {
			return nil, nil, err
		}
		if managed.Tag(now) != managed.Tag(was) {
			all = append(all, replacement{p.File, was, now})
		}
	}
	rows, err = e.rowsOf(r, kind, name)
	return all, rows, err
}

// rowsOf returns the rows that a request changes, nil if it changes none.
func (e *Editor) rowsOf(r Request, kind, name string) (*replacement, error) {
	if r.Rows == nil {
		return nil, nil
	}
	file := managed.RowsFile(kind, name)
	was, err := e.Dir.Read(file)
	if err == nil {
		err = e.expected(file, r.Rows.Match, kind, name, was)
	}
	if err != nil || managed.Tag(was) == managed.Tag(r.Rows.Data) {
		return nil, err
	}
	return &replacement{file, was, r.Rows.Data}, nil
}

// replace replaces the files that change, puts the change in force, and returns the number of the change. If a step
// fails, all files are restored.
func (e *Editor) replace(r Request, all []replacement, use func() error) (number int, err error) {
	all = slices.DeleteFunc(all, func(c replacement) bool { return managed.Tag(c.was) == managed.Tag(c.now) })
	put := use
	for i := range all {
		c, inner := &all[i], put
		put = func() error {
			change, err := e.Dir.Replace(managed.Change{File: c.file, By: r.By, Comment: r.Comment}, c.now, inner)
			number = max(number, change.Number)
			return err
		}
	}
	return number, put()
}

// expected returns an error unless the file may be changed, and is as the request expects.
func (e *Editor) expected(file, match, kind, name string, was []byte) error {
	now, err := e.current()
	if err != nil {
		return err
	}
	if at := now.Defined(kind, name); at != "" {
		return refuse(http.StatusConflict, "cannot change %s/%s: %s defines it, so it is changed there", kind, name, at)
	}
	tag := managed.Tag(was)
	switch {
	case match == Any, match == Exists && was != nil, match == Missing && was == nil, match == tag && was != nil:
		return nil
	case match == Missing:
		return &Refusal{Status: http.StatusPreconditionFailed, Text: "cannot make " + file + ": it exists", Tag: tag}
	case was == nil:
		return &Refusal{Status: http.StatusPreconditionFailed, Text: "cannot change " + file + ": it does not exist"}
	}
	return &Refusal{
		Status: http.StatusPreconditionFailed, Tag: tag,
		Text: "cannot change " + file + ": it has changed since it was read; read it again",
	}
}

// current returns the configuration in force, or without a gateway that of the files.
func (e *Editor) current() (*config.Config, error) {
	if e.Running != nil {
		return e.Running(), nil
	}
	return e.Load(nil)
}

// check returns the configuration with changed files, and notes the differences.
func (e *Editor) check(r Request, all []replacement, rows *replacement, result *Result) (*config.Config, error) {
	instead := map[string][]byte{}
	kind, name, _ := managed.Split(r.File)
	for i := range all {
		one := &all[i]
		if !managed.IsOptions(one.file) {
			rows = one
			continue
		}
		if len(one.now) > managed.MaxOptions {
			return nil, refuse(
				http.StatusRequestEntityTooLarge, "cannot change %s: it would have more than %d octets", one.file,
				managed.MaxOptions,
			)
		}
		instead[one.file] = one.now
	}
	if rows != nil {
		options := instead[r.File]
		if options == nil && kind == managed.Prices {
			options, _ = e.Dir.Read(managed.OptionsFile(kind, name)) // rows of a list that has no options yet are read without
		}
		if err := checkRows(*rows, kind, options, r.Force, result); err != nil {
			return nil, err
		}
		if rows.now != nil {
			instead[rows.file] = rows.now
		}
	}
	next, err := e.Load(instead)
	var problems document.Problems
	if errors.As(err, &problems) {
		return nil, &Refusal{
			Status: http.StatusUnprocessableEntity, Problems: problems,
			Text: "cannot change " + r.File + ": with it the configuration cannot be used",
		}
	}
	if err != nil {
		return nil, err
	}
	now, err := e.current()
	if err != nil {
		now = config.Default() // the change may repair the configuration
	}
	for _, c := range now.Diff(next) {
		result.Changes = append(result.Changes, c.String())
	}
	result.Notes = append(result.Notes, e.warnings(now, next)...)
	return next, nil
}

// warnings returns the warnings of a configuration that the earlier one does not have, without the path of the directory.
func (e *Editor) warnings(now, next *config.Config) (all []string) {
	local := strings.NewReplacer(e.Dir.Path("")+"/", "", e.Dir.Path(""), "")
	textOf := func(w document.Warning) string {
		of := w.Path
		if file := local.Replace(w.File); file != w.File {
			of = strings.TrimSpace(file + " " + of)
		}
		return strings.TrimSpace(of + " " + local.Replace(w.Message))
	}
	known := map[string]bool{}
	for _, w := range now.Warnings() {
		known[textOf(w)] = true
	}
	for _, w := range next.Warnings() {
		if text := textOf(w); !known[text] && len(all) < mostNotes {
			all = append(all, text)
		}
	}
	return all
}

// mostNotes is the maximum number of warnings that a change shows.
const mostNotes = 20

// readers read the files of rows, by kind, and return the error of a file that cannot be read.
var readers = map[string]func(path string, o prices.Options) error{
	managed.Lists:  func(path string, _ prices.Options) error { _, err := numbers.ReadFile(path); return err },
	managed.Prices: func(path string, o prices.Options) error { _, err := prices.ReadFile(path, o); return err },
}

// checkRows checks rows as the gateway reads them. A file that loses more than half of its rows was probably truncated.
func checkRows(rows replacement, kind string, options []byte, force bool, result *Result) error {
	data := rows.now
	before, after := bytes.Count(rows.was, []byte("\n")), bytes.Count(data, []byte("\n"))
	result.Changes = append(result.Changes, fmt.Sprintf("%s: %d lines -> %d lines", rows.file, before, after))
	if data == nil {
		return nil
	}
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		return refuse(http.StatusUnprocessableEntity, "cannot change %s: its last line has no end: was it cut off?", rows.file)
	}
	if after*2 < before && !force {
		return refuse(
			http.StatusConflict,
			"cannot change %s: %d of %d lines would go, as if it was cut off; with force=1 they do", rows.file,
			before-after, before,
		)
	}
	f, err := os.CreateTemp("", "pmg-rows-*")
	if err != nil {
		return fmt.Errorf("cannot check %s: %w", rows.file, err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if cerr := f.Close(); err != nil || cerr != nil {
		return fmt.Errorf("cannot check %s: %w", rows.file, errors.Join(err, cerr))
	}
	reading := prices.Options{}
	if options != nil {
		o, _ := ReadOptions(options) // an unreadable file has no known options
		reading = ReadingOf(o)
	}
	if err := readers[kind](f.Name(), reading); err != nil {
		text := strings.NewReplacer(f.Name(), rows.file, filepath.Base(f.Name()), rows.file).Replace(err.Error())
		return refuse(http.StatusUnprocessableEntity, "cannot change %s: %s", rows.file, text)
	}
	return nil
}

// ReadingOf returns how to read the rows of a list of prices, as the options of the list define it.
func ReadingOf(options Options) (o prices.Options) {
	o.Currency, _ = options["currency"].(string)
	o.Charset, _ = options["charset"].(string)
	o.Dates, _ = options["dates"].(string)
	o.Round, _ = options["round"].(bool)
	columns, _ := options["columns"].([]any)
	for _, c := range columns {
		if text, ok := c.(string); ok {
			o.Columns = append(o.Columns, text)
		}
	}
	return o
}

// Revert returns the request that restores the contents that a file had before a change.
func Revert(d *managed.Dir, number int) (Request, error) {
	c, err := d.Change(number)
	if errors.Is(err, managed.ErrNoChange) {
		return Request{}, refuse(http.StatusNotFound, "cannot revert: %v", err)
	}
	if err != nil {
		return Request{}, err
	}
	return Request{
		File: c.File, Comment: fmt.Sprintf("revert of change %d", number), Force: true,
		Make: func([]byte) ([]byte, error) { return c.Before, nil },
	}, nil
}
