package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// A size is how large something may be, and what is larger.
type size struct {
	of   string
	most int
	// larger are the exceptions, each with what it has and why that is right or not mended yet. A
	// number may only fall, and what falls to the limit goes.
	larger map[string]exception
}

type exception struct {
	n   int
	why string
}

const wide = "it is a list of values, for people or in the form of a PDU"

func methods() size {
	return size{"methods of type", 40, map[string]exception{
		"connector.Lane":              {95, "they keep one invariant: what waits, what is under way, what it takes"},
		"connector/queue.Queue":       {45, "rings and trees that keep one order"},
		"config.decoder":              {48, "one method for each kind of value"},
		"store.durable":               {53, "to be cut: it has several jobs"},
		"protocols/smpp.PDU":          {43, "a PDU: one accessor for each field that others ask for"},
		"protocols/smpp.session":      {57, "a session's state machine: one method for each action"},
		"protocols/ucp.PDU":           {72, "a PDU: one accessor for each field that others ask for"},
		"protocols/ucp.session":       {47, "a session's state machine: one method for each action"},
		"loadtest/bench/classic.conn": {55, "frozen: the bench compares the pipeline with it"},
	}}
}

func fields() size {
	return size{"fields of struct", 25, map[string]exception{
		"config.Connector":            {35, wide},
		"loadtest.LoadResult":         {36, wide},
		"loadtest.SinkResult":         {28, wide},
		"loadtest.sinkCounts":         {28, wide},
		"protocols/ucp.SM":            {33, wide},
		"sms.Message":                 {35, wide},
		"connector.Lane":              {34, "to be cut: it has several jobs"},
		"loadtest.run":                {36, "to be cut: it has several jobs"},
		"loadtest/bench/classic.conn": {29, "frozen: the bench compares the pipeline with it"},
	}}
}

func files() size {
	return size{"files of package", 30, map[string]exception{
		"cmd/pmg":        {33, "one file or two for each subcommand"},
		"loadtest":       {34, "to be cut: it has several jobs"},
		"protocols/smpp": {33, "one file for each group of PDUs"},
	}}
}

func lines() size {
	return size{"lines of function", 60, map[string]exception{
		"cmd/pmg.newLoadCommand":                     {62, "one command with its flags and its help"},
		"cmd/pmg.newSinkCommand":                     {76, "one command with its flags and its help"},
		"loadtest/bench/cmd/pmgbench.newRootCommand": {81, "one command with its flags and its help"},
		"connector.Lane.next":                        {65, "to be cut: it has several jobs"},
	}}
}

// Types, packages and functions are small enough to be one thing: methods and fields of one
// receiver tie rooms together that a limit of lines in a file does not see.
func TestSizes(t *testing.T) {
	method, field, file, line := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		file[s.pkg]++
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := s.pkg + "." + d.Name.Name
				if d.Recv != nil {
					of := s.pkg + "." + receiver(d).Name
					method[of]++
					name = of + "." + d.Name.Name
				}
				line[name] = s.fset.Position(d.End()).Line - s.fset.Position(d.Pos()).Line + 1
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if ts, ok := spec.(*ast.TypeSpec); ok {
						if st, ok := ts.Type.(*ast.StructType); ok {
							field[s.pkg+"."+ts.Name.Name] = st.Fields.NumFields()
						}
					}
				}
			}
		}
	}
	methods().check(t, method)
	fields().check(t, field)
	files().check(t, file)
	lines().check(t, line)
}

func (s size) check(t *testing.T, of map[string]int) {
	t.Helper()
	for name, n := range of {
		limit, larger := s.larger[name]
		switch {
		case strings.HasPrefix(name, "internal/e2e."), name == "internal/e2e": // a rig for tests
		case larger && n < limit.n:
			t.Errorf("%s %s has %d, fewer than the list allows (%d): lower its number there, or remove it", s.of, name, n, limit.n)
		case larger && n > limit.n:
			t.Errorf("%s %s has %d, more than the list allows (%d)", s.of, name, n, limit.n)
		case !larger && n > s.most:
			t.Errorf("%s %s has %d, more than %d", s.of, name, n, s.most)
		}
	}
	for name, e := range s.larger {
		if of[name] == 0 || e.n <= s.most || e.why == "" {
			t.Errorf("the exception for %s %s is not needed, or says no reason", s.of, name)
		}
	}
}
