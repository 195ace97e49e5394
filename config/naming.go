package config

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"pmg/config/document"
	"pmg/config/managed"
)

// nameEntry records the name under which people see the entry of a list, such as acme in accounts[acme].rate: its own, or, of an
// entry of a list at the top level, its line in the file. Other entries keep their index.
func (d *decoder) nameEntry(list string, i int, nodes []ast.Node) {
	item := fmt.Sprintf("%s[%d]", list, i)
	key := "name"
	if list == managed.Accounts {
		key = "system_id"
	}
	if name, _ := document.TextOf(valueOf(nodes[i], key)); nameForm.MatchString(name) {
		d.names[item] = name
		return
	}
	t := document.PlaceOf(nodes[i])
	if t == nil || strings.ContainsAny(list, ".[") {
		return
	}
	name := fmt.Sprint("line ", t.Position.Line)
	if i > 0 {
		if before := document.PlaceOf(nodes[i-1]); before != nil && before.Position.Line == t.Position.Line {
			name += fmt.Sprint(", column ", t.Position.Column)
		}
	}
	d.names[item] = name
}

// named returns a path with the names of entries in the place of their indexes.
func named(d *decoder, path string) string {
	var b strings.Builder
	from := 0
	for at := range len(path) {
		if path[at] != ']' {
			continue
		}
		open := strings.LastIndexByte(path[:at], '[')
		if name := d.names[path[:at+1]]; name != "" && open >= from {
			b.WriteString(path[from:open+1] + name)
			from = at
		}
	}
	b.WriteString(path[from:])
	return b.String()
}

// routeNames returns the names of the routes: vip of the file vip.yaml of managed.dir, and line 7 of the configuration.
func routeNames(d *decoder, c *Config) (names []string) {
	for i := range c.Routes {
		_, in, _ := place(d, fmt.Sprintf("routes[%d]", i))
		names = append(names, cmp.Or(c.ManagedRoute(i), strings.TrimSuffix(strings.TrimPrefix(named(d, in), "routes["), "]")))
	}
	return names
}

// RouteLabel returns the name of a route: that of its managed file, or its line, or its index if neither is known.
func (c *Config) RouteLabel(i int) string {
	if i < len(c.found.names) {
		return c.found.names[i]
	}
	return strconv.Itoa(i)
}

// RouteAs returns the name of a route as problems of the configuration write it: routes[vip], routes[line 7].
func (c *Config) RouteAs(i int) string { return "routes[" + c.RouteLabel(i) + "]" }

// nameAll names the entries of a configuration that was not read from a file.
func nameAll(d *decoder, c *Config) {
	for i := range c.Accounts {
		d.names[fmt.Sprintf("accounts[%d]", i)] = c.Accounts[i].SystemID
	}
	for i := range c.Connectors {
		d.names[fmt.Sprintf("connectors[%d]", i)] = c.Connectors[i].Name
	}
	for i := range c.Routes {
		d.names[fmt.Sprintf("routes[%d]", i)] = c.RouteLabel(i)
	}
}
