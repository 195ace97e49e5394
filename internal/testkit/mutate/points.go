package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// A Mutant is one small fault that can be switched on.
type Mutant struct {
	File string // base name
	Line int
	What string // "a < b -> a <= b"

	at, end       token.Pos
	before, after string // text to insert before at and after end; %d is the mutant's number
}

// A pkg is a package whose source will be changed.
type pkg struct {
	fset  *token.FileSet
	files []*ast.File
	text  map[string][]byte // source of each file, by its path
	info  *types.Info
	types *types.Package
}

// finder collects the mutants of one file.
type finder struct {
	*pkg
	file *ast.File
	src  []byte
	path []ast.Node // nodes from the file down to the present node
	out  []Mutant
}

func (p *pkg) mutants() (all []Mutant) {
	for _, f := range p.files {
		name := p.fset.Position(f.Package).Filename
		find := &finder{pkg: p, file: f, src: p.text[name]}
		ast.PreorderStack(f, nil, func(n ast.Node, stack []ast.Node) bool {
			find.path = stack
			return find.node(n)
		})
		all = append(all, find.out...)
	}
	return all
}

// choose returns n mutants at random, from different lines as far as possible.
func choose(all []Mutant, n int, seed int64) []Mutant {
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	type line struct {
		file string
		line int
	}
	seen, turn := map[line]int{}, make(map[*Mutant]int, len(all))
	order := make([]*Mutant, len(all))
	for i := range all {
		m := &all[i]
		l := line{m.File, m.Line}
		turn[m] = seen[l]
		seen[l]++
		order[i] = m
	}
	slices.SortStableFunc(order, func(a, b *Mutant) int { return cmp.Compare(turn[a], turn[b]) })
	if n > 0 && n < len(order) {
		order = order[:n]
	}
	chosen := make([]Mutant, len(order))
	for i, m := range order {
		chosen[i] = *m
	}
	slices.SortFunc(chosen, func(a, b Mutant) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.at, b.at), cmp.Compare(a.What, b.What))
	})
	return chosen
}

func (f *finder) source(from, to token.Pos) string {
	file := f.fset.File(from)
	return string(f.src[file.Offset(from):file.Offset(to)])
}

func (f *finder) of(n ast.Node) string { return f.source(n.Pos(), n.End()) }

func (f *finder) add(n ast.Node, what, before, after string) {
	p := f.fset.Position(n.Pos())
	f.out = append(
		f.out,
		Mutant{
			File: filepath.Base(p.Filename), Line: p.Line, What: shorten(what), at: n.Pos(), end: n.End(), before: before,
			after: after,
		},
	)
}

func shorten(s string) string {
	s = string(bytes.Join(bytes.Fields([]byte(s)), []byte(" ")))
	if len(s) > 100 {
		s = s[:97] + "..."
	}
	return s
}

// node adds the mutants of a node, and reports whether to visit its children.
func (f *finder) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return len(f.path) > 1 && n.Tok != token.CONST && n.Tok != token.TYPE // tables at package level are made before main
	case *ast.FuncDecl:
		return n.Body != nil && !(n.Recv == nil && n.Name.Name == "init")
	case ast.Stmt:
		f.statement(n)
	case ast.Expr:
		if v := f.info.Types[n]; v.Value != nil {
			f.constant(n, v)
			return false
		}
		f.expression(n)
	}
	return true
}

// statement adds a mutant that omits a statement.
func (f *finder) statement(n ast.Stmt) {
	switch s := n.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return
		}
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok && f.isIgnored(call) {
			return
		}
	case *ast.IncDecStmt, *ast.SendStmt:
	default:
		return
	}
	switch parent := f.path[len(f.path)-1].(type) {
	case *ast.BlockStmt:
	case *ast.CaseClause:
		if !slices.Contains(parent.Body, n) {
			return
		}
	default:
		return
	}
	f.add(n, "drop: "+f.of(n), "if !mutantOn(%d) { ", " }")
}

// isIgnored reports whether a call only writes to the log, or panics.
func (f *finder) isIgnored(call *ast.CallExpr) bool {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name == "panic"
	case *ast.SelectorExpr:
		return fun.Sel.Name == "Msg" || fun.Sel.Name == "Msgf" || fun.Sel.Name == "Send" && len(call.Args) == 0
	}
	return false
}

