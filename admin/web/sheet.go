package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"pmg/admin/access"
	"pmg/config"
	"pmg/config/managed"
	"pmg/config/managed/editor"
	"pmg/internal/sheet"
	"pmg/internal/textfile"
	"pmg/sms/prices"
)

// Limits of the page with a sheet.
const (
	mostSheetRows   = 250_000
	mostDifferences = 100
	sampleRows      = 4
)

// A sheetPage is the form for the sheet of a list of prices: first for its upload, then for what it has.
type sheetPage struct {
	Draft, File string // "": no sheet is uploaded
	Columns     []sheetColumn
	Names       []string // meanings that a column may have
	Options     prices.Options
	Charsets    []string
	DateForms   []string

	Tag, RowsTag string
	Seen         string
	List         *prices.List // nil: the sheet cannot be read
	Problems     []textfile.Problem
	More         int // number of further problems
	Differences  *prices.Comparison
	Unknown      string // reason why the list in force is not compared
	Trial        trialForm
	preview
}

// A sheetColumn is a column with its first cells.
type sheetColumn struct {
	Name  string // meaning
	Cells []string
}

// Day writes the day of a time.
func (*sheetPage) Day(at int64) string { return time.Unix(0, at).UTC().Format(time.DateOnly) }

// Parts returns the counts of the differences by their kinds.
func (p *sheetPage) Parts() (all []string) {
	for kind := prices.Added; kind <= prices.Moved; kind++ {
		all = append(all, fmt.Sprintf("%d %s", p.Differences.Count(kind), kind))
	}
	return append(all, fmt.Sprintf("%d unchanged", p.Differences.Same))
}

// sheets keep uploaded sheets, and read one at a time, because a large one takes much memory.
type sheets struct {
	drafts  drafts
	reading sync.Mutex
}

// sheetOf returns the form for a sheet of the list of a page.
func sheetOf(p *managedPage, options editor.Options) *sheetPage {
	o := editor.ReadingOf(options)
	if o.Currency == "" {
		o.Currency = "EUR"
	}
	return &sheetPage{
		Names: prices.Columns(), Options: o, Charsets: []string{"utf-8", sheet.Latin1}, DateForms: prices.DateForms(),
		Tag: p.Tag, RowsTag: p.RowsTag,
	}
}

func errTooLarge() error {
	return fmt.Errorf(
		"cannot take the sheet: it has more than %d MiB, and the rows of a list have no more", managed.MaxRows>>20,
	)
}

func errBusy() error { return errors.New("another sheet is being read: try again") }

// upload keeps the sheet of a request.
func (o *office) upload(r *http.Request, p *managedPage) error {
	if err := r.ParseMultipartForm(1 << 20); err != nil { // what is larger is in a temporary file
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return errTooLarge()
		}
		return fmt.Errorf("cannot take the sheet: %w", err)
	}
	defer func() { _ = r.MultipartForm.RemoveAll() }()
	if !o.site.sheets.reading.TryLock() {
		return errBusy()
	}
	defer o.site.sheets.reading.Unlock()
	stored := p.Sheet.Options.Columns
	p.Sheet.read(r)
	f, head, err := r.FormFile("file")
	if err != nil {
		return errors.New("choose a file: a table as CSV")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, managed.MaxRows+1))
	switch rows := bytes.Count(data, []byte("\n")); {
	case err != nil:
		return fmt.Errorf("cannot take the sheet: %w", err)
	case len(data) == 0:
		return errors.New("cannot take the sheet: the file is empty")
	case bytes.HasPrefix(data, []byte("PK\x03\x04")), bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0")):
		return errors.New("cannot take the sheet: it is a workbook of a spreadsheet: save the table as CSV")
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return errors.New("cannot take the sheet: it is in UTF-16: save the table as CSV in UTF-8")
	case len(data) > managed.MaxRows:
		return errTooLarge()
	case rows > mostSheetRows:
		return fmt.Errorf(
			"cannot take the sheet: it has %d lines, more than %d, which are too many for this page: "+
				"PUT /admin/v1/prices/%s/rows takes up to %d", rows, mostSheetRows, p.Name, prices.MaxRows,
		)
	}
	p.Sheet.Draft = o.site.sheets.drafts.add(
		draft{list: p.Name, owner: access.CallerOf(r).Owner(), file: head.Filename}, data, time.Now(),
	)
	p.Sheet.File, p.Sheet.Options.Columns = head.Filename, nil
	err = o.examine(r, p, data)
	if p.Sheet.List == nil && len(stored) > 0 && len(stored) == len(p.Sheet.Columns) {
		p.Sheet.Options.Columns = stored // the columns that the last sheet of the list had
		err = o.examine(r, p, data)
	}
	return err
}

