package peers

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// page is the document with the matrix, which is between begin and end.
const (
	page   = "../../docs/compatibility.md"
	begin  = "<!-- made by: make peers -->\n"
	finish = "<!-- end -->\n"
)

// matrix returns, for each role, a table of the peers with the scenarios that failed or are not possible.
func matrix(results []result) string {
	var b strings.Builder
	for _, role := range []string{"client", "smsc"} {
		var columns, rows []string
		for _, x := range results {
			if x.role != role {
				continue
			}
			if !slices.Contains(columns, x.column) {
				columns = append(columns, x.column)
			}
			if !slices.Contains(rows, x.peer) {
				rows = append(rows, x.peer)
			}
		}
		fmt.Fprintf(&b, "\nScenarios: %s.\n\n| as %s | does all |\n|---|---|\n",
			strings.Join(columns, ", "), map[string]string{"client": "client", "smsc": "SMSC"}[role])
		for _, name := range rows {
			but := exceptions(slices.DeleteFunc(slices.Clone(results), func(x result) bool { return x.role != role || x.peer != name }), columns)
			if but != "" {
				but = "but " + but
			}
			fmt.Fprintf(&b, "| %s | %s |\n", name, but)
		}
	}
	return b.String()
}

// exceptions returns the scenarios that failed with a peer, and those that are not possible with their reasons: of a column none of
// whose scenarios is possible its name.
func exceptions(results []result, columns []string) string {
	var all, reasons []string
	names := map[string][]string{} // by the reason
	for _, c := range columns {
		of := slices.DeleteFunc(slices.Clone(results), func(x result) bool { return x.column != c })
		possible := slices.ContainsFunc(of, func(x result) bool { return x.outcome != impossible })
		for _, x := range of {
			switch {
			case x.outcome == ok:
			case x.outcome != impossible:
				all = append(all, "**failed**: "+x.name)
			default:
				if !slices.Contains(reasons, x.why) {
					reasons = append(reasons, x.why)
				}
				if possible {
					names[x.why] = append(names[x.why], x.name)
				} else if !slices.Contains(names[x.why], c) {
					names[x.why] = append(names[x.why], c)
				}
			}
		}
	}
	for _, why := range reasons {
		all = append(all, strings.Join(names[why], ", ")+" ("+why+")")
	}
	return strings.Join(all, "; ")
}

// expected returns results in which all is well: that of every scenario with every peer.
func expected() (all []result) {
	add := func(p *peer, role, name, column string) {
		x := result{peer: p.name, role: role, column: column, name: name, outcome: ok}
		if x.why = p.why(role, name, column); x.why != "" {
			x.outcome = impossible
		}
		all = append(all, x)
	}
	for _, p := range peers() {
		if p.client != nil {
			for _, s := range clientScenarios() {
				add(p, "client", s.name, s.column)
			}
		}
		if p.smsc != nil {
			for _, s := range smscScenarios() {
				add(p, "smsc", s.name, s.column)
			}
		}
	}
	return all
}

// readPage returns the document in front of the matrix, the matrix, and what is behind it.
func readPage(t *testing.T) (before, text, after string) {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(b), begin)
	text, after, closed := strings.Cut(rest, finish)
	if !found || !closed {
		t.Fatalf("%s has no matrix between %q and %q", page, begin, finish)
	}
	return before, text, after
}

// writeMatrix writes what came of every scenario, in the order of the tables.
func writeMatrix(t *testing.T, results []result) {
	t.Helper()
	all := expected()
	for i := range all {
		found := slices.IndexFunc(results, func(x result) bool {
			return x.peer == all[i].peer && x.role == all[i].role && x.name == all[i].name
		})
		if found < 0 {
			t.Logf("the matrix is not written, because %s was not run", all[i].peer)
			return
		}
		all[i] = results[found]
	}
	before, _, after := readPage(t)
	if err := os.WriteFile(page, []byte(before+begin+matrix(all)+finish+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The matrix in the document is of the scenarios and peers that there are, and all is well in it.
func TestMatrixFresh(t *testing.T) {
	_, text, _ := readPage(t)
	if d := testutil.Difference(text, matrix(expected())); d != "" {
		t.Errorf("%s is not what make peers would write if all were well: make peers\n%s", page, d)
	}
}

// No two scenarios of a role have one name, and every reason is about one that exists.
func TestTable(t *testing.T) {
	names := map[string]bool{}
	for _, x := range expected() {
		key := x.peer + " " + x.role + ": " + x.name
		if names[key] {
			t.Errorf("%s is there twice", key)
		}
		names[key] = true
		names[x.role+": "+x.name], names[x.role+": "+x.column] = true, true
	}
	for _, p := range peers() {
		for key := range p.cannot {
			if !names[key] {
				t.Errorf("%s cannot do %q, which is no scenario", p.name, key)
			}
		}
	}
}