func (f *finder) expression(n ast.Expr) {
	switch e := n.(type) {
	case *ast.BinaryExpr:
		f.binary(e)
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			f.add(e, f.of(e)+" -> "+f.of(e.X), "((", ") != mutantOn(%d))")
		}
	case *ast.Ident, *ast.CallExpr, *ast.SelectorExpr:
		f.value(n)
	}
}

// binary adds mutants of a binary operation.
func (f *finder) binary(e *ast.BinaryExpr) {
	x, y := f.of(e.X), f.of(e.Y)
	simple := isSimple(e.X) && isSimple(e.Y)
	same := fmt.Sprintf("(%s) == (%s)", x, y)
	to := func(op string) string { return fmt.Sprintf("%s -> %s %s %s", f.of(e), x, op, y) }
	switch e.Op {
	case token.EQL:
		f.add(e, to("!="), "((", ") != mutantOn(%d))")
	case token.NEQ:
		f.add(e, to("=="), "((", ") != mutantOn(%d))")
	case token.LSS, token.GTR:
		f.add(e, "not: "+f.of(e), "((", ") != mutantOn(%d))")
		if simple {
			f.add(e, to(e.Op.String()+"="), "((", ") || mutantOn(%d) && ("+escape(same)+"))")
		}
	case token.LEQ, token.GEQ:
		f.add(e, "not: "+f.of(e), "((", ") != mutantOn(%d))")
		if simple {
			f.add(e, to(e.Op.String()[:1]), "((", ") && !(mutantOn(%d) && ("+escape(same)+")))")
		}
	case token.LAND:
		f.add(e.X, f.of(e)+" -> "+y, "(mutantOn(%d) || (", "))")
		f.add(e.Y, f.of(e)+" -> "+x, "(mutantOn(%d) || (", "))")
	case token.LOR:
		f.add(e.X, f.of(e)+" -> "+y, "(!mutantOn(%d) && (", "))")
		f.add(e.Y, f.of(e)+" -> "+x, "(!mutantOn(%d) && (", "))")
	}
}

func escape(s string) string { return string(bytes.ReplaceAll([]byte(s), []byte("%"), []byte("%%"))) }

// isSimple reports whether an expression may be evaluated twice.
func isSimple(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			id, is := n.Fun.(*ast.Ident)
			ok = ok && is && (id.Name == "len" || id.Name == "cap")
		case *ast.FuncLit, *ast.UnaryExpr, *ast.TypeAssertExpr:
			ok = false
		}
		return ok
	})
	return ok
}

// value adds mutants that negate a condition, and that drop an error.
func (f *finder) value(e ast.Expr) {
	parent := f.path[len(f.path)-1]
	t := f.info.Types[e].Type
	switch p := parent.(type) {
	case *ast.IfStmt:
		if p.Cond == e && isBool(t) {
			f.add(e, "not: "+f.of(e), "((", ") != mutantOn(%d))")
		}
	case *ast.ForStmt:
		if p.Cond == e && isBool(t) {
			f.add(e, "not: "+f.of(e), "((", ") != mutantOn(%d))")
		}
	case *ast.ReturnStmt:
		if isBool(t) {
			f.add(e, "return not: "+f.of(e), "((", ") != mutantOn(%d))")
		} else if t != nil && types.Identical(t, types.Universe.Lookup("error").Type()) && !f.info.Types[e].IsNil() {
			f.add(e, "return nil for: "+f.of(e), "mutantNil(%d, ", ")")
		}
	}
}