// read sets the options of the form to those of a request.
func (p *sheetPage) read(r *http.Request) {
	o := &p.Options
	o.Currency = strings.ToUpper(strings.TrimSpace(r.PostFormValue("currency")))
	o.Charset, o.Dates, o.Round = r.PostFormValue("charset"), r.PostFormValue("dates"), r.PostFormValue("round") != ""
	o.Columns = r.PostForm["column"]
	p.Tag, p.RowsTag, p.Seen = r.PostFormValue("tag"), r.PostFormValue("rows_tag"), ""
	p.Trial.read(r.PostForm)
}

// again handles the form about an uploaded sheet: it shows what the sheet has, or puts the sheet in force.
func (o *office) again(r *http.Request, p *managedPage) (notice string, err error) {
	p.Sheet.read(r)
	if !o.site.sheets.reading.TryLock() {
		return "", errBusy()
	}
	defer o.site.sheets.reading.Unlock()
	file, data := o.site.sheets.drafts.find(r.PostFormValue("draft"), p.Name, access.CallerOf(r).Owner())
	if data == nil {
		return "", errors.New("the sheet is not kept any more: choose it again")
	}
	p.Sheet.Draft, p.Sheet.File = r.PostFormValue("draft"), file
	err = o.examine(r, p, data)
	if isConflict(err) {
		return o.conflict(r, p, data, err)
	}
	if err != nil || r.PostFormValue("put") == "" || r.PostFormValue("seen") != p.Sheet.Seen {
		return "", err
	}
	result, err := o.site.Edit(r.Context(), o.sheetRequest(r, p, data))
	access.After(r, result)
	if err != nil {
		return "", err
	}
	return noticeOf(result), nil
}

// conflict compares a sheet with a list that has changed since the form was made, unless the sheet is in force already.
func (o *office) conflict(r *http.Request, p *managedPage, data []byte, refused error) (notice string, err error) {
	if o.isInForce(r, o.sheetRequest(r, p, data), refused) {
		return "These prices are in force already: nothing has changed.", nil
	}
	p.Sheet.Tag, p.Sheet.RowsTag = p.Tag, p.RowsTag
	err = errors.New("nothing of this sheet is in force, because somebody has changed the list meanwhile: what follows " +
		"compares the sheet with that")
	return "", errors.Join(err, o.examine(r, p, data))
}

// fingerprint identifies the sheet, how it is read, and the list that it is compared with.
func (p *sheetPage) fingerprint() string {
	return managed.Tag(fmt.Appendf(nil, "%q %q %q %+v", p.Draft, p.Tag, p.RowsTag, p.Options))
}

