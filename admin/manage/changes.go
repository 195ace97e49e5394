package manage

import (
	"errors"
	"net/http"
	"strconv"

	"pmg/config/managed"
	"pmg/config/managed/editor"
)

// changes lists the history, the latest change first: ?file= selects a file, ?before= the changes with lower numbers.
func (a *api) changes(w http.ResponseWriter, r *http.Request) error {
	before, _ := strconv.Atoi(r.FormValue("before"))
	all, err := a.dir().History(r.FormValue("file"), before, usualRows)
	if err != nil {
		return err
	}
	if all == nil {
		all = []managed.Change{}
	}
	return answer(w, http.StatusOK, map[string]any{"changes": all})
}

// A past is a change, with the contents before the change.
type past struct {
	managed.Change
	Options editor.Options `json:"options,omitempty"` // without secrets
	Rows    string         `json:"rows,omitempty"`
}

// change shows one change of the history.
func (a *api) change(w http.ResponseWriter, r *http.Request) error {
	n, err := strconv.Atoi(r.PathValue("number"))
	if err != nil {
		return refuse(http.StatusNotFound, "a change has a number")
	}
	c, err := a.dir().Change(n)
	if errors.Is(err, managed.ErrNoChange) {
		return refuse(http.StatusNotFound, err.Error())
	}
	if err != nil {
		return err
	}
	p := past{Change: c}
	if !managed.IsOptions(c.File) {
		p.Rows = string(c.Before)
	} else if o, err := editor.ReadOptions(c.Before); err == nil {
		p.Options = o.Mask()
	}
	return answer(w, http.StatusOK, p)
}

// revert restores the contents that a file had before a change.
func (a *api) revert(w http.ResponseWriter, r *http.Request) error {
	n, err := strconv.Atoi(r.PathValue("number"))
	if err != nil {
		return refuse(http.StatusNotFound, "a change has a number")
	}
	back, err := editor.Revert(a.dir(), n)
	if err != nil {
		return err
	}
	e, err := request(r, back.File)
	if err != nil {
		return err
	}
	e.Make, e.Comment, e.Force = back.Make, back.Comment, true
	return a.do(w, r, e, nil)
}