func isBool(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// constant adds mutants that increment a number, and that replace true by false.
func (f *finder) constant(e ast.Expr, v types.TypeAndValue) {
	parent := f.path[len(f.path)-1]
	switch p := parent.(type) {
	case *ast.CaseClause, *ast.ArrayType, *ast.KeyValueExpr, *ast.Field, *ast.ImportSpec, *ast.TypeSpec, *ast.CallExpr:
		if call, ok := p.(*ast.CallExpr); ok && call.Fun != e && f.isPlainCall(call) {
			break
		}
		if kv, ok := p.(*ast.KeyValueExpr); ok && kv.Value == e {
			break
		}
		return
	case *ast.BinaryExpr:
		if p.Op == token.SHL || p.Op == token.SHR {
			return
		}
	case *ast.AssignStmt:
		if p.Tok == token.SHL_ASSIGN || p.Tok == token.SHR_ASSIGN {
			return
		}
	case *ast.CompositeLit:
		if p.Type == e {
			return
		}
	}
	basic, ok := v.Type.Underlying().(*types.Basic)
	if !ok || v.Value == nil {
		return
	}
	name, ok := f.typeName(v.Type)
	switch {
	case !ok:
	case v.Value.Kind() == constant.Bool && basic.Info()&types.IsUntyped == 0:
		f.add(e, f.of(e)+" -> not", "("+name+"(", ") != "+name+"(mutantOn(%d)))")
	case v.Value.Kind() == constant.Int && basic.Info()&types.IsInteger != 0 && basic.Info()&types.IsUntyped == 0:
		if max, exact := constant.Uint64Val(v.Value); exact && max >= 1<<7-1 && types.SizesFor("gc", "amd64").Sizeof(basic) < 4 {
			return // the incremented number might not fit the type
		}
		f.add(e, f.of(e)+" -> +1", "("+name+"(", ")+"+name+"(mutantOne(%d)))")
	}
}

// isPlainCall reports whether a call is neither a conversion, nor a builtin that needs constants or infers types.
func (f *finder) isPlainCall(call *ast.CallExpr) bool {
	v := f.info.Types[call.Fun]
	return !v.IsType() && !v.IsBuiltin()
}

// typeName returns the name of a type in the file.
func (f *finder) typeName(t types.Type) (name string, ok bool) {
	ok = true
	name = types.TypeString(t, func(p *types.Package) string {
		if p == f.types {
			return ""
		}
		for _, spec := range f.file.Imports {
			if spec.Path.Value == `"`+p.Path()+`"` {
				if spec.Name != nil {
					return spec.Name.Name
				}
				return p.Name()
			}
		}
		ok = false
		return p.Name()
	})
	if _, is := t.(*types.TypeParam); is {
		ok = false
	}
	return name, ok
}

// An insertion is text to insert into a file.
type insertion struct {
	at    int
	opens bool
	size  int // length of the text that it encloses
	order int
	text  string
}

// rewritten returns the files with all mutants, by path.
func (p *pkg) rewritten(all []Mutant) map[string][]byte {
	into := map[string][]insertion{}
	for i, m := range all {
		file := p.fset.File(m.at)
		size := int(m.end - m.at)
		before, after := number(m.before, i), number(m.after, i)
		into[file.Name()] = append(into[file.Name()],
			insertion{file.Offset(m.at), true, size, i, before}, insertion{file.Offset(m.end), false, size, i, after})
	}
	out := map[string][]byte{}
	for name, list := range into {
		// At the same position, ends come before beginnings; the smallest text ends first and begins last.
		slices.SortStableFunc(list, func(a, b insertion) int {
			switch {
			case a.at != b.at:
				return cmp.Compare(a.at, b.at)
			case a.opens != b.opens:
				if a.opens {
					return 1
				}
				return -1
			case a.opens:
				return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.order, b.order))
			}
			return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(b.order, a.order))
		})
		var b bytes.Buffer
		last, src := 0, p.text[name]
		for _, in := range list {
			b.Write(src[last:in.at])
			b.WriteString(in.text)
			last = in.at
		}
		b.Write(src[last:])
		out[name] = b.Bytes()
	}
	return out
}

func number(format string, i int) string {
	if bytes.Contains([]byte(format), []byte("%d")) {
		return fmt.Sprintf(format, i)
	}
	return format
}

// runtime returns the file with the functions that the mutants call.
func runtime(name string, n int) []byte {
	return fmt.Appendf(nil, `package %s

import (
	"os"
	"strconv"
	"sync/atomic"
)

var mutant, mutantFile, mutantSeen = mutantStart()

func mutantStart() (int, *os.File, *[%d]atomic.Bool) {
	if name := os.Getenv("PMG_MUTANTS_SEEN"); name != "" {
		f, _ := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		return -1, f, new([%d]atomic.Bool)
	}
	n, err := strconv.Atoi(os.Getenv("PMG_MUTANT"))
	if err != nil {
		n = -1
	}
	return n, nil, nil
}

func mutantOn(n int) bool {
	if mutantFile != nil && !mutantSeen[n].Swap(true) {
		_, _ = mutantFile.WriteString(strconv.Itoa(n) + "\n")
	}
	return n == mutant
}

func mutantOne(n int) int {
	if mutantOn(n) {
		return 1
	}
	return 0
}

func mutantNil(n int, err error) error {
	if mutantOn(n) {
		return nil
	}
	return err
}

var _, _ = mutantOne, mutantNil
`, name, n, n)
}
