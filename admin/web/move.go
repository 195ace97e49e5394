package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pmg/admin"
	"pmg/admin/access"
	"pmg/config/managed"
	"pmg/config/managed/editor"
)

// Limits of the order of routes. mostMoved is how many routes a move may give another order.
const (
	highestOrder = 1_000_000
	orderStep    = 10
	mostMoved    = 500
)

// A position is a managed route with its order.
type position struct {
	name  string
	order int
}

// before compares the places of two routes, as the configuration sorts them.
func (p position) before(q position) int {
	return cmp.Or(cmp.Compare(p.order, q.order), strings.Compare(p.name, q.name))
}

// placedRoutes returns the managed routes in their order.
func (o *office) placedRoutes() (all []position, err error) {
	names, err := o.dir().Names(managed.Routes)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		options, err := o.optionsOf(managed.Routes, name)
		if err != nil {
			return nil, fmt.Errorf("cannot read route %s: %w", name, err)
		}
		order, _ := strconv.Atoi(fmt.Sprint(options["order"])) // none is 0
		all = append(all, position{name, order})
	}
	slices.SortFunc(all, position.before)
	return all, nil
}

// tagOf identifies an order of routes, which a user has seen.
func tagOf(all []position) string { return managed.Tag(fmt.Appendf(nil, "%v", all)) }

// moved returns the routes that get another order, so that the route at a place comes to another one. It changes one route if
// there is a number between its new neighbours, and otherwise numbers all.
func moved(all []position, from, to int) (changed []position) {
	one := all[from]
	rest := slices.Insert(slices.Delete(slices.Clone(all), from, from+1), to, one)
	low, high := 0, highestOrder
	if to > 0 {
		low = rest[to-1].order
	}
	if to < len(rest)-1 {
		high = rest[to+1].order
	} else {
		high = min(high, low+2*orderStep)
	}
	for _, order := range []int{(low + high) / 2, low, high} {
		one.order = order
		if (to == 0 || rest[to-1].before(one) < 0) && (to == len(rest)-1 || one.before(rest[to+1]) < 0) {
			return []position{one}
		}
	}
	for i, p := range rest {
		if order := (i + 1) * orderStep; order != p.order {
			changed = append(changed, position{p.name, order})
		}
	}
	return changed
}

// ordering returns a function that gives the options of a route an order.
func ordering(p position) func(was []byte) ([]byte, error) {
	return editor.Options{"order": json.Number(strconv.Itoa(p.order))}.Merging(managed.Routes, p.name)
}

// moves handles the buttons that move a managed route up or down.
func (o *office) moves(w http.ResponseWriter, r *http.Request) {
	admin.Lasts(w, editTime)
	access.Named(r, "managed/move")
	notice, err := o.move(r, r.PostFormValue("name"), r.PostFormValue("up") != "", r.PostFormValue("seen"))
	if err != nil {
		notice = "Nothing has moved: " + reasonOf(err)
	}
	o.returns(w, r, admin.PagesBase+"routing", notice)
}

// move moves a managed route by one place.
func (o *office) move(r *http.Request, name string, up bool, seen string) (notice string, err error) {
	all, err := o.placedRoutes()
	if err != nil {
		return "", err
	}
	from := slices.IndexFunc(all, func(p position) bool { return p.name == name })
	to := from + 1
	if up {
		to = from - 1
	}
	switch {
	case from < 0 || seen != tagOf(all):
		return "", errors.New("the routes have changed since the page was made: look at them, and move again")
	case to < 0 || to >= len(all):
		return "", errors.New("it is there already")
	}
	changed := moved(all, from, to)
	if len(changed) > mostMoved {
		return "", fmt.Errorf(
			"%d routes would get another order, which are too many: give this one an order by its form", len(changed),
		)
	}
	way := " moved down"
	if up {
		way = " moved up"
	}
	e := editor.Request{By: access.CallerOf(r).String(), Comment: "route " + name + way}
	for i, p := range changed {
		if file := managed.OptionsFile(managed.Routes, p.name); i == 0 {
			e.File, e.Match, e.Make = file, editor.Exists, ordering(p)
		} else {
			e.Also = append(e.Also, editor.Part{File: file, Match: editor.Exists, Make: ordering(p)})
		}
	}
	result, err := o.site.Edit(r.Context(), e)
	access.After(r, result)
	if err != nil {
		return "", err
	}
	return noticeOf(result), nil
}
