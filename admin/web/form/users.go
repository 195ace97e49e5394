package form

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"pmg/config"
	"pmg/config/managed/editor"
)

// Users are the users of an account, in rows of the form.
type Users struct {
	Doc    string
	Scopes []string
	Rows   []User // the last ones are empty
	Was    string
	Wrong  string
}

// A User is somebody who may log in to the pages for customers. An empty password stays what it was.
type User struct{ Name, Password, Scope string }

// moreUsers is the number of empty rows.
const moreUsers = 2

func newUsers(all, scope config.Option) Users {
	u := Users{Doc: all.Doc, Scopes: strings.Split(scope.Allowed, between)}
	u.addRows()
	return u
}

func (u *Users) addRows() {
	for range moreUsers {
		u.Rows = append(u.Rows, User{Scope: u.Scopes[0]})
	}
}

// text returns users as a value of the form, without their passwords.
func text(users []User) string {
	var all []string
	for _, one := range users {
		if one.Name != "" {
			all = append(all, one.Name+" ("+one.Scope+")")
		}
	}
	return strings.Join(all, between)
}

// of returns the users in an account's options.
func (u *Users) of(o editor.Options) (all []User) {
	list, _ := o["users"].([]any)
	if one, ok := o["users"].(map[string]any); ok {
		list = []any{one}
	}
	for _, v := range list {
		m, _ := v.(map[string]any)
		one := User{Name: fmt.Sprint(m["name"]), Scope: u.Scopes[0]}
		if scope, ok := m["scope"].(string); ok {
			one.Scope = scope
		}
		all = append(all, one)
	}
	return all
}

func (u *Users) show(o editor.Options) {
	u.Rows = u.of(o)
	u.Was = text(u.Rows)
	u.addRows()
}

func (u *Users) read(v url.Values) {
	u.Was, u.Rows = v.Get(Was+"users"), nil
	names, passwords, scopes := v[Now+"users.name"], v[Now+"users.password"], v[Now+"users.scope"]
	for i := range min(len(names), len(passwords), len(scopes), config.MaxUsers+moreUsers) {
		if name := strings.TrimSpace(names[i]); name != "" {
			u.Rows = append(u.Rows, User{name, passwords[i], scopes[i]})
		}
	}
	u.addRows()
}

// isChanged reports whether the user has changed the rows.
func (u *Users) isChanged() bool {
	hasPassword := func(one User) bool { return one.Name != "" && one.Password != "" }
	return text(u.Rows) != u.Was || slices.ContainsFunc(u.Rows, hasPassword)
}

func (u *Users) rebase(o editor.Options) (theirs []string) {
	all := u.of(o)
	now, was := text(all), u.Was
	isChanged := u.isChanged()
	if u.Was = now; now == was {
		return nil
	}
	if !isChanged {
		u.Rows = all
		u.addRows()
	}
	return []string{"Users: " + shown(was) + " -> " + shown(now)}
}

func (u *Users) change(patch editor.Options) {
	if !u.isChanged() {
		return
	}
	var all []any
	for _, one := range u.Rows {
		if one.Name == "" {
			continue
		}
		m := map[string]any{"name": one.Name, "scope": one.Scope}
		if one.Password != "" {
			m["password"] = one.Password
		}
		all = append(all, m)
	}
	if patch["users"] = nil; len(all) > 0 {
		patch["users"] = all
	}
}
