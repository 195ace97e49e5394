package arch

import (
	"go/ast"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// notable is the percentage of a profile's samples, in a function or below it, from which on the compiler's work depends on it.
const notable = 0.3

// A row of pprof: flat, flat%, sum%, cum, cum%, name.
var profiled = regexp.MustCompile(`(?m)^ *\S+ +([\d.]+)% +\S+% +\S+ +([\d.]+)% +pmg/(.+)$`)

// What a name has beside packages, types and functions: the types that a generic one is of, and how it was inlined.
var added = regexp.MustCompile(` \((partial-)?inline\)|\[.*\]|\(\*|\)|-\w+`)

// The profile for the compiler names functions of the source. Where they have other names, or are gone, the compiler does not
// optimise what has come in their place.
func TestProfile(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(
		"go", "tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0", "-edgefraction=0", root+"/cmd/pmg/default.pgo",
	).Output()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				known[s.pkg+"."+nameOf(f)] = true
			}
		}
	}
	var gone []string
	found := 0
	for _, m := range profiled.FindAllStringSubmatch(string(out), -1) {
		flat, _ := strconv.ParseFloat(m[1], 64)
		cum, _ := strconv.ParseFloat(m[2], 64)
		if max(flat, cum) < notable {
			continue
		}
		found++
		if name, function := sourceName(m[3]); !known[name] && !known[function] && !slices.Contains(gone, name) {
			gone = append(gone, name)
		}
	}
	if found < 50 {
		t.Errorf("the profile names %d functions of the module, fewer than 50: is it one of the gateway?", found)
	}
	if len(gone) > 0 {
		t.Errorf("cmd/pmg/default.pgo names functions that are gone: run make pgo\n\t%s", strings.Join(gone, "\n\t"))
	}
}

// nameOf returns a function's name with its receiver's.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return receiver(f).Name + "." + f.Name.Name
}

// sourceName returns the source's name of a method that a profile names, "stages/flow.Pipeline.runRow", and the one that it has if it is
// of a function, or of one in it: "stages/flow.Pipeline".
func sourceName(profiled string) (method, function string) {
	name := added.ReplaceAllString(profiled, "")
	parts := strings.SplitN(name[strings.LastIndex(name, "/")+1:], ".", 4)
	pkg := name[:strings.LastIndex(name, "/")+1]
	return pkg + strings.Join(parts[:min(3, len(parts))], "."), pkg + strings.Join(parts[:min(2, len(parts))], ".")
}

func TestSourceName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"stages/flow.(*Pipeline[go.shape.struct { pmg/flow.Ref; *pmg/stages.extras }]).runRow (inline)": {"stages/flow.Pipeline.runRow", "stages/flow.Pipeline"},
		"pdulog.Standing.append":                      {"pdulog.Standing.append", "pdulog.Standing"},
		"store.New.func1.2":                           {"store.New.func1", "store.New"},
		"stages/flow.New[go.shape.int].func2.gowrap1": {"stages/flow.New.func2", "stages/flow.New"},
		"httpapi/v1.(*API).Routes.(*API).with.func3":  {"httpapi/v1.API.Routes", "httpapi/v1.API"},
		"internal/logtext.AppendQuoted":               {"internal/logtext.AppendQuoted", "internal/logtext.AppendQuoted"},
	} {
		if method, function := sourceName(name); want != [2]string{method, function} {
			t.Errorf("%s: got %s and %s, want %s", name, method, function, want)
		}
	}
}
