package manage

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/config"
	"pmg/config/managed"
	"pmg/config/managed/editor"
)

// A row is an entry in the list of accounts, routes or lists.
type row struct {
	Name    string `json:"name"`
	Defined string `json:"defined,omitempty"` // place in the configuration that defines the object; the API cannot change it
}

// Limits of a page of a list.
const (
	usualRows = 100
	mostRows  = 1000
)

// list lists the names of a kind that follow ?after=.
func (a *api) list(w http.ResponseWriter, r *http.Request) error {
	kind, limit := r.PathValue("kind"), usualRows
	if text := r.FormValue("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostRows {
			return refuse(http.StatusBadRequest, fmt.Sprintf("limit must be a number from 1 to %d", mostRows))
		}
		limit = n
	}
	names, err := a.names(kind)
	if err != nil {
		return err
	}
	after, found := slices.BinarySearch(names, r.FormValue("after"))
	if found {
		after++
	}
	rows, next := []row{}, ""
	for _, name := range names[after:] {
		if len(rows) == limit {
			next = rows[limit-1].Name
			break
		}
		rows = append(rows, row{name, a.config().Defined(kind, name)})
	}
	return answer(w, http.StatusOK, map[string]any{kind: rows, "next": next})
}

// names returns the sorted names of a kind. Routes of the configuration have no names.
func (a *api) names(kind string) (names []string, err error) {
	if names, err = a.dir().Names(kind); err != nil {
		return nil, err
	}
	cfg := a.config()
	switch kind {
	case managed.Accounts:
		for i := range cfg.Accounts {
			names = append(names, cfg.Accounts[i].SystemID)
		}
	case managed.Lists:
		for i := range cfg.Lists {
			names = append(names, cfg.Lists[i].Name)
		}
	case managed.Prices:
		for i := range cfg.Prices {
			names = append(names, cfg.Prices[i].Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// show shows the options of an object, without secrets.
func (a *api) show(w http.ResponseWriter, r *http.Request) error {
	kind, name := r.PathValue("kind"), r.PathValue("name")
	if at := a.config().Defined(kind, name); at != "" {
		w.Header().Set("PMG-Defined", at)
		o, err := editor.ReadOptions([]byte(a.defined(kind, name)))
		if err != nil {
			return err
		}
		return answer(w, http.StatusOK, o.Mask())
	}
	data, err := a.read(w, r, managed.OptionsFile(kind, name))
	if err != nil {
		return err
	}
	o, err := editor.ReadOptions(data)
	if err != nil {
		return refuse(http.StatusConflict, err.Error())
	}
	return answer(w, http.StatusOK, o.Mask())
}

// defined returns the options of an object that the configuration defines.
func (a *api) defined(kind, name string) string {
	cfg := a.config()
	switch kind {
	case managed.Accounts:
		for i := range cfg.Accounts {
			if cfg.Accounts[i].SystemID == name {
				return config.ShowAccount(&cfg.Accounts[i])
			}
		}
	case managed.Lists:
		for i := range cfg.Lists {
			if cfg.Lists[i].Name == name {
				return config.ShowList(&cfg.Lists[i])
			}
		}
	case managed.Prices:
		for i := range cfg.Prices {
			if cfg.Prices[i].Name == name {
				return config.ShowList(&cfg.Prices[i])
			}
		}
	}
	return ""
}

// read returns the contents of a file. Callers who may write the file also get its tag, which is made of secrets, too.
func (a *api) read(w http.ResponseWriter, r *http.Request, file string) ([]byte, error) {
	kind, name, ok := managed.Split(file)
	if !ok {
		return nil, refuse(http.StatusNotFound, "there is no such name: a name has letters, digits, '-' and '_', 64 at most")
	}
	data, err := a.dir().Read(file)
	if err == nil && data == nil {
		err = refuse(http.StatusNotFound, "there is no "+name+" below "+kind)
	}
	if err == nil && access.CallerOf(r).Scope >= access.Administer {
		w.Header().Set("ETag", quoted(managed.Tag(data)))
	}
	return data, err
}

// put creates or replaces an object.
func (a *api) put(w http.ResponseWriter, r *http.Request) error {
	return a.write(w, r, editor.Options.Replacing)
}

// patch changes some options of an object.
func (a *api) patch(w http.ResponseWriter, r *http.Request) error {
	return a.write(w, r, editor.Options.Merging)
}

// write changes an object by the options in a request.
func (a *api) write(
	w http.ResponseWriter, r *http.Request, by func(o editor.Options, kind, name string) func([]byte) ([]byte, error),
) error {
	kind, name := r.PathValue("kind"), r.PathValue("name")
	e, err := request(r, managed.OptionsFile(kind, name))
	if err != nil {
		return err
	}
	o, err := editor.ParseOptions(r.Body)
	if err != nil {
		return err
	}
	if e.Make = by(o, kind, name); kind == managed.Accounts && e.Match == editor.Any {
		e.Make = o.WithoutNewKeys(e.Make)
	}
	return a.do(w, r, e, nil)
}

// remove removes an object.
func (a *api) remove(w http.ResponseWriter, r *http.Request) error {
	kind, name := r.PathValue("kind"), r.PathValue("name")
	if a.config().Defined(kind, name) == "" {
		if _, err := a.read(w, r, managed.OptionsFile(kind, name)); err != nil {
			return err
		}
	}
	e, err := request(r, managed.OptionsFile(kind, name))
	if err != nil {
		return err
	}
	e.Make = nothing
	var remarks []string
	if kind == managed.Accounts {
		remarks = a.stays(name)
	}
	return a.do(w, r, e, func(result editor.Result) any { result.Notes = remarks; return result })
}

func nothing([]byte) ([]byte, error) { return nil, nil }

// stays returns notes about what remains of an account that is removed.
func (a *api) stays(name string) (remarks []string) {
	from, to := admin.Backlog(a.server, name)
	if balance, _ := a.server.Gateway().Node.Origins.TallyOf(name).Credit.Balance(); balance != 0 {
		remarks = append(remarks, "its balance of "+balance.String()+" stays, in case the account is created again")
	}
	if from > 0 {
		remarks = append(remarks, fmt.Sprintf("%d of its messages wait: they are sent as usual", from))
	}
	if to > 0 {
		remarks = append(remarks, fmt.Sprintf("%d messages and receipts wait for it: they expire unless it is created again", to))
	}
	return remarks
}

// showRows shows the rows of an object unchanged.
func (a *api) showRows(w http.ResponseWriter, r *http.Request) error {
	data, err := a.read(w, r, managed.RowsFile(r.PathValue("kind"), r.PathValue("name")))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(data)
	return nil
}

// putRows replaces the rows of an object.
func (a *api) putRows(w http.ResponseWriter, r *http.Request) error {
	e, err := request(r, managed.RowsFile(r.PathValue("kind"), r.PathValue("name")))
	if err != nil {
		return err
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, managed.MaxRows))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return refuse(http.StatusRequestEntityTooLarge, fmt.Sprintf("the rows have more than %d octets", large.Limit))
	}
	if err != nil {
		return refuse(http.StatusBadRequest, "cannot read the rows: "+err.Error())
	}
	e.Make = func([]byte) ([]byte, error) { return append([]byte{}, data...), nil }
	return a.do(w, r, e, nil)
}

// removeRows removes the rows of an object that no longer exists.
func (a *api) removeRows(w http.ResponseWriter, r *http.Request) error {
	file := managed.RowsFile(r.PathValue("kind"), r.PathValue("name"))
	if _, err := a.read(w, r, file); err != nil {
		return err
	}
	if data, err := a.dir().Read(managed.OptionsFile(r.PathValue("kind"), r.PathValue("name"))); err != nil || data != nil {
		return errors.Join(err, refuse(http.StatusConflict, "these rows are used: first remove the object that they belong to"))
	}
	e, err := request(r, file)
	if err != nil {
		return err
	}
	e.Make = nothing
	return a.do(w, r, e, nil)
}
