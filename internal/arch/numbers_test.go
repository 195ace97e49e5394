package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// digitsReaders are the packages that look at the octets of numbers themselves, and why.
var digitsReaders = map[string]string{
	"sms/number":               "it says which number an address is",
	"sms/rewrite":              "rules change the octets of an address",
	"sms":                      "it stores addresses",
	"protocols/ucp":            "it writes the digits of its fields",
	"protocols/httpsms/kannel": "Kannel's prefixes are literal",
	"config":                   "it checks how prefixes are written",
	"gateway/route":            "prefixes of routes are literal: an operator routes by what rewrite leaves",
	"gateway/hooks":            "it compares what a plugin has written with what was asked",
	"gateway/intake":           "routing numbers are no numbers of persons",
	"connector/account":        "prefixes of flood and receives are literal",
	"internal/quiet":           "it adds the plus that a zone lacks",
	"plugin":                   "routing numbers are no numbers of persons",
	"plugin/enum":              "routing numbers are no numbers of persons",
	"gateway/privacy":          "it looks for the ends of numbers in texts",
	"pdulog":                   "keys of lines are the ends of numbers",
	"loadtest":                 "it plays a client and a server",
	"protocols/prototest":      "transcripts show addresses as they are",
	"loadtest/httpsink":        "it plays a server",
	"cmd/pmg/migrate/kannel":   "Kannel's prefixes are literal",
	"sms/prices":               "a plus says which kind of row it is",
	"internal/sheet":           "it reads the cells of tables",
	"sms/networks":             "it reads the cells of tables",
}

// Numbers are compared, and looked up, by package number alone: digits that are compared by themselves are one number in one place
// and two in another.
func TestNumbersAreCompared(t *testing.T) {
	t.Parallel()
	reads := map[string]bool{}
	for _, s := range sources(t) {
		if strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		wrong := func(n ast.Node, text string) {
			if reads[s.pkg] = true; digitsReaders[s.pkg] == "" {
				t.Errorf("%s: %s: package number does that", s.fset.Position(n.Pos()), text)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				name := calledAs(n)
				plus := len(n.Args) == 2 && isPlus(n.Args[1])
				switch {
				case slices.Contains([]string{"TrimPrefix", "CutPrefix", "HasPrefix", "TrimLeft"}, name) && plus,
					slices.Contains([]string{"Equal", "HasPrefix", "HasSuffix"}, name) && slices.ContainsFunc(n.Args, isAddr):
					wrong(n, name+" looks at the digits of a number")
				}
			case *ast.BinaryExpr:
				if (n.Op == token.EQL || n.Op == token.NEQ) && (isAddrText(n.X) || isAddrText(n.Y)) {
					wrong(n, "the digits of a number are compared")
				}
			case *ast.IndexExpr:
				if isAddrText(n.Index) {
					wrong(n, "the digits of a number are a key")
				}
			}
			return true
		})
	}
	for pkg := range digitsReaders {
		if !reads[pkg] {
			t.Errorf("%s looks at no digits any more: remove its row", pkg)
		}
	}
}

// calledAs returns the name of the function of strings or bytes that is called.
func calledAs(call *ast.CallExpr) string {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if pkg, ok := selector.X.(*ast.Ident); !ok || pkg.Name != "strings" && pkg.Name != "bytes" {
		return ""
	}
	return selector.Sel.Name
}

// isPlus reports whether an argument is what is dialled or written in front of an international number.
func isPlus(e ast.Expr) bool {
	if c, ok := e.(*ast.CallExpr); ok && len(c.Args) == 1 {
		e = c.Args[0]
	}
	if c, ok := e.(*ast.CompositeLit); ok && len(c.Elts) == 1 {
		e = c.Elts[0]
	}
	l, ok := e.(*ast.BasicLit)
	return ok && slices.Contains([]string{`"+"`, "'+'", `"00"`, `"011"`}, l.Value)
}

// isAddr reports whether an expression is the octets of an address.
func isAddr(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Addr"
}

// isAddrText reports whether an expression is these octets as a text.
func isAddrText(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	if !ok || len(c.Args) != 1 {
		return false
	}
	f, ok := c.Fun.(*ast.Ident)
	return ok && f.Name == "string" && isAddr(c.Args[0])
}