// sheetRequest returns the change that puts a sheet in force, with the options by which it is read.
func (o *office) sheetRequest(r *http.Request, p *managedPage, data []byte) editor.Request {
	reading := &p.Sheet.Options
	options := editor.Options{"currency": reading.Currency, "columns": nil, "charset": nil, "dates": nil, "round": nil}
	if len(reading.Columns) > 0 {
		var all []any
		for _, name := range reading.Columns {
			all = append(all, name)
		}
		options["columns"] = all
	}
	if reading.Charset == sheet.Latin1 {
		options["charset"] = reading.Charset
	}
	if reading.Dates != "" {
		options["dates"] = reading.Dates
	}
	if reading.Round {
		options["round"] = true
	}
	e := editor.Request{
		File: managed.OptionsFile(p.Kind, p.Name), Match: matchOf(p.Sheet.Tag), By: access.CallerOf(r).String(),
		Comment: r.PostFormValue("comment"), Force: r.PostFormValue("force") != "",
		Rows: &editor.Rows{Data: data, Match: matchOf(p.Sheet.RowsTag)}, Make: options.Replacing(p.Kind, p.Name),
	}
	if p.Sheet.Tag != "" {
		e.Make = options.Merging(p.Kind, p.Name)
	}
	return e
}

// examine sets what the form shows of a sheet: its columns, its problems, and what it would change.
func (o *office) examine(r *http.Request, p *managedPage, data []byte) error {
	s := p.Sheet
	s.Columns, s.Problems, s.List, s.Differences = nil, nil, nil, nil
	automatic := s.Options
	automatic.Columns = nil
	list, err := prices.Read(bytes.NewReader(data), s.File, automatic)
	if list == nil {
		return err
	}
	recognized := slices.Clone(list.Columns)
	if len(s.Options.Columns) > 0 {
		if slices.Equal(s.Options.Columns, recognized) {
			s.Options.Columns = nil
		} else if err = prices.CheckColumns(s.Options.Columns); err == nil {
			list, err = prices.Read(bytes.NewReader(data), s.File, s.Options)
		}
	}
	s.showColumns(data, recognized)
	problems, isOfRows := errors.AsType[*textfile.Problems](err)
	switch {
	case isOfRows:
		s.Problems, s.More = problems.First, problems.Total-len(problems.First)
		return nil
	case err != nil:
		return fmt.Errorf("cannot use these columns: %w", err)
	}
	s.List = list
	o.compare(p, list)
	e := o.sheetRequest(r, p, data)
	e.Dry, e.Force = true, true
	result, err := o.site.Edit(r.Context(), e)
	if err != nil {
		return err
	}
	s.show(result)
	s.Seen = s.fingerprint()
	if s.Trial.Days == "" || result.Next == nil {
		return nil
	}
	return withRows(result.Next, p.Name, data, func(next *config.Config) { s.Trial.run(r.Context(), o.site, next, "") })
}

// showColumns sets the columns that the form shows, with their first cells.
func (p *sheetPage) showColumns(data []byte, recognized []string) {
	if len(p.Options.Columns) > 0 {
		recognized = p.Options.Columns
	}
	sample, _ := sheet.Sample(bytes.NewReader(data), p.Options.Charset, sampleRows) // others report lines that cannot be read
	if len(sample) == 0 {
		return
	}
	for i := range sample[0].Fields {
		c := sheetColumn{Name: sheet.Ignored}
		if i < len(recognized) {
			c.Name = recognized[i]
		}
		for _, row := range sample {
			cell := ""
			if i < len(row.Fields) {
				cell = row.Fields[i]
			}
			c.Cells = append(c.Cells, cell)
		}
		p.Columns = append(p.Columns, c)
	}
}

// compare compares the list of a sheet with the list in force.
func (o *office) compare(p *managedPage, list *prices.List) {
	var was *prices.List
	rows, err := o.dir().Read(managed.RowsFile(p.Kind, p.Name))
	if err == nil && rows != nil && p.Exists {
		cfg := o.site.server.Gateway().Node.Config()
		i := slices.IndexFunc(cfg.Prices, func(c config.Prices) bool { return c.Name == p.Name })
		if i >= 0 {
			was, err = prices.Read(bytes.NewReader(rows), p.Name, cfg.Prices[i].Reading())
		}
	}
	if err != nil {
		p.Sheet.Unknown = "The list in force cannot be compared: " + err.Error()
		return
	}
	p.Sheet.Differences = prices.Compare(was, list, time.Now().UnixNano(), mostDifferences)
}
